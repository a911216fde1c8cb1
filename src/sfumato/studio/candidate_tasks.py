"""The heavy work of the last three steps; each runs in a process of its own."""

from __future__ import annotations

import os
import shutil
import threading
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato import api
from sfumato.algorithms.base import Progress
from sfumato.errors import GuaranteeError, PersonWarning
from sfumato.io.atomic_files import own_directory, own_file
from sfumato.models.common.judged_columns import NOTHING_JUDGED
from sfumato.pipeline.kept_attacks import keep_attacks
from sfumato.pipeline.manifest import REPEATS
from sfumato.pipeline.named_source import named_source
from sfumato.pipeline.release_files import ReleaseFiles
from sfumato.pipeline.reports import keep_history, report_again
from sfumato.pipeline.unique_values import warnings as giveaway_warnings
from sfumato.pipeline.write_release import write_directory
from sfumato.policy import Policy
from sfumato.report.exact_column_words import unique_sentence
from sfumato.studio.project_folder import CANDIDATES, RELEASE


def compare(
    progress: Progress,
    stop: threading.Event,
    *,
    root: str,
    policy: str,
    seed: str,
    spend: bool,
    allow_weaker: bool,
) -> dict[str, Any]:
    """Compare the candidates of the policy; what was asked to stop keeps the finished."""
    place = Path(root)
    asked = Policy.parse(policy, source="The policy", base=place)
    process = bool(asked.process_models())
    found = api.compare(
        named_source(asked, place),
        asked,
        seed=None if process else seed,
        spend=spend,
        allow_weaker=allow_weaker,
        # One core stays free for the pages.
        workers=max(1, (os.cpu_count() or 2) - 1),
        progress=progress,
        stop=stop,
        base=place,
    )
    shutil.rmtree(place / CANDIDATES, ignore_errors=True)
    if process:
        for each in found.candidates:
            if each.finished:
                # Made and paid for: making it again would cost again.
                found.made(each.number).save(_place(place, each.number))
    record = found.record()
    more: dict[str, Any] = {"policy": policy, "seed": None if process else seed}
    more["allow_weaker"] = allow_weaker
    if not found.accepted:
        refusal = found.nothing_accepted()
        more["refusal"] = {"message": refusal.message, "hint": refusal.hint}
    return {**record, **more}


def make_candidate(
    progress: Progress,
    _stop: threading.Event,
    *,
    root: str,
    policy: str,
    seed: str | None,
    number: int,
) -> dict[str, Any]:
    """Make the release of a candidate, from the seed of its comparison."""
    place = Path(root)
    asked = Policy.parse(policy, source="The policy", base=place)
    target = _place(place, number)
    with warnings.catch_warnings():
        # The page of the release says it.
        warnings.simplefilter("ignore", PersonWarning)
        made = api.anonymize(
            named_source(asked, place), asked, seed=seed, progress=progress, base=place
        )
    progress("write", 0.95)
    manifest = made.save(target, force=target.exists())
    return {"number": number, "data_sha256": manifest["data_sha256"]}


def attack(
    progress: Progress,
    stop: threading.Event,
    *,
    root: str,
    policy: str,
    number: int,
    known: list[str],
    sample: int,
    names: list[str],
) -> dict[str, Any]:
    """Attack a candidate that was made; without names, in every way.

    What was asked to stop keeps the attacks that are finished.
    """
    place = Path(root)
    asked = Policy.parse(policy, source="The policy", base=place)
    target = _place(place, number)
    found = api.attack(
        target,
        named_source(asked, place),
        names or "all",
        asked,
        known=known,
        sample=sample,
        progress=progress,
        stop=stop,
        base=place,
    )
    if found.results:
        keep_attacks(found, target)
    return {**found.record(), "number": number, "known": known}


def look_up(
    progress: Progress,
    _stop: threading.Event,
    *,
    root: str,
    policy: str,
    number: int,
    person: Mapping[str, str],
) -> dict[str, Any]:
    """Look one person up in a candidate that was made."""
    place = Path(root)
    asked = Policy.parse(policy, source="The policy", base=place)
    progress("looking", 0.5)
    record = pa.table({name: [text] for name, text in person.items()})
    target = _place(place, number)
    swapped = (
        ReleaseFiles.of(target).record if asked.publish.operator == "swap" else None
    )
    found = api.look_up(target, record, asked, groups=swapped, base=place)
    return found.record()


def release(
    progress: Progress,
    _stop: threading.Event,
    *,
    root: str,
    policy: str,
    number: int,
    approver: str,
    note: str,
    lowered: list[dict[str, Any]],
) -> dict[str, Any]:
    """Put a candidate in the place of the release: proven again, and signed."""
    place = Path(root)
    asked = Policy.parse(policy, source="The policy", base=place)
    target, verdicts = place / RELEASE, []

    def fill(aside: Path) -> Mapping[str, Any]:
        progress("copy", 0.1)
        _copy(_place(place, number), aside)
        if lowered:
            keep_history(aside, lowered)
        progress("prove the written file", 0.4)
        files = ReleaseFiles.of(aside)
        verdicts.extend(_proven(files, asked, place))
        return files.manifest

    manifest = write_directory(target, fill, force=target.exists())
    progress("report", 0.9)
    signed = report_again(target, approver=approver, note=note or None)
    return {
        "number": number,
        "data_sha256": manifest["data_sha256"],
        "rows": manifest["rows_out"],
        "groups": manifest["groups"],
        "unit": manifest["unit"],
        "repeats": REPEATS in manifest["known_limits"],
        "verdicts": verdicts or list(manifest["requirements"]),
        "proven": bool(verdicts),
        "exact": unique_sentence(manifest["risk"]),
        "warnings": giveaway_warnings(manifest["risk"]),
        "unjudged": NOTHING_JUDGED if manifest.get("judged") == [] else None,
        "signature": signed["signature"],
        "lowered": lowered,
    }


def _proven(files: ReleaseFiles, policy: Policy, base: Path) -> list[dict[str, Any]]:
    """Every requirement, measured on the written file; empty under a process model."""
    if not policy.models():
        return []
    swapped = policy.operator_instance().form.name == "SWAPPED"
    found = api.check(
        files.data,
        policy,
        manifest=files.data.parent / "manifest.json",
        groups=files.record if swapped else None,
        base=base,
    )
    if not found.holds or found.withheld:
        raise GuaranteeError(
            "The written file does not keep what the policy requires; nothing is "
            "released.",
            hint="Make the candidate again.",
        )
    return found.verdicts


def _copy(source: Path, target: Path) -> None:
    """Copy a release directory with its private part."""
    for each in sorted(source.iterdir()):
        if each.is_dir() and each.name == "private":
            own_directory(target / each.name)
            for file in sorted(each.iterdir()):
                if file.is_file():
                    shutil.copyfile(file, own_file(target / each.name / file.name))
        elif each.is_file():
            shutil.copyfile(each, own_file(target / each.name))


def _place(root: Path, number: int) -> Path:
    inside = root / CANDIDATES
    inside.mkdir(mode=0o700, exist_ok=True)
    return inside / str(number)
