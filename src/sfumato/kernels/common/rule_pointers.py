"""Judge one rule on one histogram, compiled in families and called through pointers.

A kernel that calls these functions directly would have to be compiled together with
all of them. Behind a pointer of one signature they are compiled once, each family
only when a request needs it, and kernels stay small.

Cost: one indirect call per rule, then what the rule takes (`count_rules`,
`distance_rules`); a family compiles in seconds, once.
Invariant: a family judges every kind it is chosen for; all families have the same
signature; none raises, since an error would be lost.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from sfumato.data.arrays import Codes, Counts, Floats
from sfumato.data.rules import RuleKind, Traits, kinds_where
from sfumato.kernels.common.count_rules import (
    TOLERANCE,
    disclosure_ok,
    distinct,
    entropy,
    largest_of,
    likeness_ok,
    rarest_required,
    recursive_ratio,
)
from sfumato.kernels.common.distance_rules import earth_mover, s_diversity
from sfumato.kernels.common.rule_layout import DOMAIN, SHARES
from sfumato.kernels.common.rule_views import view_ok
from sfumato.kernels.compilation.decorators import both_numpy, pointer

SHARE = int(RuleKind.SHARE)
DISTINCT = int(RuleKind.DISTINCT)
ENTROPY = int(RuleKind.ENTROPY)
RECURSIVE = int(RuleKind.RECURSIVE)
OCCURRENCE = int(RuleKind.OCCURRENCE)
CLOSENESS = int(RuleKind.CLOSENESS)
LIKENESS = int(RuleKind.LIKENESS)
DISCLOSURE = int(RuleKind.DISCLOSURE)
RANGE = int(RuleKind.RANGE)


def _looks_at_counts_alone(traits: Traits) -> bool:
    beyond = traits.compares_with_table or traits.needs_population
    return not (traits.size_alone or beyond)


COUNTING = kinds_where(_looks_at_counts_alone)
COMPARING = kinds_where(lambda traits: traits.compares_shares)


def _taken() -> tuple[Any, ...]:
    """Return examples of what a judge of plain histograms takes.

    Strided on purpose: rows of a matrix are not contiguous, and one type serves all.
    """
    codes = np.zeros(4, dtype=np.int32)[::2]
    counts, parameters = np.zeros(4, dtype=np.int64)[::2], np.zeros(4)[::2]
    heads, whole = np.zeros((1, 1), dtype=np.int64), np.zeros(1, dtype=np.int64)
    return 0, codes, counts, 0, 0, 0, parameters, 0, heads, whole, np.zeros(1)


@cache
def plain_judge(kinds: frozenset[int]) -> Any:
    """Return the smallest family that judges these kinds of rule."""
    family = _any_ok
    if not kinds:
        family = _unasked
    elif kinds <= {*COUNTING}:
        family = _counting_ok
    elif kinds <= {*COUNTING, *COMPARING}:
        family = _comparing_ok
    return pointer(family, "boolean", *_taken())


@cache
def apart_judge(*, needed: bool) -> Any:
    """Return the judge of views with persons, combinations or open missing values."""
    plain = plain_judge(frozenset())
    return pointer(view_ok if needed else _never, "boolean", plain, *_taken())


def _never(
    judge: Any,
    size: int,
    codes: Codes,
    counts: Counts,
    n: int,
    v: int,
    kind: int,
    parameters: Floats,
    marks: int,
    heads: Counts,
    whole: Counts,
    real: Floats,
) -> bool:
    """Stands where no view needs to be taken apart."""
    return False


def _unasked(
    size: int,
    codes: Codes,
    counts: Counts,
    n: int,
    v: int,
    kind: int,
    parameters: Floats,
    marks: int,
    heads: Counts,
    whole: Counts,
    real: Floats,
) -> bool:
    """Stands where no rule looks at a view."""
    return False


def _counting_ok(
    size: int,
    codes: Codes,
    counts: Counts,
    n: int,
    v: int,
    kind: int,
    parameters: Floats,
    marks: int,
    heads: Counts,
    whole: Counts,
    real: Floats,
) -> bool:
    """Judge rules on counts alone."""
    return counting(size, codes, counts, n, kind, parameters, marks, whole)


def _comparing_ok(
    size: int,
    codes: Codes,
    counts: Counts,
    n: int,
    v: int,
    kind: int,
    parameters: Floats,
    marks: int,
    heads: Counts,
    whole: Counts,
    real: Floats,
) -> bool:
    """Judge rules on counts, or against a reference."""
    if kind in COMPARING:
        return comparing(
            size, codes, counts, n, v, kind, parameters, heads, whole, real
        )
    return counting(size, codes, counts, n, kind, parameters, marks, whole)


def _any_ok(
    size: int,
    codes: Codes,
    counts: Counts,
    n: int,
    v: int,
    kind: int,
    parameters: Floats,
    marks: int,
    heads: Counts,
    whole: Counts,
    real: Floats,
) -> bool:
    """Judge any rule on a histogram; a kind without a formula allows no group."""
    if kind in COMPARING:
        return comparing(
            size, codes, counts, n, v, kind, parameters, heads, whole, real
        )
    if kind in COUNTING:
        return counting(size, codes, counts, n, kind, parameters, marks, whole)
    if kind != RANGE:
        return False
    found = s_diversity(codes, counts, n, parameters[0], heads, v, whole, real)
    return found <= parameters[1] + TOLERANCE


@both_numpy
def counting(
    size: int,
    codes: Codes,
    counts: Counts,
    n: int,
    kind: int,
    parameters: Floats,
    marks: int,
    whole: Counts,
) -> bool:
    """Judge a rule on counts alone."""
    limit = parameters[0]
    if kind == DISTINCT:
        return distinct(counts, n) >= limit - TOLERANCE
    if kind == SHARE:
        return largest_of(counts, n) / size <= limit + TOLERANCE
    if kind == ENTROPY:
        return entropy(counts, n) >= limit - TOLERANCE
    if kind == RECURSIVE:
        ratio = recursive_ratio(codes, counts, n, int(parameters[1]), whole, marks)
        # Recursive diversity asks for r₁ < c × tail: equality fails, so that the
        # tolerance is taken off, not added.
        return ratio <= limit - TOLERANCE
    if kind != OCCURRENCE:
        return False
    lowest = rarest_required(codes, counts, n, size, whole, marks)
    return lowest >= limit - TOLERANCE


@both_numpy
def comparing(
    size: int,
    codes: Codes,
    counts: Counts,
    n: int,
    v: int,
    kind: int,
    parameters: Floats,
    heads: Counts,
    whole: Counts,
    real: Floats,
) -> bool:
    """Judge a rule that compares a group's distribution with the reference."""
    limit, second, shares = parameters[0], parameters[1], heads[v, SHARES]
    if kind == LIKENESS:
        return likeness_ok(codes, counts, n, real, shares, limit, second > 0)
    if kind == DISCLOSURE:
        domain = heads[v, DOMAIN]
        return disclosure_ok(codes, counts, n, real, shares, domain, limit)
    if kind != CLOSENESS:
        return False
    # (n, t)-closeness: a group of n rows is a natural superset of itself.
    if parameters[2] > 0 and size >= parameters[2]:
        return True
    distance = earth_mover(codes, counts, n, int(second), heads, v, whole, real)
    return distance <= limit + TOLERANCE
