"""What every output model must meet."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from functools import partial
from itertools import combinations
from types import MappingProxyType
from typing import Any, get_type_hints

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.algorithms.base import Request
from sfumato.algorithms.common.compiled_rules import compile_rules
from sfumato.data.grouping import SUPPRESSED, Grouping
from sfumato.errors import PolicyError
from sfumato.models.base import Groups, Model, OutputModel, Scope, SensitiveModel
from sfumato.models.common.strictness import looser_parameters
from sfumato.testing.awkward_tables import Awkward, request_for
from sfumato.testing.conformance_check import CALM, Check, must, must_be_named, nonsense
from sfumato.testing.model_definitions import holds_by_definition, is_defined
from sfumato.testing.strategies import Parameters, groupings, instances, tables

ModelCase = tuple[Request, Grouping]


def check_model(
    model_class: type[Model], *, parameters: Parameters | None = None
) -> list[Check]:
    """Every check of a model.

    A model that no table can show is asked only about itself.

    `parameters` is a strategy of keyword arguments; without it they are drawn from the
    `examples` of the class.
    """
    models = instances(model_class, parameters)
    asked = dict(_STATEMENTS)
    if not issubclass(model_class, OutputModel):
        asked = {_VALIDATED: _STATEMENTS[_VALIDATED]}
    elif model_class.scope is Scope.POPULATION:
        # Which people of a population match depends on the cells that are shown.
        del asked[_FEASIBLE]
    return [
        Check(
            "has a name, a sentence and a blind spot",
            partial(
                must_be_named, model_class, model_class.sentence, model_class.blind_spot
            ),
        ),
        *(Check(name, partial(ask, models)) for name, ask in asked.items()),
    ]


def _validates(models: st.SearchStrategy[Any]) -> None:
    @CALM
    @given(models)
    def refuses_nonsense(model: OutputModel) -> None:
        hints = get_type_hints(type(model))
        for option in fields(model):
            if getattr(model, option.name) is not None:
                for value in nonsense(option, hints[option.name]):
                    _must_refuse(model, option.name, value)

    refuses_nonsense()


def _must_refuse(model: OutputModel, option: str, value: Any) -> None:
    chosen = model.parameters() | {option: value}
    try:
        type(model)(**chosen)
    except PolicyError as error:
        must(model.name in error.message, "the error does not name the model")
        must(re.search(rf"\b{option}\b", str(error)), f"'{option}' is not named")
        must(error.hint, f"the error about '{option}' has no hint")
    else:
        raise AssertionError(f"{model.name} accepts {option} = {value}")


@st.composite
def cases(
    draw: st.DrawFn,
    models: st.SearchStrategy[Any],
    *,
    max_rows: int = 12,
    subjects: bool | None = None,
    together: bool = False,
) -> ModelCase:
    """A request for one model on a drawn table, and a grouping of its rows."""
    model = draw(models)
    columns = draw(st.integers(1, 2)) if isinstance(model, SensitiveModel) else None
    table = draw(
        tables(max_rows=max_rows, max_columns=1, subjects=subjects, sensitive=columns)
    )
    grouping = draw(groupings(table.rows))
    request = request_for(table, [model])
    return request, _persons_together(request, grouping) if together else grouping


def _persons_together(request: Request, grouping: Grouping) -> Grouping:
    """All rows of a person in the group of the first."""
    if request.subject is None:
        return grouping
    _, first, person = np.unique(
        request.subject, return_index=True, return_inverse=True
    )
    return Grouping.renumbered(grouping.group_of[first][person])


def groups_of(request: Request, grouping: Grouping) -> Groups:
    """The groups as the model sees them, with a population where it asks for one.

    Row i stands for 1, 2 or 3 people of the population.
    """
    groups = request.groups(grouping)
    if request.models[0].scope is not Scope.POPULATION:
        return groups
    people = 1 + 7 * np.arange(request.rows) % 3
    kept = grouping.kept
    population = np.bincount(grouping.group_of[kept], people[kept], grouping.count)
    return replace(groups, population=population.astype(np.int64))


def _agrees_with_its_rules(models: st.SearchStrategy[Any]) -> None:
    @CALM
    @given(cases(models, subjects=False))
    def agree(case: ModelCase) -> None:
        request, grouping = case
        model = request.models[0]
        convex = all(rule.traits.convex for rule in request.rules())
        must(convex or not model.holds_for_unions, f"{model}: a rule is not convex")
        told = model.verify(groups_of(request, grouping))
        broken = groups_that_break_the_rules(request, grouping)
        if model.scope is Scope.TABLE:
            must(told.holds or broken, _TOO_LAX)
        else:
            must(
                told.offending == broken,
                f"{model}: {told.offending} groups offend by NumPy, {broken} compiled",
            )

    agree()


def _agrees_with_its_definition(models: st.SearchStrategy[Any]) -> None:
    @CALM
    @given(cases(models))
    def agree(case: ModelCase) -> None:
        request, grouping = case
        model = request.models[0]
        must(is_defined(model), f"{model.name} has no definition to compare with")
        told = model.verify(groups_of(request, grouping)).holds
        defined = holds_by_definition(model, request, grouping)
        must(told == defined, f"{model}: {told}, but {defined} by definition")

    agree()


def _rules_are_safe_with_subjects(models: st.SearchStrategy[Any]) -> None:
    @CALM
    @given(cases(models, subjects=True))
    def safe(case: ModelCase) -> None:
        request, grouping = case
        model = request.models[0]
        told = model.verify(groups_of(request, grouping))
        broken = groups_that_break_the_rules(request, grouping)
        enough = (
            bool(broken) if model.scope is Scope.TABLE else broken >= told.offending
        )
        must(told.holds or enough, _TOO_LAX)

    safe()


def groups_that_break_the_rules(request: Request, grouping: Grouping) -> int:
    """How many groups do not meet the compiled rules of the request's models."""
    compiled = compile_rules(_published(request, grouping))
    group_of = grouping.group_of[grouping.kept]
    groups = groups_of(request, grouping)
    people = np.zeros(groups.count) if groups.population is None else groups.population
    return sum(
        not compiled.allows(np.flatnonzero(group_of == group), int(people[group]))
        for group in range(grouping.count)
    )


