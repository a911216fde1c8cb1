"""Cut a case down while it still shows what was found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tests.fuzz.cases import Case
from tests.fuzz.workers import Answer, Worker

TRIES = 80


def shrunken(case: Case, answer: Answer, worker: Worker) -> Case:
    """The smallest case found in a few tries that has one of the same findings."""
    wanted = set(answer.findings)
    if answer.code < 0:
        return case
    tries = TRIES
    progress = True
    while progress and tries:
        progress = False
        for smaller in _smaller(case):
            tries -= 1
            if wanted & set(worker.ask(smaller).findings):
                case, progress = smaller, True
                break
            if not tries:
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    rows = case.rows
    step = rows // 2
    while step:
        for start in range(0, rows, step):
            kept = [r for r in range(rows) if not start <= r < start + step]
            if kept:
                yield case.taking(kept)
        step //= 2
    if len(case.policy["require"]) > 1:
        for place in range(len(case.policy["require"])):
            left = [w for at, w in enumerate(case.policy["require"]) if at != place]
            yield _changed(case, {"require": left})
    for section in ("algorithm", "publish", "data", "report"):
        for key in case.policy.get(section, {}):
            if key not in ("name", "operator", "delimiter"):
                rest = {k: v for k, v in case.policy[section].items() if k != key}
                yield _changed(case, {section: rest})
    for name in case.columns:
        if len(case.columns) > 1:
            yield _without(case, name)


def _changed(case: Case, change: dict[str, Any]) -> Case:
    return replace(case, policy={**case.policy, **change})


def _without(case: Case, name: str) -> Case:
    columns = {n: c for n, c in case.columns.items() if n != name}
    listed = {n: s for n, s in case.policy["columns"].items() if n != name}
    population = case.population
    if population is not None:
        population = {n: c for n, c in population.items() if n != name} or None
    return replace(
        _changed(case, {"columns": listed}), columns=columns, population=population
    )
