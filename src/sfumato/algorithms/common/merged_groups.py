"""Merge groups of a grouping with the nearest ones.

A merged group shows what covers all of its rows: hierarchy levels rise until its rows
share a node, and a cell that was hidden for some of them stays hidden.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.request import Request
from sfumato.data.arrays import Flags, Floats, Ints
from sfumato.data.grouping import Grouping

CHUNK = 1 << 22
"""Pairs of groups that are compared at a time."""
GroupLevels = npt.NDArray[np.int16]


def merged(request: Request, start: Grouping, part: Ints) -> Grouping:
    """The grouping whose groups are the parts, −1 for none, as `start` shows them."""
    levels, hidden = start.levels, start.hidden
    plain = Grouping.renumbered(part)
    return replace(
        plain,
        levels=None if levels is None else _levels(request, start, plain, levels),
        hidden=None if hidden is None else _hidden(start, plain, hidden),
    )


def _hidden(start: Grouping, now: Grouping, hidden: Flags) -> Flags:
    """A cell is hidden where it was for a row of the group."""
    found = np.zeros((now.count, hidden.shape[1]), dtype=np.bool_)
    both = now.kept & start.kept
    np.logical_or.at(found, now.group_of[both], hidden[start.group_of[both]])
    return found


def _levels(
    request: Request, start: Grouping, now: Grouping, before: GroupLevels
) -> GroupLevels:
    """The lowest levels at which the rows of each group share a node."""
    levels = np.zeros((now.count, before.shape[1]), dtype=before.dtype)
    both = now.kept & start.kept
    np.maximum.at(levels, now.group_of[both], before[start.group_of[both]])
    order, starts = _sorted_rows(now.group_of)
    for place, coded in enumerate(request.quasi):
        low = np.minimum.reduceat(coded.codes[order], starts)
        high = np.maximum.reduceat(coded.codes[order], starts)
        nodes = coded.axis.levels
        for _ in range(coded.axis.height - 1):
            level = levels[:, place]
            apart = nodes[level, low] != nodes[level, high]
            levels[apart, place] += 1
    return levels


def boxes_of(request: Request, part: npt.NDArray[np.integer[Any]]) -> Floats:
    """(parts, quasi-identifiers, 2): lowest and highest code, 0 to 1 on each axis."""
    order, starts = _sorted_rows(part)
    columns = []
    for coded in request.quasi:
        codes = coded.codes[order] * (coded.axis.weight / max(coded.axis.size - 1, 1))
        low = np.minimum.reduceat(codes, starts)
        columns.append(np.stack([low, np.maximum.reduceat(codes, starts)], axis=1))
    return np.stack(columns, axis=1)


def _sorted_rows(part: npt.NDArray[np.integer[Any]]) -> tuple[Ints, Ints]:
    """The rows that are in some part, part by part, and where each part begins."""
    kept = np.flatnonzero(part >= 0)
    order = kept[np.argsort(part[kept], kind="stable")]
    return order, np.flatnonzero(np.diff(part[order], prepend=-1))


def nearest(boxes: Floats, crowd: Ints, wanted: Flags) -> Ints:
    """For each wanted part the nearest other part of its crowd; itself for others."""
    order = np.argsort(crowd, kind="stable")
    first = np.searchsorted(crowd[order], crowd, "left")
    number = np.searchsorted(crowd[order], crowd, "right") - first
    found = np.arange(len(crowd))
    left = np.flatnonzero(wanted)
    cuts = np.flatnonzero(np.diff(np.cumsum(number[left]) // CHUNK)) + 1
    for part in np.split(left, cuts):
        shift = np.repeat(first[part] - _before(number[part]), number[part])
        other = order[np.arange(int(number[part].sum())) + shift]
        mine = np.repeat(part, number[part])
        size = np.where(mine == other, np.inf, _extent(boxes[mine], boxes[other]))
        found[part] = other[_first_smallest(size, _before(number[part]))]
    return found


def _before(number: Ints) -> Ints:
    return np.cumsum(number) - number


def _extent(one: Floats, other: Floats) -> Floats:
    """The extent of the smallest box around each of two boxes, summed over axes."""
    low = np.minimum(one[:, :, 0], other[:, :, 0])
    high = np.maximum(one[:, :, 1], other[:, :, 1])
    return np.asarray((high - low).sum(axis=1))


def _first_smallest(values: Floats, starts: Ints) -> Ints:
    """The place of the smallest value in each run, the first one of ties."""
    if not len(starts):
        return starts
    owner = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(values))))
    order = np.lexsort((values, owner))
    return np.asarray(order[starts])


def united(partner: Ints) -> Ints:
    """Number parts by the lowest part that partners lead to, in either direction."""
    root = np.arange(len(partner))
    while True:
        lower = np.minimum(root, root[partner])
        np.minimum.at(lower, partner, root)
        lower = lower[lower]
        if np.array_equal(lower, root):
            return root
        root = lower
