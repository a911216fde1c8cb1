"""The two editions of a release's report, and how they are made again without the source.

Everything the editions say is in the release directory: the manifest, and in `private/`
the audit record, the results of attacks and assessments, and the signature.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.data.json_records import dump, dump_line, parse
from sfumato.data.unfinished_files import UNFINISHED
from sfumato.errors import DataError, OutputError, UsageError
from sfumato.io.atomic_files import own_file
from sfumato.io.formats import hash_bytes
from sfumato.pipeline.private_notes import OUTSIDE, PRIVATE
from sfumato.report.html import PrivatePart, render

PUBLIC_REPORT = "report.html"
PRIVATE_REPORT = "private/report.html"
AUDIT = "audit.json"
ATTACKS = "attacks.jsonl"
ASSESSMENT = "assessment.json"
SIGNATURE = "signature.json"
LONGEST = 2_000
"""Characters of an approver's name or note."""


@dataclass(frozen=True, kw_only=True)
class ReportSource:
    """All that both editions are made from."""

    manifest: Mapping[str, Any]
    facts: Mapping[str, Any]
    audit: Mapping[str, Any]
    attacks: Sequence[Mapping[str, Any]] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)
    """Attacks that could not be run, and why."""
    assessment: Mapping[str, Any] = field(default_factory=dict)
    signature: Mapping[str, str] | None = None

    def public(self) -> str:
        """The edition to be published with the data."""
        return render(
            self.manifest,
            self.facts,
            attacks=self.attacks,
            skipped=self.skipped,
            signature=self.signature,
        )

    def private(self) -> str:
        """The edition for the steward and the privacy officer."""
        part = PrivatePart(
            note=PRIVATE,
            outside=OUTSIDE if "privacy" in self.manifest else None,
            audit=self.audit,
            assessment=self.assessment,
        )
        return render(
            self.manifest,
            self.facts,
            private=part,
            attacks=self.attacks,
            skipped=self.skipped,
            signature=self.signature,
        )


def report_again(
    place: Path, *, approver: str | None = None, note: str | None = None
) -> dict[str, Any]:
    """Write both editions again, signed if an approver is given; return what was written.

    A signature stays until another one takes its place.
    """
    signed = _signed(approver, note)
    private = _private_part(place)
    manifest = _proven_manifest(place)
    if signed is not None:
        signed |= {"data_sha256": manifest["data_sha256"]}
        replace_file(private / SIGNATURE, dump(signed) + "\n", mode=0o600)
    source = read_report_source(place, manifest)
    written = {PUBLIC_REPORT: source.public(), PRIVATE_REPORT: source.private()}
    for name, text in written.items():
        replace_file(place / name, text, mode=0o600 if "/" in name else None)
    return {
        "public": str(place / PUBLIC_REPORT),
        "private": str(place / PRIVATE_REPORT),
        "signature": source.signature,
    }


def read_report_source(place: Path, manifest: Mapping[str, Any]) -> ReportSource:
    """Read what the editions of a written release are made from."""
    private = place / "private"
    audit = _record(private / AUDIT)
    facts = audit.get("facts")
    if not isinstance(facts, dict):
        raise _damaged(private / AUDIT)
    signature = _record(private / SIGNATURE) if (private / SIGNATURE).exists() else None
    if signature and signature.get("data_sha256") != manifest["data_sha256"]:
        signature = None
    assessment = private / ASSESSMENT
    attacks, skipped = _latest_attacks(private / ATTACKS)
    return ReportSource(
        manifest=manifest,
        facts=facts,
        audit=audit,
        attacks=attacks,
        skipped=skipped,
        assessment=_record(assessment) if assessment.exists() else {},
        signature=signature,
    )


def keep_assessment(place: Path, record: Mapping[str, Any]) -> Path | None:
    """Keep an assessment in the private part of a release, for its report.

    Figures that an earlier one measured and this one did not are kept as well. A
    published file that is no release of Sfumato keeps nothing.
    """
    private = place / "private"
    if not ((place / "manifest.json").is_file() and private.is_dir()):
        return None
    target = private / ASSESSMENT
    before = _record(target).get("utility", {}) if target.exists() else {}
    merged = {**record, "utility": {**before, **record["utility"]}}
    text = dump(merged).replace("{\n  ", "{ ", 1)
    replace_file(target, text + "\n", mode=0o600)
    return target