def _published(request: Request, grouping: Grouping) -> Request:
    """The request on the rows that are kept, whose distribution is published."""
    return request.only(np.flatnonzero(grouping.kept))


def _monotone_under_merging(models: st.SearchStrategy[Any]) -> None:
    @CALM
    @given(cases(models, together=True), st.data())
    def merging_keeps_it(case: ModelCase, data: st.DataObject) -> None:
        request, grouping = case
        model = request.models[0]
        if not model.monotone_generalization or grouping.count < 2:
            return
        if model.verify(groups_of(request, grouping)).holds:
            into, other = data.draw(st.permutations(range(grouping.count)))[:2]
            merged = np.where(grouping.group_of == other, into, grouping.group_of)
            after = groups_of(request, Grouping.renumbered(merged))
            must(model.verify(after).holds, f"{model} is lost by merging two groups")

    merging_keeps_it()


def _monotone_under_suppression(models: st.SearchStrategy[Any]) -> None:
    @CALM
    @given(cases(models), st.data())
    def leaving_out_keeps_it(case: ModelCase, data: st.DataObject) -> None:
        request, grouping = case
        model = request.models[0]
        if not model.monotone_suppression or grouping.count < 2:
            return
        if model.verify(groups_of(request, grouping)).holds:
            gone = data.draw(st.integers(0, grouping.count - 1))
            left = np.where(grouping.group_of == gone, SUPPRESSED, grouping.group_of)
            after = groups_of(request, Grouping.renumbered(left))
            must(model.verify(after).holds, f"{model} is lost by leaving a group out")

    leaving_out_keeps_it()


def _strictness_is_as_declared(models: st.SearchStrategy[Any]) -> None:
    @CALM
    @given(cases(models, together=True), models)
    def strict_implies_loose(case: ModelCase, other: OutputModel) -> None:
        request, grouping = case
        model = request.models[0]
        if looser_parameters(model, other):
            return
        groups = groups_of(replace(request, models=(other,)), grouping)
        if other.verify(groups).holds:
            asked = model.verify(groups_of(request, grouping))
            must(asked.holds, f"{other} is called as strict as {model}, and is not")

    strict_implies_loose()


