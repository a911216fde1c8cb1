"""Write the bounds, means and medians of groups as cells, without rounding errors.

A cell is exact, or lies between the group's lowest and highest value and has at least
15 digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Ints
from sfumato.data.grouping import Grouping
from sfumato.data.schema import Kind
from sfumato.data.values import exact_numbers
from sfumato.errors import PolicyError
from sfumato.hierarchies.axis import STAR, Axis, CodedAxis
from sfumato.hierarchies.labels import Exact, Span, parse_span, value_text
from sfumato.publish.group_spans import Extent

NumberTexts = list[str | None]
DIGITS = 15
"""A number with this many digits survives a spreadsheet and a 64-bit float."""
LIMB = 24
"""Bits of a number that are summed at a time: sums of 2^29 of them are exact."""


def bound_texts(extent: Extent) -> tuple[NumberTexts, NumberTexts]:
    """The lowest and the highest value that each group's cells stand for."""
    axis = extent.coded.axis
    low, high = extent.bounds
    if not extent.by_node:
        unknown = high == axis.missing
        if extent.hidden is not None:
            unknown = unknown | extent.hidden
        return _leaf_texts(axis, low, unknown), _leaf_texts(axis, high, unknown)
    used, place = np.unique(extent.nodes, return_inverse=True)
    spans = [_node_ends(axis, node) for node in used.tolist()]
    return [spans[at][0] for at in place], [spans[at][1] for at in place]


def bound_leaves(
    extent: Extent, names: Sequence[str]
) -> dict[str, npt.NDArray[np.int32]]:
    """The leaves that the bound columns show, −1 for none; nothing where nodes do."""
    axis = extent.coded.axis
    low, high = extent.bounds
    unknown = high == axis.missing
    if extent.by_node:
        if not extent.single.all():
            return {}
        low = high = extent.nodes
        unknown = low == axis.missing
    elif extent.hidden is not None:
        unknown = unknown | extent.hidden
    ends = (np.where(unknown, np.int32(-1), end) for end in (low, high))
    return dict(zip(names, ends, strict=True))


def _leaf_texts(
    axis: Axis, codes: npt.NDArray[np.int32], unknown: npt.NDArray[np.bool_]
) -> NumberTexts:
    pairs = zip(codes.tolist(), unknown.tolist(), strict=True)
    return [None if missing else axis.labels[code] for code, missing in pairs]


def _node_ends(axis: Axis, node: int) -> tuple[str | None, str | None]:
    """The two ends of a node; None where there is none."""
    label = axis.node_labels[node]
    if label == STAR or node == axis.missing:
        return None, None
    span = parse_span(label, kind=axis.kind)
    if node < axis.size and (span is None or not _is_wide(axis, node)):
        return label, label
    span = _span_of_words(axis, node) if span is None else span.closed(axis.kind)
    return _end(span.low, axis.kind), _end(span.high, axis.kind)


def _is_wide(axis: Axis, leaf: int) -> bool:
    """Whether a declared leaf stands for more than one number, such as a tail."""
    if axis.node_bounds is None:
        return False
    low, high = axis.node_bounds[leaf]
    return bool(low != high) and not (np.isnan(low) and np.isnan(high))


def _span_of_words(axis: Axis, node: int) -> Span:
    """From the lowest to the highest number under a node whose label is a word."""
    bounds = None if axis.node_bounds is None else axis.node_bounds[node]
    if bounds is None:
        raise PolicyError(
            f"Column '{axis.name}' has a hierarchy whose nodes have no bounds.",
            hint='Publish its numbers as "interval", or use an interval hierarchy.',
        )
    if np.isnan(bounds).all():
        return Span(None, None)
    below = np.flatnonzero((axis.levels == node).any(axis=0))
    exact = _exact(axis, below[below != axis.missing])
    low, high = (Fraction(repr(float(end))) for end in bounds)
    # The float of a bound may lie inside the number that it is nearest to.
    return Span(min([low, *exact]), max([high, *exact]))


def _exact(axis: Axis, leaves: Ints) -> list[Fraction]:
    texts = [axis.labels[leaf] for leaf in leaves]
    return exact_numbers(axis.kind, texts, np.asarray(axis.positions)[leaves])


def _end(number: Exact | None, kind: Kind) -> str | None:
    return None if number is None else cell_text(number, kind)


def cell_text(number: Exact, kind: Kind) -> str:
    """An exact number as a cell of its kind."""
    return value_text(number, kind=kind).replace("T", " ")


