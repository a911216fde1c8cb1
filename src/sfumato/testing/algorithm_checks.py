"""What every algorithm must meet."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from functools import partial
from types import MappingProxyType
from typing import Any, get_type_hints

import numpy as np
import numpy.typing as npt
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import registry
from sfumato.algorithms.base import Algorithm, Request, Solution
from sfumato.algorithms.cellwise.cellwise_algorithm import CellwiseAlgorithm
from sfumato.algorithms.common.refusals import one_group_decides
from sfumato.algorithms.private.private_algorithm import PrivateAlgorithm
from sfumato.data.grouping import Grouping
from sfumato.data.schema import Role
from sfumato.errors import InfeasibleError, RefusedError, SearchError, SfumatoError
from sfumato.models.base import OutputModel, Scope, SensitiveModel
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.l_diversity import LDiversity
from sfumato.testing.awkward_tables import (
    Awkward,
    awkward_table,
    awkward_tables,
    request_for,
)
from sfumato.testing.cell_reference import distinct_l_of, k_of
from sfumato.testing.cellwise_checks import cellwise_checks
from sfumato.testing.conformance_check import (
    CALM,
    Check,
    must,
    must_be_named,
    must_try_every_option,
    nonsense,
    variants,
)
from sfumato.testing.ending_checks import SMALL_BUDGETS, ending_checks
from sfumato.testing.model_definitions import holds_by_definition, is_defined
from sfumato.testing.private_checks import private_checks
from sfumato.testing.strategies import instances, tables

Options = Mapping[str, Any]


def check_algorithm(
    algorithm_class: type[Algorithm], *, options: Mapping[str, Options] | None = None
) -> list[Check]:
    """Every check of an algorithm.

    `options` has the sets of options to check, by name. Without it they are the
    defaults, every choice of every option that is a flag, an enumeration or a Literal,
    and the `examples` of the class.
    """
    named = variants(algorithm_class) if options is None else options
    checks = list(_about_the_class(algorithm_class, named))
    for name, chosen in named.items():
        checks += _about_solving(algorithm_class(**chosen), name)
    if issubclass(algorithm_class, CellwiseAlgorithm):
        checks += cellwise_checks(algorithm_class)
    if not issubclass(algorithm_class, PrivateAlgorithm):
        checks += _about_serving(algorithm_class())
    return checks


def _about_the_class(
    algorithm_class: type[Algorithm], named: Mapping[str, Options]
) -> Iterator[Check]:
    yield Check(
        "has a name and a sentence",
        partial(must_be_named, algorithm_class, algorithm_class.sentence),
    )
    yield Check("options are validated when made", partial(_validates, algorithm_class))
    shared = {option.name for option in fields(Algorithm)}
    yield Check(
        "every option is tried",
        partial(
            must_try_every_option,
            algorithm_class,
            named,
            elsewhere={*shared, *SMALL_BUDGETS, "partition_rows"},
        ),
    )


def _about_solving(algorithm: Algorithm, variant: str) -> Iterator[Check]:
    if isinstance(algorithm, PrivateAlgorithm):
        yield from private_checks(algorithm, variant)
        return
    for table in awkward_tables():
        run = partial(_solves, algorithm, table)
        yield Check(
            "meets every requirement or says why not", run, f"{variant} {table}"
        )
    yield from ending_checks(algorithm, variant)
    for name, ask in _STATEMENTS.items():
        yield Check(name, partial(ask, algorithm), variant)


# What the class must look like.


def _validates(algorithm_class: type[Algorithm]) -> None:
    hints = get_type_hints(algorithm_class)
    for option in fields(algorithm_class):
        for value in nonsense(option, hints[option.name]):
            _must_refuse(algorithm_class, option.name, value)


def _must_refuse(algorithm_class: type[Algorithm], option: str, value: Any) -> None:
    try:
        algorithm_class(**{option: value})
    except SfumatoError as error:
        must(option in error.message, f"the error does not name '{option}'")
        must(error.hint, f"the error about '{option}' has no hint")
    else:
        raise AssertionError(f"'{option}' accepts {value!r}")


# What a solution must be.


def requirement_sets(table: Awkward) -> list[tuple[OutputModel, ...]]:
    """What is asked of an awkward table."""
    asked: list[tuple[OutputModel, ...]] = [(KAnonymity(k=2),), (KAnonymity(k=7),)]
    if table.names(Role.SENSITIVE):
        asked.append((KAnonymity(k=3), LDiversity(l=2)))
    return asked


def _solves(algorithm: Algorithm, table: Awkward) -> None:
    for models in requirement_sets(table):
        for removable in (0, table.rows // 10):
            request = request_for(table, models, removable=removable)
            if request.subject is not None and not algorithm.counts_persons:
                must(not _accepts(algorithm, request), "a subject column was accepted")
            elif _one_group_does(request):
                check_solution(request, algorithm.solve(request))
            elif removable == 0:
                _must_be_infeasible(algorithm, request)


def _one_group_does(request: Request) -> bool:
    """Whether the whole table, as one group, meets k and distinct l."""
    rows = [()] * request.rows
    persons = k_of(rows, _persons(request))
    values = [distinct_l_of(rows, s.codes) for s in request.sensitive.values()]
    limits = {"k-anonymity": persons, "l-diversity": min(values, default=0)}
    return all(_asked(model) <= limits[model.name] for model in request.models)


def _persons(request: Request) -> list[int] | None:
    return None if request.subject is None else request.subject.tolist()


def _asked(model: OutputModel) -> float:
    return float(model.parameters()["k" if isinstance(model, KAnonymity) else "l"])


def check_solution(request: Request, solution: Solution) -> None:
    """Fail unless a solution is complete, well numbered and meets every model."""
    grouping = solution.grouping
    _is_well_formed(request, grouping)
    groups = request.groups(grouping)
    # Matches in a population depend on published cells, not on a grouping.
    for model in (m for m in request.models if m.scope is not Scope.POPULATION):
        must(model.verify(groups).holds, f"the groups do not meet {model}")
        if is_defined(model):
            defined = holds_by_definition(model, request, grouping)
            must(defined, f"the groups do not meet {model}, by definition")
    if grouping.levels is not None:
        _levels_fit(request, grouping)


def _is_well_formed(request: Request, grouping: Grouping) -> None:
    must(len(grouping.group_of) == request.rows, "a row has no group")
    must(grouping.group_of.dtype == np.int32, "groups are not int32")
    suppressed = int((~grouping.kept).sum())
    must(suppressed <= request.removable, f"{suppressed} rows were left out")
    found = set(grouping.group_of[grouping.kept].tolist())
    must(found == set(range(grouping.count)), "groups are not numbered 0 … count − 1")
    must(grouping.count > 0, "no row is published")


def _levels_fit(request: Request, grouping: Grouping) -> None:
    """All rows of a group share the node at the level that the group declares."""
    levels = grouping.levels
    assert levels is not None
    must(
        levels.shape == (grouping.count, len(request.quasi)),
        "levels have a wrong shape",
    )
    kept = np.flatnonzero(grouping.kept)
    owner = grouping.group_of[kept]
    for index, coded in enumerate(request.quasi):
        nodes = coded.axis.levels[levels[owner, index], coded.codes[kept]]
        pairs = set(zip(owner.tolist(), nodes.tolist(), strict=True))
        must(len(pairs) == grouping.count, f"'{coded.name}' shows two nodes in a group")


def _must_be_infeasible(algorithm: Algorithm, request: Request) -> None:
    try:
        algorithm.solve(request)
    except InfeasibleError as error:
        _explains(error, request)
    else:
        raise AssertionError("an infeasible request was answered")


def _explains(error: InfeasibleError, request: Request) -> None:
    """The text names a requirement and both numbers, hints, and shows no cell."""
    must(any(model.name in error.message for model in request.models), error.message)
    must(len(re.findall(r"\d+(?:\.\d+)?", error.message)) >= 2, error.message)
    must(error.hint, "the error has no hint")
    text = str(error)
    for coded in request.sensitive.values():
        shown = [
            v for v in coded.axis.labels if len(v) > 1 and not v.isdigit() and v in text
        ]
        must(not shown, f"{len(shown)} values of '{coded.name}' are in the error")


# What must hold for every setting.


def _same_twice(algorithm: Algorithm) -> None:
    for request, first in _solved(algorithm):
        second = algorithm.solve(request).grouping
        must(
            np.array_equal(first.group_of, second.group_of),
            "two runs with one seed differ",
        )


def _same_on_two_threads(algorithm: Algorithm) -> None:
    for request, alone in _solved(algorithm):
        together = algorithm.solve(replace(request, threads=2)).grouping
        must(
            np.array_equal(alone.group_of, together.group_of),
            "two threads give another result than one",
        )


def _same_for_permuted_rows(algorithm: Algorithm) -> None:
    for table in awkward_tables():
        models = [KAnonymity(k=2)]
        if table.rows < 2 or table.names(Role.SUBJECT):
            continue
        order = np.roll(np.arange(table.rows)[::-1], table.rows // 3)
        request = request_for(table, models)
        other = request_for(table.permuted(order), models)
        expected = contents(request, algorithm.solve(request).grouping)
        found = contents(other, algorithm.solve(other).grouping)
        must(found == expected, f"the groups of '{table}' depend on the order of rows")


def contents(request: Request, grouping: Grouping) -> Counter[tuple[Any, ...]]:
    """Return the groups as bags of points: equal for equal groups, however numbered."""
    points = np.column_stack([coded.codes for coded in request.quasi])
    bags: dict[int, Counter[tuple[int, ...]]] = {}
    for group, point in zip(grouping.group_of.tolist(), points.tolist(), strict=True):
        bags.setdefault(group, Counter())[tuple(point)] += 1
    kept = (bag for group, bag in bags.items() if group >= 0)
    return Counter(tuple(sorted(bag.items())) for bag in kept)


def _solved(algorithm: Algorithm) -> Iterator[tuple[Request, Grouping]]:
    for table in awkward_tables():
        if table.rows > 1:
            request = request_for(table, [KAnonymity(k=2)], removable=table.rows // 20)
            if _one_group_does(request) and _accepts(algorithm, request):
                yield request, algorithm.solve(request).grouping


def _accepts(algorithm: Algorithm, request: Request) -> bool:
    """Return whether a request is accepted; refusals are checked elsewhere."""
    try:
        algorithm.check(request)
    except RefusedError:
        return False
    return True


def _leaves_input_alone(algorithm: Algorithm) -> None:
    request = _busy_request()
    before = [array.copy() for array in _arrays(request)]
    algorithm.solve(request)
    for old, new in zip(before, _arrays(request), strict=True):
        must(
            np.array_equal(old, new, equal_nan=old.dtype.kind == "f"),
            "an input array was changed",
        )


def _arrays(request: Request) -> list[npt.NDArray[Any]]:
    coded = (*request.quasi, *request.sensitive.values())
    found: list[npt.NDArray[Any] | None] = [request.subject]
    for each in coded:
        axis = each.axis
        found += [
            each.codes,
            axis.levels,
            axis.node_ncp,
            axis.node_loss,
            axis.positions,
        ]
    return [array for array in found if array is not None]


def _busy_request(**options: Any) -> Request:
    models = [KAnonymity(k=4), LDiversity(l=2)]
    return request_for(awkward_table("many-values"), models, **options)


def _reports_progress(algorithm: Algorithm) -> None:
    calls: list[tuple[str, float]] = []
    request = _busy_request(progress=lambda step, share: calls.append((step, share)))
    algorithm.solve(request)
    must(calls, "progress was never reported")
    must(all(step for step, _ in calls), "a step has no name")
    must(all(0.0 <= share <= 1.0 for _, share in calls), "a share is outside 0 … 1")


class _Pressed(KeyboardInterrupt):
    """A Ctrl-C that can be distinguished from a real one."""


def _can_be_cancelled(algorithm: Algorithm) -> None:
    def press(_step: str, _share: float) -> None:
        raise _Pressed

    expected = algorithm.solve(_busy_request()).grouping.group_of
    running = threading.active_count()
    try:
        algorithm.solve(_busy_request(progress=press, threads=2))
    except _Pressed:
        must(threading.active_count() == running, "threads were left behind")
    else:
        raise AssertionError("an interrupt was swallowed")
    again = algorithm.solve(_busy_request()).grouping.group_of
    must(np.array_equal(expected, again), "an interrupt left something behind")


def _about_serving(algorithm: Algorithm) -> Iterator[Check]:
    """One check for each model of the catalogue that a table can show."""
    for name in registry.names("models"):
        model_class = registry.load("models", name)
        if issubclass(model_class, OutputModel):
            run = partial(_drawn, algorithm, model_class)
            yield Check("the models of the catalogue are served", run, name)


def _drawn(algorithm: Algorithm, model_class: type[OutputModel]) -> None:
    """Small random tables, the model alone and with k = 2."""
    columns = 1 if issubclass(model_class, SensitiveModel) else None

    @settings(CALM, max_examples=30)
    @given(
        tables(max_rows=10, max_columns=2, sensitive=columns),
        instances(model_class),
        st.booleans(),
        st.integers(0, 2),
    )
    def asked(table: Awkward, model: Any, with_k: bool, removable: int) -> None:
        models = (KAnonymity(k=2), model) if with_k else (model,)
        request = request_for(table, models, removable=removable)
        _serves(algorithm, _with_population(request))

    asked()


def _with_population(request: Request) -> Request:
    """The request with a population of three for every row, where one is asked for."""
    if all(model.scope is not Scope.POPULATION for model in request.models):
        return request
    return replace(
        request, population=tuple(np.tile(q.codes, 3) for q in request.quasi)
    )


def _serves(algorithm: Algorithm, request: Request) -> None:
    """A valid solution; or infeasible, not known, or refused, where that may be."""
    try:
        solution = algorithm.solve(request)
    except InfeasibleError as error:
        _explains(error, request)
        must(not _whole_holds(request), "a feasible request was called infeasible")
    except SearchError as error:
        must(error.hint, "the error has no hint")
        must(not _whole_holds(request), "a feasible request was given up")
        must(not one_group_decides(request), "what one group decides was left open")
    except RefusedError as error:
        must(error.hint, "the error has no hint")
        must(_may_refuse(algorithm, request), "a group model was refused")
    else:
        check_solution(request, solution)


def _may_refuse(algorithm: Algorithm, request: Request) -> bool:
    """Return whether a request asks for more than the algorithm supports."""
    if {model.scope for model in request.models} != {Scope.GROUP}:
        return True
    if request.subject is not None and not algorithm.counts_persons:
        return True
    return not all(map(algorithm.serves, request.rules()))


def _whole_holds(request: Request) -> bool:
    whole = request.as_one_group()
    return all(model.verify(whole).holds for model in request.models)


_STATEMENTS: Mapping[str, Callable[[Algorithm], None]] = MappingProxyType(
    {
        "one seed gives one result": _same_twice,
        "two threads give the result of one": _same_on_two_threads,
        "the order of rows does not matter": _same_for_permuted_rows,
        "the input is left as it was": _leaves_input_alone,
        "progress is a named share": _reports_progress,
        "an interrupt leaves nothing behind": _can_be_cancelled,
    }
)
