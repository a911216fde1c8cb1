"""Run one case through the public API and judge the result."""

from __future__ import annotations

import shutil
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sfumato as sf
from sfumato.data.seeds import Seed
from sfumato.errors import SfumatoError
from tests.fuzz import leaks
from tests.fuzz.cases import Case
from tests.fuzz.claims import holds
from tests.fuzz.commands import said_by
from tests.fuzz.proof import Proof, UnknownError
from tests.fuzz.recheck import unproven_again
from tests.fuzz.refusals import INFEASIBLE, followed, wrongly_infeasible
from tests.fuzz.release import Release
from tests.fuzz.strange import DOOR, judge_strange
from tests.fuzz.truth import untrue

RELEASED = 0
EXPECTED = frozenset({0, 2, 3, 4, 5})
"""The exit codes that a case may end with: 70 is a fault of ours."""


@dataclass
class Ending:
    """How a case ended, and what is wrong with it."""

    code: int
    reason: str = ""
    """Why it was refused, as the error says it."""
    findings: list[str] = field(default_factory=list)
    unproven: list[str] = field(default_factory=list)
    """Requirements for which the oracle has no definition."""
    hint: str = ""
    """What the refusal says would help."""
    printed: str = ""
    """What a command that made a release wrote to stdout."""


def judge(case: Case) -> Ending:
    """Run a case in a directory of its own, and look at everything it left."""
    place = Path(tempfile.mkdtemp(prefix="sfumato-fuzz-"))
    try:
        with warnings.catch_warnings():
            # What NumPy warns of is a fault of ours, and would be seen by users.
            warnings.simplefilter("error", RuntimeWarning)
            return _checked(case, place) if case.door == DOOR else _judged(case, place)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _checked(case: Case, place: Path) -> Ending:
    ending = Ending(*judge_strange(case, place))
    if ending.code not in EXPECTED:
        ending.findings.append(f"ends with {ending.code}: {ending.reason}")
    return ending


def _run(case: Case, policy: Path) -> Ending:
    if case.door.startswith("command"):
        return _command(case, policy)
    return _frame(case, policy)


def _judged(case: Case, place: Path) -> Ending:
    policy = case.write(place)
    ending = _run(case, policy)
    if ending.code not in EXPECTED:
        ending.findings.append(f"ends with {ending.code}: {ending.reason}")
    out = place / "release"
    if ending.code != RELEASED:
        left = [p.name for p in place.iterdir() if "release" in p.name]
        if left:
            ending.findings.append("a failed run left something behind")
        if ending.code == INFEASIBLE:
            ending.findings += _wrong_refusal(case, ending)
        return ending
    release = Release(case, out)
    ending.findings += untrue(release)
    ending.findings += leaks.published(release)
    ending.findings += _false_claims(release, ending)
    ending.findings += unproven_again(release, policy)
    if any(text in ending.printed for text in leaks.hidden_texts(release)):
        ending.findings.append("stdout shows a text that no published cell shows")
    return ending


def _wrong_refusal(case: Case, ending: Ending) -> Iterator[str]:
    yield from wrongly_infeasible(case, ending.reason)
    for model, changed in followed(case, ending.reason, ending.hint):
        with tempfile.TemporaryDirectory(prefix="sfumato-fuzz-") as place:
            again = _run(changed, changed.write(Path(place)))
        others = {w["model"] for w in case.policy["require"]} - {model}
        blamed = model in again.reason and not any(o in again.reason for o in others)
        if again.code == INFEASIBLE and blamed:
            yield f"a hint was followed, and {model} is still infeasible"


def _private(case: Case) -> bool:
    return any(w["model"] == "differential-privacy" for w in case.policy["require"])


def _command(case: Case, policy: Path) -> Ending:
    words = ["anonymize", str(policy), "--out", str(policy.parent / "release")]
    if not _private(case):
        words += ["--insecure-seed", "1"]
    if "--json" in case.door:
        words.append("--json")
    code, out, err = said_by(words)
    told = out if "--json" in case.door and code else err
    ending = Ending(code, _first_line(told, json="--json" in case.door))
    ending.hint = _line_with(told, '"hint"' if "--json" in case.door else "Hint:")
    said = {"stdout": out, "stderr": err}
    if code == RELEASED:
        # A report may count values that the release shows.
        ending.printed = said.pop("stdout")
    ending.findings += leaks.said(case, said)
    return ending


def _first_line(text: str, *, json: bool) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    found = _line_with(text, '"message"' if json else "Error:")
    return found or (lines[-1] if lines else "")


def _line_with(text: str, wanted: str) -> str:
    lines = text.splitlines()
    return next((line.strip() for line in lines if wanted in line), "")


def _frame(case: Case, policy: Path) -> Ending:
    seed = None if _private(case) else Seed.guessable(1)
    try:
        release = sf.anonymize(
            _source(case), sf.Policy.load(policy), seed=seed, base=policy.parent
        )
        found = list(leaks.handed_out(release, case))
        release.save(policy.parent / "release")
    except SfumatoError as fault:
        text = "".join(traceback.format_exception(fault))
        ending = Ending(fault.exit_code, fault.message, hint=fault.hint or "")
        ending.findings += leaks.said(
            case, {"a traceback": text, "an error": str(fault)}
        )
        return ending
    except Exception as fault:
        where = traceback.extract_tb(fault.__traceback__)[-1]
        reason = f"{type(fault).__name__} in {Path(where.filename).name}:{where.lineno}"
        return Ending(70, reason)
    return Ending(RELEASED, findings=found)


def _source(case: Case) -> Any:
    table = case.table()
    if case.door == "pandas":
        return table.to_pandas()
    if case.door == "polars":
        import polars as pl

        return pl.from_arrow(table)
    return table


def _false_claims(release: Release, ending: Ending) -> Iterator[str]:
    proof = Proof(release)
    for wanted in release.case.policy["require"]:
        if wanted["model"] == "differential-privacy":
            continue
        try:
            if not holds(proof, wanted):
                yield f"false claim: {wanted['model']} does not hold"
        except UnknownError as reason:
            ending.unproven.append(f"{wanted['model']}: {reason}")
    share = release.case.policy["publish"].get("max_suppressed", 0.0)
    lost = release.case.rows - len(release.rows)
    dropped = release.case.policy.get("data", {}).get("missing_as") == "drop"
    if (
        not _private(release.case)
        and not dropped
        and lost > share * release.case.rows + 1e-6
    ):
        yield "more rows are left out than may be"