class Members:
    """The known numbers of each group, exactly."""

    def __init__(self, coded: CodedAxis, grouping: Grouping) -> None:
        self.axis = coded.axis
        self.groups = grouping.count
        known = ~np.isnan(np.asarray(self.axis.positions))
        rows = grouping.kept & known[coded.codes]
        self._leaves = np.flatnonzero(known)
        self._place = np.cumsum(known) - 1
        self._values = self._place[coded.codes[rows]]
        self._owners = grouping.group_of[rows]

    def means(self) -> NumberTexts:
        """The mean of each group as a cell, None where nothing is known."""
        lows, highs = self._ends
        numbers = zip(self._sums, self._counts.tolist(), lows, highs, strict=True)
        return [
            None if count == 0 else self._mean(total, count, int(low), int(high))
            for total, count, low, high in numbers
        ]

    def medians(self) -> npt.NDArray[np.int32]:
        """The leaf of each group's lower median, −1 where nothing is known."""
        order = np.lexsort((self._ranks[self._values], self._owners))
        first = np.cumsum(self._counts) - self._counts
        some = self._counts > 0
        middle = (first + (self._counts - 1) // 2)[some]
        result = np.full(self.groups, -1, dtype=np.int32)
        result[some] = self._leaves[self._values[order][middle]]
        return result

    def _mean(self, total: int, count: int, low: int, high: int) -> str:
        unit = self._unit
        ends = Fraction(low, unit), Fraction(high, unit)
        mean = Fraction(total, count * unit)
        return cell_text(rounded(mean, *ends, kind=self.axis.kind), self.axis.kind)

    @cached_property
    def _counts(self) -> Ints:
        return np.bincount(self._owners, minlength=self.groups)

    @cached_property
    def _fractions(self) -> list[Fraction]:
        return _exact(self.axis, self._leaves)

    @cached_property
    def _unit(self) -> int:
        """Return the number such that all values are whole multiples of one over it."""
        return lcm(*{number.denominator for number in self._fractions})

    @cached_property
    def _whole(self) -> list[int]:
        unit = self._unit
        return [n.numerator * (unit // n.denominator) for n in self._fractions]

    @cached_property
    def _ranks(self) -> Ints:
        """The place of each value among all by size."""
        order = sorted(range(len(self._whole)), key=self._whole.__getitem__)
        ranks = np.empty(len(order), dtype=np.int64)
        ranks[order] = np.arange(len(order))
        return ranks

    @property
    def _ends(self) -> tuple[list[int], list[int]]:
        """The lowest and the highest whole multiple of each group."""
        by_size = sorted(self._whole) or [0]
        ranks = self._ranks[self._values]
        low = np.full(self.groups, len(by_size) - 1)
        high = np.zeros(self.groups, dtype=np.int64)
        np.minimum.at(low, self._owners, ranks)
        np.maximum.at(high, self._owners, ranks)
        return [by_size[at] for at in low], [by_size[at] for at in high]

    @property
    def _sums(self) -> list[int]:
        """Return the exact sum of each group, from sums of a few bits each."""
        least = min(self._whole, default=0)
        above: npt.NDArray[Any] = np.array(
            [n - least for n in self._whole], dtype=object
        )
        sums = [least * count for count in self._counts.tolist()]
        for shift in range(0, max(above, default=0).bit_length(), LIMB):
            part = ((above >> shift) & (2**LIMB - 1)).astype(np.float64)
            weights = part[self._values]
            found = np.bincount(self._owners, weights, minlength=self.groups)
            sums = [s + (int(f) << shift) for s, f in zip(sums, found, strict=True)]
        return sums


def rounded(mean: Fraction, low: Fraction, high: Fraction, *, kind: Kind) -> Exact:
    """A mean with enough digits to lie between the lowest and the highest value."""
    if kind is Kind.DATE:
        return round(mean)
    digits = DIGITS
    while True:
        near = _near(mean, digits, moment=kind is Kind.DATETIME)
        if low <= near <= high:
            return near
        digits *= 2


def _near(number: Fraction, digits: int, *, moment: bool) -> Fraction:
    if moment:
        # Microseconds first.
        return round(number, 6 * digits // DIGITS)
    whole = len(str(abs(int(number))))
    context = Context(prec=max(digits, whole + 2))
    quotient = context.divide(Decimal(number.numerator), Decimal(number.denominator))
    return Fraction(quotient)
