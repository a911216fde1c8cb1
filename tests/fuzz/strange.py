"""Random tables as other tools might write them, for `check` to judge.

Such a table was made by no algorithm: it has several marks of a missing value, bounds
that nobody put in order, and groups of any size. `check` has to say of it exactly what
the oracle says, be it good or bad.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

from sfumato.publish.base import Form
from tests.fuzz.cases import Case, Column
from tests.fuzz.claims import holds
from tests.fuzz.commands import said_by
from tests.fuzz.draw import draw_models, draw_population, draw_table
from tests.fuzz.leaks import said
from tests.fuzz.meaning import NUMERIC, Reader
from tests.fuzz.proof import Proof, UnknownError
from tests.fuzz.release import Release, Rows
from tests.fuzz.requirements import draw_requirement

PREFIX = "check-"
"""Begins the names of cases that are drawn here."""
DOOR = "command check"
SAID = (0, 1)
"""The exit codes of a check that reached a verdict."""
MEANINGS = ("value", "any")
PROCESS = ("differential-privacy",)
"""Models that no table can show."""
ONE_WAY = frozenset({"n-t-closeness", "k-map", "delta-presence"})
"""Models of which the oracle knows `missing_as = "any"` only in part: a requirement that
holds has to hold for it, but not the other way round."""


def draw_strange(name: str) -> Case:
    """A table and what is claimed of it, drawn by a name."""
    random = Random(name)
    case = draw_table(name, random, door=DOOR)
    case = _with_groups(random, case)
    if random.random() < 0.25:
        case = replace(case, population=draw_population(random, case))
    case.policy["data"]["missing_as"] = random.choice(MEANINGS)
    case.policy["publish"] = {"operator": "generalize"}
    case.policy["unlisted"] = "keep"
    wanted = [w for w in draw_models(random, case, Form.CELLS) if w not in PROCESS]
    wanted = wanted or ["k-anonymity"]
    case.policy["require"] = [draw_requirement(random, case, model) for model in wanted]
    return case if case.population is not None else _with_bounds(random, case)


def _with_groups(random: Random, case: Case) -> Case:
    """Most rows have the quasi-identifiers of one of a few rows."""
    leaders = [random.randrange(case.rows) for _ in range(random.choice([1, 2, 3, 4]))]
    stray = random.choice([0.0, 0.0, 0.1, 0.5])
    own = [
        row if random.random() < stray else random.choice(leaders)
        for row in range(case.rows)
    ]
    changed = {
        name: replace(column, cells=tuple(column.cells[row] for row in own))
        for name, column in case.columns.items()
        if name in case.names("quasi")
    }
    return replace(case, columns=case.columns | changed)


def _with_bounds(random: Random, case: Case) -> Case:
    """Some numbers as two columns of bounds, each with cells of its own."""
    columns: dict[str, Column] = {}
    for name, column in case.columns.items():
        bound = name in case.names("quasi") and column.kind in NUMERIC
        if not bound or random.random() < 0.5:
            columns[name] = column
            continue
        case.policy["columns"][name].pop("hierarchy", None)
        second = list(column.cells)
        if random.random() < 0.5:
            second = [random.choice(column.cells) for _ in column.cells]
        columns[f"{name}_from"] = replace(column, paths=None)
        columns[f"{name}_to"] = replace(column, cells=tuple(second), paths=None)
    return replace(case, columns=columns)


@dataclass(frozen=True)
class Strange(Release):
    """A table of somebody else's, as the oracle reads a release."""

    kinds: dict[str, Any] = field(default_factory=dict)
    """The kinds that `check` said it took."""

    @cached_property
    def rows(self) -> Rows:
        texts = {
            name: column.texts(self.case.is_csv)
            for name, column in self.case.columns.items()
        }
        if self.case.is_csv:
            texts = {n: [t or "" for t in cells] for n, cells in texts.items()}
        return [
            dict(zip(texts, row, strict=True))
            for row in zip(*texts.values(), strict=True)
        ]

    @cached_property
    def manifest(self) -> dict[str, Any]:
        return {"kinds": self.kinds}

    @cached_property
    def record(self) -> list[dict[str, Any]]:
        rows = range(self.case.rows)
        return [{"source_row": r, "published_row": r, "group": 0} for r in rows]

    def reader(self, name: str) -> Reader:
        if name in self.case.columns:
            return super().reader(name)
        return replace(super().reader(f"{name}_from"), paths=None)


def judge_strange(case: Case, place: Path) -> tuple[int, str, list[str], list[str]]:
    """The exit code, the reason of a refusal, what is wrong, what is not known."""
    policy = case.write(place)
    words = ["check", str(place / f"source.{case.format}"), "--policy", str(policy)]
    code, out, err = said_by([*words, "--json"])
    found = list(said(case, {"stdout": out, "stderr": err}))
    if code not in SAID:
        reason = json.loads(out)["error"]["message"] if out else err
        return code, reason, found, []
    told = json.loads(out)
    proof = Proof(Strange(case, place, kinds=told["kinds"]))
    unproven: list[str] = []
    found += _wrong_figures(proof, told)
    for wanted, verdict in zip(
        case.policy["require"], told["requirements"], strict=True
    ):
        found += _wrong_verdict(proof, wanted, verdict, unproven)
    return 0, "", found, unproven


def _wrong_figures(proof: Proof, told: dict[str, Any]) -> Iterator[str]:
    if told["rows"] != len(proof.release.rows):
        yield "check counts other rows than the file has"
    if told["groups"] != len(proof.groups):
        yield "check counts other groups than the file has"
    if told["holds"] != all(each["holds"] for each in told["requirements"]):
        yield "check does not say what its verdicts say"


def _wrong_verdict(
    proof: Proof, wanted: dict[str, Any], verdict: dict[str, Any], unproven: list[str]
) -> Iterator[str]:
    name = wanted["model"]
    try:
        true = holds(proof, wanted)
    except UnknownError as reason:
        unproven.append(f"check of {name}: {reason}")
        return
    if verdict["holds"] and not true:
        yield f"false claim: check says that {name} holds"
    if true and not verdict["holds"] and not (proof.missing_any and name in ONE_WAY):
        yield f"check says that {name} does not hold, but it does"
    readings = verdict.get("missing_as", {})
    if verdict["holds"] and not all(each["holds"] for each in readings.values()):
        yield f"check says that {name} holds, but not for each meaning"