def _feasibility_is_exact(models: st.SearchStrategy[Any]) -> None:
    @CALM
    @given(models, st.data())
    def agrees(model: OutputModel, data: st.DataObject) -> None:
        columns = 1 if isinstance(model, SensitiveModel) else None
        table = data.draw(tables(max_rows=5, max_columns=1, sensitive=columns))
        removable = data.draw(st.integers(0, 2))
        request = request_for(table, [model], removable=removable)
        whole = groups_of(request, _one_group(table, ()))
        answer = model.feasibility(whole, removable=removable)
        possible = _any_grouping_holds(request, table)
        must(answer.feasible or not possible, f"{model} is feasible, but called not")
        if model.monotone_generalization and request.subject is None:
            must(
                possible or not answer.feasible, f"{model} is called feasible, but not"
            )
        if not answer.feasible:
            _explained(model, answer.message, answer.hint)

    agrees()


def _explained(model: OutputModel, message: str, hint: str) -> None:
    must(model.name in message, "the message does not name the model")
    must(len(re.findall(r"\d+(?:\.\d+)?", message)) >= 2, "two numbers are missing")
    must(hint, "the message has no hint")


def _any_grouping_holds(request: Request, table: Awkward) -> bool:
    """Whether any grouping of any allowed remainder meets the model.

    One group is enough for models that merging keeps; the others, and all where a
    person may be in several groups, are asked about every partition. Models may be
    optimistic there, as no whole table tells what they need.
    """
    model = request.models[0]
    one_is_enough = model.monotone_generalization and request.subject is None
    for left_out in _removals(table.rows, request.removable):
        kept = [row for row in range(table.rows) if row not in left_out]
        for parts in _partitions(kept, whole=one_is_enough):
            if model.verify(groups_of(request, _grouping(table.rows, parts))).holds:
                return True
    return False


def _removals(rows: int, removable: int) -> Iterator[tuple[int, ...]]:
    for count in range(min(removable, rows - 1) + 1):
        yield from combinations(range(rows), count)


def _partitions(rows: list[int], *, whole: bool) -> Iterator[list[list[int]]]:
    yield [rows]
    if not whole:
        yield from (parts for parts in _all_partitions(rows) if len(parts) > 1)


def _all_partitions(rows: list[int]) -> Iterator[list[list[int]]]:
    if not rows:
        yield []
        return
    first, rest = rows[0], rows[1:]
    for parts in _all_partitions(rest):
        yield [[first], *parts]
        for index in range(len(parts)):
            yield [*parts[:index], [first, *parts[index]], *parts[index + 1 :]]


def _one_group(table: Awkward, left_out: tuple[int, ...]) -> Grouping:
    return _grouping(table.rows, [[r for r in range(table.rows) if r not in left_out]])


def _grouping(rows: int, parts: list[list[int]]) -> Grouping:
    group_of = np.full(rows, SUPPRESSED, dtype=np.int32)
    for group, members in enumerate(parts):
        group_of[members] = group
    return Grouping(group_of, len(parts))


def _numbering_does_not_matter(models: st.SearchStrategy[Any]) -> None:
    @CALM
    @given(cases(models))
    def same_for_other_numbers(case: ModelCase) -> None:
        request, grouping = case
        turned = np.where(
            grouping.kept, grouping.count - 1 - grouping.group_of, SUPPRESSED
        )
        model = request.models[0]
        first = model.verify(groups_of(request, grouping))
        second = model.verify(
            groups_of(request, Grouping(turned.astype(np.int32), grouping.count))
        )
        must(
            (first.holds, first.offending) == (second.holds, second.offending),
            "another numbering gives another verdict",
        )
        must(
            _close(first.measured, second.measured),
            "another numbering gives another measure",
        )

    same_for_other_numbers()


def _close(first: float | None, second: float | None) -> bool:
    if first is None or second is None:
        return first is second
    return bool(np.isclose(first, second, rtol=0, atol=1e-9, equal_nan=True))


_TOO_LAX = "the rules let through what the model refuses"
_VALIDATED = "parameters are validated when made"
_FEASIBLE = "feasibility agrees with trying everything"

_STATEMENTS: Mapping[str, Callable[[st.SearchStrategy[Any]], None]] = MappingProxyType(
    {
        _VALIDATED: _validates,
        "the NumPy form agrees with the compiled rules": _agrees_with_its_rules,
        "the NumPy form agrees with its definition": _agrees_with_its_definition,
        "the compiled rules are safe with subjects": _rules_are_safe_with_subjects,
        "monotone under merging as declared": _monotone_under_merging,
        "monotone under suppression as declared": _monotone_under_suppression,
        "strictness of parameters is as declared": _strictness_is_as_declared,
        _FEASIBLE: _feasibility_is_exact,
        "the numbering of groups does not matter": _numbering_does_not_matter,
    }
)
