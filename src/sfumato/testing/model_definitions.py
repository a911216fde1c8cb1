"""Whether groups meet a model of the catalogue, by its definition, row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from sfumato.algorithms.base import Request
from sfumato.data.grouping import Grouping
from sfumato.hierarchies.axis import Axis
from sfumato.models.base import OutputModel, SensitiveModel
from sfumato.testing import model_oracles as oracles
from sfumato.testing.model_oracles import (
    OracleGroup,
    OracleMeasure,
    OracleRows,
    SensitiveDomain,
)

SLACK = 1e-9
"""A limit that is met exactly is met, despite rounding."""

Definition = Callable[[Any, OracleGroup], bool]
"""Whether one group meets a model."""


def is_defined(model: OutputModel) -> bool:
    """Whether a model has a definition, here or in its own class."""
    return _definition_of(model) is not None


def _definition_of(model: OutputModel) -> Definition | None:
    return DEFINITIONS.get(model.name) or type(model).definition


def holds_by_definition(
    model: OutputModel, request: Request, grouping: Grouping
) -> bool:
    """Whether every group meets a model whose definition is known."""
    definition = _definition_of(model)
    assert definition is not None
    return all(definition(model, g) for g in _groups(model, request, grouping))


def _groups(
    model: OutputModel, request: Request, grouping: Grouping
) -> Iterator[OracleGroup]:
    group_of = grouping.group_of.tolist()
    persons = None if request.subject is None else request.subject.tolist()
    if not isinstance(model, SensitiveModel):
        rows = OracleRows(group_of, [0] * len(group_of), persons)
        yield from oracles.groups_of(rows, SensitiveDomain(order=(0,)))
        return
    for view in model.views(tuple(request.sensitive)):
        coded = request.sensitive[view.column]
        rows = OracleRows(group_of, coded.codes.tolist(), persons)
        yield from oracles.groups_of(rows, _domain(coded.axis))


def _domain(axis: Axis) -> SensitiveDomain:
    """The values of a column without a hierarchy, as codes."""
    codes = [code for code in range(axis.size) if code != axis.missing]
    numbers = axis.positions
    return SensitiveDomain(
        order=tuple(range(axis.size)),
        numbers=None if numbers is None else {c: float(numbers[c]) for c in codes},
        missing=axis.missing if axis.missing >= 0 else None,
    )


def _diverse(model: Any, group: OracleGroup) -> bool:
    if model.kind == "distinct":
        return bool(oracles.distinct(group) >= model.l)
    if model.kind == "entropy":
        return bool(oracles.effective_number(group) >= model.l - SLACK)
    return bool(oracles.recursive_factor(int(model.l))(group) < model.c)


def _distance(model: Any, group: OracleGroup) -> OracleMeasure:
    on_a_line = model.distance is None and group.domain.numbers is not None
    ordered = model.distance == "ordered" or on_a_line
    return oracles.ordered if ordered else oracles.variational


def _alike(model: Any, group: OracleGroup) -> bool:
    if model.kind == "enhanced":
        return oracles.enhanced_gain_ok(model.beta)(group)
    return bool(oracles.gain(group) <= model.beta + SLACK)


DEFINITIONS: Mapping[str, Definition] = MappingProxyType(
    {
        "k-anonymity": lambda model, group: group.size >= model.k,
        "group-size": lambda model, group: group.rows >= model.k,
        "l-diversity": _diverse,
        "p-sensitive": lambda model, group: (
            group.size >= model.k and oracles.distinct(group) >= model.p
        ),
        "alpha-k": lambda model, group: (
            group.size >= model.k
            and oracles.commonest_share(group) <= model.alpha + SLACK
        ),
        "theta-diversity": lambda model, group: (
            oracles.commonest_share(group) <= model.theta + SLACK
        ),
        "t-closeness": lambda model, group: (
            _distance(model, group)(group) <= model.t + SLACK
        ),
        "beta-likeness": _alike,
        "delta-disclosure": lambda model, group: (
            oracles.log_ratio(group) < model.delta - SLACK
        ),
        "range-disclosure": lambda model, group: (
            oracles.s_diversity(model.r)(group) <= model.at_most + SLACK
        ),
    }
)
