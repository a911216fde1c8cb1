"""Lay rules out for compiled code.

Everything that rules need to know of a view lies in two flat arrays, `whole` for
integers and `real` for shares and positions; a line of `heads` per view says where.
Few arrays keep the time to compile short.

Cost: O(d × h) time and memory per view, for d values and h levels; once per request.
Invariant: rules on size are folded into `minimum`; every other rule keeps its own line,
with the codes, parameters and reference that its model has; references sum to 1 over
the values that occur.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Floats, Ints
from sfumato.data.rules import Distance, Rule, View
from sfumato.hierarchies.axis import Axis, Shape
from sfumato.hierarchies.sensitive_axis import ground_distance, is_line
from sfumato.kernels.common.rule_layout import (
    APART,
    CUMULATIVE,
    DOMAIN,
    FIRST,
    FLAT_METRIC,
    HEADS,
    HEIGHT,
    JOINT,
    LAST,
    LEVELS,
    LINE_METRIC,
    METRIC,
    MISSING,
    NODE_LEAVES,
    NODE_SHARES,
    PAIRS,
    PARAMETERS,
    PERSONS,
    POSITIONS,
    PREFIX,
    RANKS,
    RAREST,
    SHARES,
    TREE_METRIC,
    VALUES,
)
from sfumato.kernels.common.rule_pointers import apart_judge, plain_judge


class RuleTable(NamedTuple):
    """The rules of a request, and what they need to know of each view."""

    minimum: int
    """No group may be smaller than this: the cheapest test comes first."""
    kinds: Ints
    views: Ints
    parameters: Floats
    marks: Ints
    """Where a rule's flags per value start in `whole`, or −1."""
    heads: Ints
    whole: Ints
    real: Floats
    plain: Any
    """The compiled judge of plain histograms, behind a pointer."""
    apart: Any
    """The compiled judge of views that must be taken apart first."""


class _FlatArrays:
    """Flat arrays in the making."""

    def __init__(self) -> None:
        self.arrays: list[npt.NDArray[np.generic]] = []
        self.length = 0

    def add(self, values: npt.NDArray[np.generic]) -> int:
        """Append values; return where they start."""
        start = self.length
        self.arrays.append(values.ravel())
        self.length += values.size
        return start

    def joined(
        self, kind: type[np.int64] | type[np.float64]
    ) -> npt.NDArray[np.generic]:
        return np.concatenate([np.zeros(0, dtype=kind), *self.arrays]).astype(kind)


def rule_table(
    rules: Sequence[Rule],
    views: Sequence[View],
    *,
    axes: Mapping[View, Axis] | None = None,
    references: Mapping[View, Floats] | None = None,
    pairs: Mapping[View, tuple[Ints, Ints]] | None = None,
    missing_any: bool = False,
) -> RuleTable:
    """Lay rules out for kernels; rules on size become the minimum.

    `axes` are the views' axes, rolled up to their levels, and `references` the
    shares of their values; rules on sizes, counts and shares need neither. With
    `pairs`, the codes of a view are distinct (value, person) pairs, sorted, and its
    two arrays give the value and the person behind each code.
    """
    sizes = [int(rule.parameters[0]) for rule in rules if rule.traits.size_alone]
    others = [rule for rule in rules if not rule.traits.size_alone]
    axes = axes or {}
    whole, real = _FlatArrays(), _FlatArrays()
    heads = np.full((len(views), HEADS), -1, dtype=np.int64)
    # Without an axis all codes are values of one combination: none is as large as this.
    heads[:, VALUES] = 1 << 40
    heads[:, JOINT] = [view.others_known for view in views]
    for line, view in enumerate(views):
        if view in axes:
            share = _reference(axes[view], (references or {}).get(view))
            opened = missing_any and not view.closed
            _lay_axis(heads[line], axes[view], share, opened, whole, real)
        if pairs and view in pairs:
            heads[line, PAIRS] = whole.add(pairs[view][0])
            heads[line, PERSONS] = whole.add(pairs[view][1])
    special = (heads[:, JOINT] > 0) | (heads[:, PAIRS] >= 0) | (heads[:, MISSING] >= 0)
    heads[:, APART] = special
    _require_axes(others, axes)
    return RuleTable(
        minimum=max(sizes, default=1),
        kinds=np.array([rule.kind for rule in others], dtype=np.int64),
        views=_view_lines(others, views),
        parameters=_parameters(others, axes),
        marks=np.array([_marked(r, axes, whole) for r in others], dtype=np.int64),
        heads=heads,
        whole=np.asarray(whole.joined(np.int64), dtype=np.int64),
        real=np.asarray(real.joined(np.float64), dtype=np.float64),
        plain=plain_judge(frozenset(int(rule.kind) for rule in others if rule.view)),
        apart=apart_judge(needed=bool(heads[:, APART].any())),
    )