def keep_history(place: Path, lowered: Sequence[Mapping[str, Any]]) -> None:
    """Keep in the manifest of a release what its policy asked before it was lowered."""
    manifest = {**_record(place / "manifest.json"), "lowered": list(lowered)}
    replace_file(place / "manifest.json", dump(manifest) + "\n", mode=None)


def replace_file(path: Path, text: str, *, mode: int | None) -> None:
    """Put a text in the place of a file, in one step; `mode` None keeps the file's."""
    aside = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        with UNFINISHED.holding(aside):
            own_file(aside).write_text(text, encoding="utf-8")
            if mode is None:
                mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
            aside.chmod(mode)
            aside.replace(path)
    except OSError as fault:
        raise OutputError(
            f"'{path}' cannot be written: {fault.strerror}.",
            hint="Look at the permissions of the release directory.",
        ) from None
    finally:
        aside.unlink(missing_ok=True)


def _signed(approver: str | None, note: str | None) -> dict[str, str] | None:
    """The signature that a call asks for."""
    if approver is None:
        if note is not None:
            raise UsageError(
                "A note is signed by nobody.", hint="Say who approves: --approver NAME."
            )
        return None
    given = {"approver": approver.strip(), "note": (note or "").strip()}
    for name, text in given.items():
        if len(text) > LONGEST or not text.replace("\n", " ").isprintable():
            raise UsageError(
                f"--{name} has {len(text):,} characters, or some that cannot be printed.",
                hint=f"Give plain text of at most {LONGEST} characters.",
            )
    if not given["approver"]:
        raise UsageError("--approver is empty.", hint="Give a name.")
    return {"private": PRIVATE, **given, "date": date.today().isoformat()}


def _private_part(place: Path) -> Path:
    private = place / "private"
    if not (place / "manifest.json").is_file():
        raise DataError(
            f"'{place}' is not a release directory.",
            hint="Name the directory that 'sfumato anonymize --out' wrote.",
        )
    if not private.is_dir():
        raise DataError(
            f"'{place}' has no private part, from which its report is made.",
            hint="Name the directory that 'sfumato anonymize --out' wrote.",
        )
    return private


def _proven_manifest(place: Path) -> Mapping[str, Any]:
    """The manifest, if the data file is the one that it describes.

    A release into a table of a database has no file.
    """
    manifest = _record(place / "manifest.json")
    if not isinstance(manifest.get("data_sha256"), str):
        raise _damaged(place / "manifest.json")
    for file in sorted(place.glob("data.*")):
        if _hash_of(file) != manifest["data_sha256"]:
            raise DataError(
                f"'{file}' is not the file that its manifest describes: the hashes "
                "differ.",
                hint="Make the release again; a report of another file would be false.",
            )
    return manifest


def _hash_of(file: Path) -> str:
    try:
        return hash_bytes(pa.py_buffer(file.read_bytes()))
    except OSError as fault:
        raise DataError(
            f"'{file}' cannot be read: {fault.strerror}.",
            hint="Look at its permissions.",
        ) from None


def _latest_attacks(
    place: Path,
) -> tuple[tuple[Mapping[str, Any], ...], dict[str, str]]:
    """The last result of each attack, of all runs that were kept; and the attacks that
    could not be run, with the reason."""
    if not place.exists():
        return (), {}
    latest: dict[str, Mapping[str, Any]] = {}
    skipped: dict[str, str] = {}
    for line in place.read_text(encoding="utf-8").splitlines():
        record = _parsed(line, place)
        if "name" in record:
            asked = {
                key: record.get(key) for key in ("name", "column", "known", "options")
            }
            latest[dump_line(asked)] = record
        elif isinstance(reasons := record.get("skipped"), dict):
            skipped |= reasons
    return tuple(latest.values()), skipped


def _record(place: Path) -> dict[str, Any]:
    try:
        text = place.read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise _damaged(place) from None
    return _parsed(text, place)


def _parsed(text: str, place: Path) -> dict[str, Any]:
    try:
        found = parse(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise _damaged(place)
    return found


def _damaged(place: Path) -> DataError:
    return DataError(
        f"'{place}' does not hold what Sfumato writes there.",
        hint="Take it from a backup, or make the release again.",
    )
