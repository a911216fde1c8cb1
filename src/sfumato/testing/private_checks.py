"""What every algorithm with a ledger must meet; its noise is never the same twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.algorithms.base import Request, Solution
from sfumato.algorithms.private.private_algorithm import PrivateAlgorithm
from sfumato.data.schema import Kind
from sfumato.data.seeds import Seed
from sfumato.dp.ledger import Ledger
from sfumato.errors import RefusedError
from sfumato.hierarchies.axis import CodedAxis
from sfumato.hierarchies.declared_domain import Declared, declared_axis
from sfumato.models.differential_privacy import DifferentialPrivacy
from sfumato.models.k_anonymity import KAnonymity
from sfumato.testing.conformance_check import Check, must

ROWS = 4_000
TREE = {"tree": {"north": ["a", "b"], "south": ["c", "d"]}}


def private_checks(algorithm: PrivateAlgorithm, variant: str) -> Iterator[Check]:
    """Every check of an algorithm that a ledger certifies, with one set of options."""
    for name, ask in _STATEMENTS.items():
        yield Check(name, partial(ask, algorithm), variant)


def private_request(algorithm: PrivateAlgorithm, **changes: Any) -> Request:
    """A request on declared axes, with a ledger of epsilon 2 and delta 1e-4."""
    drawn = Seed(b"private checks")
    numbers = np.floor(20 + 60 * drawn.child("age").uniform(ROWS) ** 2).astype(int)
    places = _letters(drawn.child("place").uniform(ROWS))
    values = _letters(drawn.child("value").uniform(ROWS) ** 2)
    age = Declared(
        name="age",
        kind=Kind.INTEGER,
        hierarchy={"intervals": [10, 20], "bottom": 20, "top": 80},
    )
    model = DifferentialPrivacy(epsilon=2.0, delta=1e-4)
    request = Request(
        quasi=(_axis(age, numbers.tolist()), _axis(_place("place"), places)),
        models=() if algorithm.every_column else (KAnonymity(k=3),),
        beside=(_axis(_place("value"), values),) if algorithm.every_column else (),
        process=(model,),
        ledger=Ledger(budget=model.cost, relation=algorithm.relation),
        removable=ROWS,
    )
    return replace(request, **changes)


def _place(name: str) -> Declared:
    return Declared(name=name, hierarchy=TREE)


def _axis(declared: Declared, cells: list[Any]) -> CodedAxis:
    return declared_axis(declared, pa.chunked_array([pa.array(cells)]))


def _letters(shares: Any) -> list[str]:
    return ["abcd"[int(4 * share)] for share in shares]


def _ledger(request: Request) -> Ledger:
    assert request.ledger is not None
    return request.ledger


def _stays_within_its_budget(algorithm: PrivateAlgorithm) -> None:
    request = private_request(algorithm)
    algorithm.solve(request)
    ledger = _ledger(request)
    must(ledger.entries, "the ledger has no entry")
    must(ledger.spent.within(ledger.budget), "the budget is overdrawn")
    must(ledger.spent.epsilon > 0.4 * ledger.budget.epsilon, "the budget lies idle")


def _meets_the_requirements(algorithm: PrivateAlgorithm) -> None:
    request = private_request(algorithm)
    solution = algorithm.solve(request)
    groups = request.groups(solution.grouping)
    for model in request.models:
        must(model.verify(groups).holds, f"the groups do not meet {model}")
    must(_published(solution), "nothing is published")


def _published(solution: Solution) -> int:
    if solution.synthetic is not None:
        return len(solution.synthetic[0].codes)
    return int(solution.grouping.kept.sum())


def _needs_a_ledger(algorithm: PrivateAlgorithm) -> None:
    _must_refuse(algorithm, private_request(algorithm, ledger=None), "budget")


def _refuses_fitted_axes(algorithm: PrivateAlgorithm) -> None:
    request = private_request(algorithm)
    first = request.quasi[0]
    fitted = CodedAxis(replace(first.axis, fitted=True), first.codes)
    changed = replace(request, quasi=(fitted, *request.quasi[1:]))
    _must_refuse(algorithm, changed, "shaped by the data")


def _must_refuse(algorithm: PrivateAlgorithm, request: Request, text: str) -> None:
    try:
        algorithm.solve(request)
    except RefusedError as error:
        must(text in error.message, f"the error does not say '{text}'")
        must(error.hint, "the error has no hint")
    else:
        raise AssertionError("the request was served")


def _never_the_same_twice(algorithm: PrivateAlgorithm) -> None:
    """One seed, two runs: equal by chance less than once in 2**100."""
    first, second = (algorithm.solve(private_request(algorithm)) for _ in range(2))
    must(_trace(first) != _trace(second), "a seed replays the noise")


def _trace(solution: Solution) -> bytes:
    if solution.synthetic is not None:
        return b"".join(coded.codes.tobytes() for coded in solution.synthetic)
    return solution.grouping.kept.tobytes()


def _leaves_input_alone(algorithm: PrivateAlgorithm) -> None:
    request = private_request(algorithm)
    before = [coded.codes.copy() for coded in (*request.quasi, *request.beside)]
    algorithm.solve(request)
    after = [coded.codes for coded in (*request.quasi, *request.beside)]
    same = all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))
    must(same, "an input array was changed")


def _reports_progress(algorithm: PrivateAlgorithm) -> None:
    calls: list[tuple[str, float]] = []
    watch = {"progress": lambda step, share: calls.append((step, share))}
    algorithm.solve(private_request(algorithm, **watch))
    must(calls, "progress was never reported")
    good = all(step and 0.0 <= share <= 1.0 for step, share in calls)
    must(good, "a step has no name, or a share outside 0 … 1")


def _counts_subjects(algorithm: PrivateAlgorithm) -> None:
    """Where subjects have three rows each, the ledger counts subjects."""
    subject = (np.arange(ROWS) // 3).astype(np.int32)
    request = private_request(algorithm, subject=subject)
    solution = algorithm.solve(request)
    entry = _ledger(request).entries[-1]
    must("subject" in entry.rows, "the ledger does not count subjects")
    if solution.synthetic is None:
        most = int(np.bincount(subject[solution.grouping.kept]).max())
        must(most <= algorithm.rows_per_subject, f"a subject has {most} published rows")


_STATEMENTS: Mapping[str, Callable[[PrivateAlgorithm], None]] = MappingProxyType(
    {
        "every use is entered, within the budget": _stays_within_its_budget,
        "meets every requirement": _meets_the_requirements,
        "a request without a ledger is refused": _needs_a_ledger,
        "a hierarchy that the data shapes is refused": _refuses_fitted_axes,
        "no seed replays the noise": _never_the_same_twice,
        "the input is left as it was": _leaves_input_alone,
        "progress is a named share": _reports_progress,
        "a subject has no more rows than it may": _counts_subjects,
    }
)
