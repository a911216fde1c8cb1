"""How a release was made, how to repeat or check it, and who approved it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sfumato.report.bar_cells import BarRow
from sfumato.report.facts import Facts
from sfumato.report.number_text import amount, setting

UNSIGNED = "Not yet approved. Sign here on paper, or with sfumato report --approver."
SIGNED = "The approval is for the file with this hash, and for no other."
NOT_REPEATED = (
    "The noise of a differentially private release is drawn anew each time and charged "
    "to the ledger again; this run cannot be repeated."
)


def making_rows(
    facts: Facts, audit: Mapping[str, Any] | None = None
) -> Iterator[BarRow]:
    """Algorithm, operator, hashes, versions and times; with an audit, what is private."""
    yield from lowered_rows(facts["lowered"])
    yield from _thing_rows("algorithm", facts["algorithm"])
    yield from _thing_rows("operator", facts["operator"])
    if audit is not None:
        name = str(facts["algorithm"].get("name", "algorithm"))
        for key, value in audit.get("report", {}).get("algorithm", {}).items():
            yield f"{name}: {_spaced(key)}", setting(value)
        for key, value in audit.get("source", {}).items():
            yield f"source: {_spaced(key)}", setting(value)
        if audit.get("source_sha256"):
            yield "SHA-256 of source", str(audit["source_sha256"])
    yield from hash_rows(facts["hashes"])
    yield "Sfumato", facts["sfumato"]
    yield from facts["versions"].items()
    for key, seconds in facts["seconds"].items():
        yield f"seconds to {key}", amount(seconds)


def lowered_rows(lowered: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """What the policy asked before somebody lowered it, and why."""
    for each in lowered:
        yield (
            f"{each['name']} ({each['setting']})",
            f"asked: {_value(each['asked'])}; lowered to {_value(each['instead'])} by "
            f"{each['by']} on {each['date']} because {each['because']}",
        )


def _value(value: object) -> str:
    return "nothing" if value is None else setting(value)


def hash_rows(hashes: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The hashes of published files, with names for people."""
    for key, value in hashes.items():
        name = key.removesuffix("_sha256").replace("_", " ")
        yield f"SHA-256 of {name}", value


def _thing_rows(title: str, thing: Mapping[str, Any]) -> Iterator[BarRow]:
    """List an algorithm or operator, with its options below its name."""
    name = str(thing.get("name", "–"))
    yield title, name
    for key, value in thing.items():
        if key != "name":
            yield f"{name}: {_spaced(key)}", setting(value)


def _spaced(key: str) -> str:
    return key.replace("_", " ")


def commands(facts: Facts, audit: Mapping[str, Any] | None) -> list[dict[str, str]]:
    """How to check the release, or, with its audit, how to make it again."""
    return list(_checks(facts) if audit is None else _repeats(facts, audit))


def _checks(facts: Facts) -> Iterator[dict[str, str]]:
    file = facts["file"]["name"]
    yield {
        "before": "The file is the one that was proven if this prints the hash of data:",
        "command": f"sha256sum {shlex.quote(file)}",
    }
    yield {
        "before": "Every requirement that the manifest names and cells can show is "
        "proven again from the file (add the policy where this asks for it):",
        "command": f"sfumato check {shlex.quote(file)} --manifest manifest.json",
    }


def _repeats(facts: Facts, audit: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    if facts["privacy"]:
        yield {"before": NOT_REPEATED, "command": "sfumato anonymize policy.toml"}
        return
    source = shlex.quote(str(audit.get("source_file", "SOURCE")))
    yield {
        "before": "With the policy and the source of these hashes, this makes the same "
        "data file:",
        "command": f"sfumato anonymize policy.toml --data {source} "
        f"--seed {audit.get('seed')} --out again",
    }


def signature_block(
    facts: Facts, signature: Mapping[str, str] | None
) -> dict[str, str]:
    """Who approved the release, when, and with which note; blank lines if nobody did."""
    signed = signature or {}
    return {
        "words": SIGNED if signed else UNSIGNED,
        "approver": signed.get("approver", ""),
        "date": signed.get("date", ""),
        "note": signed.get("note", ""),
        "hash": facts["hashes"].get("data_sha256", ""),
    }
