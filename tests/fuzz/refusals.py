"""Whether a refusal is right: what is called infeasible is, and what a hint says helps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

from tests.fuzz.cases import Case
from tests.fuzz.claims import holds
from tests.fuzz.proof import Proof, UnknownError
from tests.fuzz.release import Release, Rows
from tests.fuzz.settings import fields

INFEASIBLE = 3
MOST_ROWS = 8
"""Tables of more rows are not tried in full."""
TOO_COARSE = "publish.max_loss"
"""In the reason of a refusal that is about utility."""
CHANGE = re.compile(r"(?:[Rr]aise|[Ll]ower) (\w+) to ([\d.,]*\d)")
ALLOW = re.compile(r"publish\.max_suppressed = ([\d.]*\d)")


@dataclass(frozen=True)
class OneGroup(Release):
    """Some rows of a table as one group that shows nothing but stars."""

    kept: tuple[int, ...] = ()

    @cached_property
    def rows(self) -> Rows:
        stars = dict.fromkeys(self.case.names("quasi"), "*")
        shown = {name: self.source(name) for name in self.case.names("sensitive")}
        return [
            stars | {name: cells[row] for name, cells in shown.items()}
            for row in self.kept
        ]

    @cached_property
    def manifest(self) -> dict[str, Any]:
        return {}

    @cached_property
    def operator(self) -> str:
        return "generalize"

    @cached_property
    def source_row(self) -> list[int]:
        return list(self.kept)

    @cached_property
    def record(self) -> list[dict[str, Any]]:
        return [{"source_row": row, "group": 0} for row in self.kept]


def wrongly_infeasible(case: Case, reason: str) -> Iterator[str]:
    """A refusal of a tiny table although one group of some rows would do."""
    if TOO_COARSE in reason or case.rows > MOST_ROWS or not _summary(case):
        return
    share = case.policy["publish"].get("max_suppressed", 0.0)
    for gone in range(min(case.rows - 1, int(share * case.rows + 1e-9)) + 1):
        for kept in combinations(range(case.rows), case.rows - gone):
            if _meets(case, kept):
                yield f"called infeasible, but one group of {len(kept)} rows will do"
                return


def _summary(case: Case) -> bool:
    """Whether the policy alone says which rows take part and what values are."""
    if case.policy.get("data", {}).get("missing_as") == "drop":
        return False
    kinds = [case.policy["columns"][n].get("kind") for n in case.names("sensitive")]
    ranges = any(w["model"] == "range-disclosure" for w in case.policy["require"])
    return None not in kinds or not ranges


def _meets(case: Case, kept: tuple[int, ...]) -> bool:
    proof = Proof(OneGroup(case, Path(), kept=kept))
    try:
        return all(holds(proof, wanted) for wanted in case.policy["require"])
    except UnknownError:
        return False


def followed(case: Case, reason: str, hint: str) -> Iterator[tuple[str, Case]]:
    """The model that a refusal is about, and the case with each change it proposes."""
    named = [w["model"] for w in case.policy["require"] if w["model"] in reason]
    if len(named) != 1 or TOO_COARSE in reason:
        return
    known = fields("models", named[0])
    for way in hint.split(", or "):
        found = {n: _number(v) for n, v in CHANGE.findall(way) if n in known}
        if found:
            yield named[0], _with_parameters(case, named[0], found)
        allowed = ALLOW.search(way)
        if allowed:
            publish = case.policy["publish"]
            changed = {"publish": {**publish, "max_suppressed": float(allowed[1])}}
            yield named[0], replace(case, policy={**case.policy, **changed})


def _number(text: str) -> float:
    text = text.replace(",", "")
    return float(text) if "." in text else int(text)


def _with_parameters(case: Case, model: str, found: dict[str, float]) -> Case:
    required = [
        {**w, **found} if w["model"] == model else w for w in case.policy["require"]
    ]
    return replace(case, policy={**case.policy, "require": required})
