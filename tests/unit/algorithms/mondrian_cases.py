"""Small axes and requests, and a plain Mondrian: slow, but easy to verify."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from sfumato.algorithms.base import Request
from sfumato.data.schema import Kind
from sfumato.hierarchies.axis import Axis, CodedAxis, Shape
from sfumato.models.k_anonymity import KAnonymity

Row = tuple[int, ...]
Group = list[int]


def free_axis(numbers: Sequence[float], weight: float = 1.0) -> Axis:
    """A line of numbers; NaN, if any, is the last and means missing."""
    return _two_levels(Shape.FREE, len(numbers), weight, np.array(numbers, float))


def flat_axis(size: int, weight: float = 1.0) -> Axis:
    """A bag of `size` categories."""
    return _two_levels(Shape.FLAT, size, weight, None)


def _two_levels(shape: Shape, size: int, weight: float, positions: Any) -> Axis:
    missing = -1
    if positions is not None and np.isnan(positions[-1]):
        missing = size - 1
    return Axis(
        name="axis",
        kind=Kind.DECIMAL if shape is Shape.FREE else Kind.CATEGORY,
        shape=shape,
        labels=tuple(map(str, range(size))),
        levels=np.array([range(size), [size] * size], dtype=np.int32),
        node_labels=(*map(str, range(size)), "*"),
        node_ncp=np.array([0.0] * size + [1.0]),
        node_loss=np.array([0.0] * size + [1.0]),
        positions=positions,
        missing=missing,
        weight=weight,
    )


def tree_axis(*levels: Sequence[int], weight: float = 1.0) -> Axis:
    """A tree from the parent number of each leaf at each level, the root left out."""
    size = len(levels[0])
    rows, first = [list(range(size))], size
    for level in (*levels, [0] * size):
        rows.append([first + node for node in level])
        first += max(level) + 1
    nodes = np.array(rows, dtype=np.int32)
    leaves = np.array([max(row.count(n) for row in rows) for n in range(first)])
    cost = np.where(np.arange(first) < size, 0.0, leaves / size)
    return Axis(
        name="axis",
        kind=Kind.CATEGORY,
        shape=Shape.TREE,
        labels=tuple(map(str, range(size))),
        levels=nodes,
        node_labels=tuple(map(str, range(first))),
        node_ncp=cost,
        node_loss=cost,
        weight=weight,
    )


def ask(axes: Sequence[Axis], rows: Sequence[Row], k: int, **options: Any) -> Request:
    """A request for k-anonymity of rows of codes."""
    columns = np.array(rows, dtype=np.int32).reshape(len(rows), len(axes)).T
    quasi = tuple(
        CodedAxis(axis, np.ascontiguousarray(codes))
        for axis, codes in zip(axes, columns, strict=True)
    )
    options.setdefault("models", (KAnonymity(k=k),))
    options.setdefault("threads", 1)
    return Request(quasi=quasi, **options)


def rows_of(request: Request) -> list[Row]:
    return list(zip(*(q.codes.tolist() for q in request.quasi), strict=True))


def cell_cost(axis: Axis, codes: Iterable[int]) -> float:
    """The loss of a cell that covers some codes, straight from the definition."""
    present = sorted(set(codes))
    if len(present) == 1:
        return 0.0
    if axis.shape is Shape.FLAT:
        return axis.weight * len(present) / axis.size
    low, high = present[0], present[-1]
    if axis.shape is Shape.TREE:
        level = next(x for x in axis.levels if len({*x[low : high + 1]}) == 1)
        return axis.weight * float(axis.node_ncp[level[low]])
    assert axis.positions is not None
    length = float(axis.positions[high] - axis.positions[low])
    if np.isnan(length):
        return axis.weight
    known = axis.positions[~np.isnan(axis.positions)]
    span = float(known.max() - known.min())
    return axis.weight * length / span if span > 0 else 0.0


def loss_of(axes: Sequence[Axis], rows: Sequence[Row], group: Group) -> float:
    """Rows of a group × the cost of its box."""
    return len(group) * sum(
        cell_cost(axis, (rows[i][j] for i in group)) for j, axis in enumerate(axes)
    )


def total_loss(request: Request, group_of: Sequence[int]) -> float:
    """The loss of a grouping; a row left out costs the weight of every axis."""
    axes, rows = [q.axis for q in request.quasi], rows_of(request)
    groups = [[i for i, g in enumerate(group_of) if g == x] for x in {*group_of} - {-1}]
    kept = sum(loss_of(axes, rows, group) for group in groups)
    return kept + list(group_of).count(-1) * sum(axis.weight for axis in axes)


def partition(
    request: Request,
    allowed: Callable[[Group], bool],
    cuts: Callable[[Sequence[Axis], Sequence[Row], Group], Iterator[Group]],
) -> set[frozenset[int]]:
    """Cut by the first of `cuts` with two allowed sides, while there is one."""
    axes, rows = [q.axis for q in request.quasi], rows_of(request)
    waiting, done = [list(range(len(rows)))], set()
    while waiting:
        group = waiting.pop()
        for left in cuts(axes, rows, group):
            right = sorted({*group} - {*left})
            if left and right and allowed(left) and allowed(right):
                waiting += [left, right]
                break
        else:
            done.add(frozenset(group))
    return done


def gain_cuts(
    axes: Sequence[Axis], rows: Sequence[Row], group: Group
) -> Iterator[Group]:
    """All candidate cuts, the greatest gain first; the first of equal ones first."""
    whole = loss_of(axes, rows, group)
    scored = []
    for order, left in enumerate(_candidates(axes, rows, group)):
        right = sorted({*group} - {*left})
        after = loss_of(axes, rows, left) + loss_of(axes, rows, right)
        gain = round((whole - after) / whole * 1e9) if whole > 0 else 0
        even = min(len(left), len(right)) / len(group) - 1.0
        scored.append((-(gain if gain > 0 else even), order, left))
    for _, _, left in sorted(scored, key=lambda entry: entry[:2]):
        yield left


def _candidates(
    axes: Sequence[Axis], rows: Sequence[Row], group: Group
) -> Iterator[Group]:
    for j, axis in enumerate(axes):
        levels = axis.levels[:-1] if axis.shape is Shape.TREE else axis.levels[:1]
        for level in levels:
            runs = _runs(axis, level, [(rows[i][j], i) for i in group])
            for run in range(1, len(runs)):
                yield sorted(i for part in runs[:run] for i in part)
            if axis.shape is not Shape.FREE and len(runs) > 2:
                yield from map(sorted, runs)


def _runs(axis: Axis, level: Any, pairs: list[tuple[int, int]]) -> list[Group]:
    """The rows of each value, or node at a level, in the order of the line."""
    nodes = sorted({int(level[code]) for code, _ in pairs})
    runs = [[i for code, i in pairs if level[code] == node] for node in nodes]
    if axis.shape is Shape.FLAT:
        runs.sort(key=lambda run: -len(run))
    return runs


def widest_cuts(
    axes: Sequence[Axis], rows: Sequence[Row], group: Group
) -> Iterator[Group]:
    """The cuts of each axis, the widest first: missing apart, then by the median."""
    costs = [
        cell_cost(axis, (rows[i][j] for i in group)) for j, axis in enumerate(axes)
    ]
    for j in sorted(range(len(axes)), key=lambda j: -costs[j]):
        yield from _median_cuts(axes[j], [(rows[i][j], i) for i in group])


def _median_cuts(axis: Axis, pairs: list[tuple[int, int]]) -> Iterator[Group]:
    codes = sorted({code for code, _ in pairs})
    level = axis.levels[0]
    if axis.shape is Shape.TREE:
        splits = [x for x in axis.levels if x[codes[0]] != x[codes[-1]]]
        level = splits[-1] if splits else level
    runs = _runs(axis, level, pairs)
    heads = [sorted(i for part in runs[:r] for i in part) for r in range(len(runs) + 1)]
    if axis.shape is Shape.FREE and codes[-1] == axis.missing:
        yield heads[-2]
    n = len(pairs)
    after = next(r for r, head in enumerate(heads) if 2 * len(head) >= n)
    two = [heads[after], heads[after - 1]]
    yield from sorted(two, key=lambda head: abs(2 * len(head) - n))