def _reference(axis: Axis, shares: Floats | None) -> Floats:
    if shares is not None:
        return shares
    return np.full(axis.size, 1.0 / max(axis.size, 1))


def _view_lines(rules: Sequence[Rule], views: Sequence[View]) -> Ints:
    lines = [-1 if rule.view is None else views.index(rule.view) for rule in rules]
    return np.array(lines, dtype=np.int64)


def _require_axes(rules: Sequence[Rule], axes: Mapping[View, Axis]) -> None:
    for rule in rules:
        needed = rule.traits.needs_axis or rule.exempt
        if rule.view and needed and rule.view not in axes:
            raise ValueError(f"A {rule.kind.name} rule needs the axis of its view.")
        if rule.view and rule.view.others_known and rule.view not in axes:
            raise ValueError("A view with other columns known needs its axis.")


def _parameters(rules: Sequence[Rule], axes: Mapping[View, Axis]) -> Floats:
    parameters = np.zeros((len(rules), PARAMETERS))
    for line, rule in enumerate(rules):
        parameters[line, : len(rule.parameters)] = rule.parameters
        if rule.traits.limits_distance and rule.view:
            asked = Distance(int(rule.parameters[1]))
            parameters[line, 1] = ground_distance(axes[rule.view], asked)
    return parameters


def _marked(rule: Rule, axes: Mapping[View, Axis], whole: _FlatArrays) -> int:
    """Lay out which codes a rule exempts, or the codes it requires, counted first."""
    if rule.view is None or not (rule.exempt or rule.required):
        return -1
    labels = axes[rule.view].labels
    if rule.required:
        codes = [labels.index(v) if v in labels else -1 for v in rule.required]
        return whole.add(np.array([len(codes), *codes], dtype=np.int64))
    return whole.add(np.array([v in rule.exempt for v in labels], dtype=np.int64))


def _lay_axis(
    head: Ints,
    axis: Axis,
    shares: Floats,
    missing_any: bool,
    whole: _FlatArrays,
    real: _FlatArrays,
) -> None:
    support = shares > 0
    known = np.flatnonzero(support)
    cumulative = np.cumsum(shares[support])
    head[VALUES] = max(axis.size, 1)
    head[DOMAIN] = len(known)
    head[HEIGHT] = axis.height
    head[METRIC] = _metric(axis)
    head[SHARES] = real.add(shares)
    # Ordered distances run over the values of the reference alone: ranks skip the rest.
    head[RANKS] = whole.add(np.maximum(np.cumsum(support) - 1, 0))
    head[CUMULATIVE] = real.add(cumulative)
    head[PREFIX] = real.add(np.concatenate([[0.0], np.cumsum(cumulative)]))
    head[LEVELS] = whole.add(axis.levels.astype(np.int64))
    head[NODE_SHARES] = real.add(_by_node(axis, shares))
    head[NODE_LEAVES] = real.add(_by_node(axis, support.astype(np.float64)))
    head[POSITIONS] = real.add(_positions(axis, support))
    if missing_any and axis.missing >= 0 and len(known):
        head[MISSING] = axis.missing
        head[RAREST] = known[np.argmin(shares[known])]
        head[FIRST], head[LAST] = known[0], known[-1]


def _metric(axis: Axis) -> int:
    if is_line(axis):
        return LINE_METRIC
    return TREE_METRIC if axis.shape is Shape.TREE else FLAT_METRIC


def _by_node(axis: Axis, values: Floats) -> Floats:
    """Sum leaf values under every code's node: (height, leaves)."""
    rows = [np.bincount(nodes, weights=values)[nodes] for nodes in axis.levels]
    return np.array(rows, dtype=np.float64)


def _positions(axis: Axis, support: npt.NDArray[np.bool_]) -> Floats:
    """Scale numbers so that the occurring ones span 0 to 1; NaN for the missing."""
    if axis.positions is None:
        return np.zeros(axis.size)
    numbers = axis.positions.astype(np.float64)
    used = support & ~np.isnan(numbers)
    if not used.any():
        return numbers
    low, high = numbers[used].min(), numbers[used].max()
    return (numbers - low) / (high - low) if high > low else numbers - low
