"""Which leaves of an axis a published cell stands for.

Cells of other tools are read too: `20-24`, `[20-24]`, `15~19`, `[0, 5[` and `60+` as
intervals, `123**` as a mask, `{a, b}` and `a,b` as sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Ints
from sfumato.hierarchies.axis import STAR, Axis
from sfumato.hierarchies.exact_numbers import Line
from sfumato.hierarchies.labels import (
    Span,
    parse_exact,
    parse_set,
    parse_span,
    value_text,
)

Leaves = npt.NDArray[np.bool_]
SEPARATORS = ("|", ", ", ",", "; ", ";")
"""What other tools write between the values of a set."""


class CellLeaves(NamedTuple):
    """The leaves behind one text: a run of codes, or any of them."""

    first: int
    last: int
    """The first and the last leaf; there is none where `first` is above `last`."""
    mask: Leaves | None = None
    """One flag per leaf, where the leaves are no run."""
    whole: bool = True
    """Whether all parts of the text were understood."""


NOTHING = CellLeaves(0, -1, whole=False)


def cover_matrix(axis: Axis, texts: Sequence[str | None]) -> Leaves:
    """(texts, leaves): whether each published text may stand for each leaf.

    A text that is no leaf, node, interval, mask, set or `*` of the axis covers nothing;
    None is the missing cell and covers the missing leaf alone.
    """
    reader = LeafReader(axis)
    result = np.zeros((len(texts), axis.size), dtype=np.bool_)
    for row, text in zip(result, texts, strict=True):
        found = reader.leaves(text)
        if found.mask is not None:
            row[:] = found.mask
        else:
            row[found.first : found.last + 1] = True
    return result


class LeafReader:
    """Reads texts against one axis, with its labels indexed once."""

    def __init__(self, axis: Axis) -> None:
        self.axis = axis
        self.leaf = {label: code for code, label in enumerate(axis.labels)}
        self.nodes: dict[str, list[int]] = {}
        for node, label in enumerate(axis.node_labels):
            self.nodes.setdefault(label, []).append(node)

    def leaves(self, text: str | None) -> CellLeaves:
        """The leaves that a text stands for; none if it is not understood."""
        if text is None:
            missing = self.axis.missing
            return CellLeaves(missing, missing) if missing >= 0 else NOTHING
        if text == STAR:
            return CellLeaves(0, self.axis.size - 1)
        return self._named(text) or self._unnamed(text)

    def _named(self, text: str) -> CellLeaves | None:
        """The leaf of that label, or all leaves under nodes of that label."""
        if text in self.leaf:
            return CellLeaves(self.leaf[text], self.leaf[text])
        nodes = [n for n in self.nodes.get(text, ()) if self._ends[0][n] >= 0]
        if not nodes:
            return None
        first, last = self._ends[0][nodes], self._ends[1][nodes]
        mask = np.zeros(self.axis.size, dtype=np.bool_)
        for low, high in zip(first, last, strict=True):
            mask[low : high + 1] = True
        return _of_mask(mask)

    def _unnamed(self, text: str) -> CellLeaves:
        members = parse_set(text)
        if members is not None and any(map(self._names, members)):
            return self._set(members)
        span = self._span(text)
        if span is not None:
            return self._between(span)
        for parts in _lists(text):
            if all(part in self.leaf for part in parts):
                return self._set(parts)
        return self._masked(text)

    def _span(self, text: str) -> Span | None:
        """An interval, or a number that is spelled differently from its leaf."""
        if self.axis.positions is None:
            return None
        kind = self.axis.kind
        span = parse_span(text, kind=kind)
        if span is None:
            number = parse_exact(text, kind=kind)
            span = None if number is None else Span(number, number)
        return span

    def _set(self, members: Sequence[str]) -> CellLeaves:
        mask = np.zeros(self.axis.size, dtype=np.bool_)
        known = [each for each in members if self._names(each)]
        for each in known:
            found = self._named(each) or NOTHING
            inside = slice(found.first, found.last + 1)
            mask[inside] |= True if found.mask is None else found.mask[inside]
        return _of_mask(mask, whole=len(known) == len(members))

    def _names(self, member: str) -> bool:
        """Whether a member of a set is a value, or a node of the hierarchy."""
        return member in self.leaf or (member != STAR and member in self.nodes)

    def _between(self, span: Span) -> CellLeaves:
        start, stop = self.line.run(span)
        codes = self.known[start:stop]
        if not len(codes):
            return CellLeaves(0, -1)
        if codes[-1] - codes[0] + 1 == len(codes):
            return CellLeaves(int(codes[0]), int(codes[-1]))
        mask = np.zeros(self.axis.size, dtype=np.bool_)
        mask[codes] = True
        return CellLeaves(int(codes[0]), int(codes[-1]), mask)

    def _masked(self, text: str) -> CellLeaves:
        """A code with its end or its beginning masked: `123**`, `**345`.

        Several stars stand for one character each, a single one for one or more.
        """
        start, end = text.rstrip(STAR), text.lstrip(STAR)
        stars = len(text) - min(len(start), len(end))
        if (
            not stars
            or not min(start, end, key=len)
            or STAR in min(start, end, key=len)
        ):
            return NOTHING
        length = len(text)
        fits = [
            code != self.axis.missing
            and (len(label) == length if stars > 1 else len(label) >= length)
            and (
                label.startswith(start) if len(start) < length else label.endswith(end)
            )
            for code, label in enumerate(self.axis.labels)
        ]
        mask = np.array(fits, dtype=np.bool_)
        return _of_mask(mask) if mask.any() else NOTHING

    @cached_property
    def _ends(self) -> tuple[Ints, Ints]:
        """The first and the last leaf under each node; −1 where none occurs."""
        count, leaves = len(self.axis.node_labels), np.arange(self.axis.size)
        first, last = np.full(count, -1), np.full(count, -1)
        for nodes in self.axis.levels:
            last[nodes] = leaves
            first[nodes[::-1]] = leaves[::-1]
        return first, last

    @cached_property
    def known(self) -> Ints:
        """The leaves that are numbers, by size."""
        positions = np.asarray(self.axis.positions)
        order = np.argsort(positions, kind="stable")
        return np.asarray(order[~np.isnan(positions[order])])

    @cached_property
    def line(self) -> Line:
        texts = [self._number(self.axis.labels[leaf]) for leaf in self.known]
        floats = np.asarray(self.axis.positions)[self.known]
        return Line(self.axis.kind, texts, floats)

    def _number(self, label: str) -> str:
        """The text of the number behind a leaf: of an interval, its lower end."""
        if not label.startswith("["):
            return label
        span = parse_span(label, kind=self.axis.kind)
        if span is None or span.low is None:
            return label
        return value_text(span.low, kind=self.axis.kind)


def _of_mask(mask: Leaves, *, whole: bool = True) -> CellLeaves:
    codes = np.flatnonzero(mask)
    first, last = int(codes[0]), int(codes[-1])
    run = last - first + 1 == len(codes)
    return CellLeaves(first, last, None if run else mask, whole)


def _lists(text: str) -> Iterator[list[str]]:
    """The ways to read a text as a list of values."""
    inside = text[1:-1] if text[:1] == "{" and text[-1:] == "}" else text
    for separator in SEPARATORS:
        if separator in inside or inside is not text:
            yield inside.split(separator)
