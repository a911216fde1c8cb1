"""`check` must prove our releases again, and leak nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from tests.fuzz.cases import Case
from tests.fuzz.commands import said_by
from tests.fuzz.leaks import hidden_texts
from tests.fuzz.release import Release


def unproven_again(release: Release, policy: Path) -> Iterator[str]:
    """What is wrong with a check of a release by its own policy and manifest."""
    words = ["check", str(release.data), "--policy", str(policy), "--json"]
    words += ["--manifest", str(release.place / "manifest.json")]
    if _needs_record(release.case):
        words += ["--groups", str(release.place / "private" / "rows.parquet")]
    code, out, err = said_by(words)
    if any(text in out + err for text in hidden_texts(release)):
        yield "check shows a text that no published cell shows"
    if _shows_nothing(release.case):
        return
    if code == 1:
        broken = [r["model"] for r in json.loads(out)["requirements"] if not r["holds"]]
        yield f"check calls a proven release broken: {', '.join(broken)}"
    elif code:
        reason = json.loads(out)["error"]["message"] if out else err.strip()
        yield f"check of a release ends with {code}: {reason}"


def _needs_record(case: Case) -> bool:
    """Whether the cells alone do not show what is to be proven."""
    required = case.policy["require"]
    source = any(w.get("reference") == "source" or w.get("generate") for w in required)
    swapped = case.policy["publish"].get("operator") == "swap"
    return bool(source or swapped or case.names("subject"))


def _shows_nothing(case: Case) -> bool:
    """Whether all that is required is a property of the process."""
    names = {w["model"] for w in case.policy["require"]}
    return names == {"differential-privacy"}
