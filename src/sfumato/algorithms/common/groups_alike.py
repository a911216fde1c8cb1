"""Merge groups until those that show the same cells hold together, too.

A recipient cannot tell groups with the same cells apart. Where persons have rows in
several of them, or a rule is not convex, each group may meet a requirement and all of
them together may break it. Such groups are merged with the nearest others; all rows in
one group are the last resort.
"""

from __future__ import annotations

import numpy as np

from sfumato.algorithms.common.merged_groups import boxes_of, merged, nearest, united
from sfumato.algorithms.common.population_matches import People, persons
from sfumato.algorithms.common.refusals import one_group_fails
from sfumato.algorithms.request import Request
from sfumato.data.arrays import Flags
from sfumato.data.grouping import Grouping
from sfumato.models.base import Scope


def holding_together(request: Request, grouping: Grouping) -> Grouping:
    """A grouping whose groups meet every requirement as a recipient sees them."""
    seen = request.seen(grouping)
    if seen is grouping:
        return grouping
    while (broken := _broken(request, grouping, seen)).any():
        if seen.count == 1:
            raise one_group_fails(request)
        boxes = boxes_of(request, seen.group_of)
        number = united(nearest(boxes, np.zeros(seen.count, dtype=np.int64), broken))
        part = np.where(seen.kept, number[seen.group_of], -1)
        grouping = merged(request, grouping, part)
        seen = request.seen(grouping)
    return grouping


def _broken(request: Request, grouping: Grouping, seen: Grouping) -> Flags:
    """Which groups, as a recipient sees them, break a requirement."""
    broken = _broken_matches(request, grouping, seen)
    for model in request.models:
        if model.scope is Scope.POPULATION or model.targets():
            continue
        verdict = request.meets(model, seen)
        if not verdict.holds:
            broken |= True if verdict.broken is None else verdict.broken
    return broken


def _broken_matches(request: Request, grouping: Grouping, seen: Grouping) -> Flags:
    """Which of them match too few or too many people of the population."""
    people = People.of(request)
    if people is None:
        return np.zeros(seen.count, dtype=np.bool_)
    inside, _ = people.matching(*people.shown(grouping))
    matching = np.zeros(seen.count, dtype=np.int64)
    matching[seen.group_of[seen.kept]] = inside[grouping.group_of[seen.kept]]
    return ~people.allowed(persons(request, seen.group_of, seen.count), matching)
