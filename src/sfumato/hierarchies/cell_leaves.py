"""Which leaves of an axis a published cell stands for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies.axis import STAR, Axis
from sfumato.hierarchies.exact_numbers import Line
from sfumato.hierarchies.labels import Span, parse_exact, parse_set, parse_span

Leaves = npt.NDArray[np.bool_]


def cover_matrix(axis: Axis, texts: Sequence[str | None]) -> Leaves:
    """(texts, leaves): whether each published text may stand for each leaf.

    A text that is no leaf, node, interval, set or `*` of the axis covers nothing; None
    is the missing cell and covers the missing leaf alone.
    """
    reader = _CellReader(axis)
    rows = [reader.leaves(text) for text in texts]
    return np.array(rows, dtype=np.bool_).reshape(len(texts), axis.size)


class _CellReader:
    """Reads texts against one axis, with its labels indexed once."""

    def __init__(self, axis: Axis) -> None:
        self.axis = axis
        self.leaf = {label: code for code, label in enumerate(axis.labels)}
        self.nodes: dict[str, list[int]] = {}
        for node, label in enumerate(axis.node_labels):
            self.nodes.setdefault(label, []).append(node)

    def leaves(self, text: str | None) -> Leaves:
        if text is None:
            return self._only([self.axis.missing] if self.axis.missing >= 0 else [])
        if text == STAR:
            return np.ones(self.axis.size, dtype=np.bool_)
        found = self._named(text)
        return found if found.any() else self._unnamed(text)

    def _named(self, text: str) -> Leaves:
        """The leaf of that label, or all leaves under nodes of that label."""
        if text in self.leaf:
            return self._only([self.leaf[text]])
        nodes = self.nodes.get(text, [])
        under: Leaves = np.isin(self.axis.levels, nodes).any(axis=0)
        return under

    def _unnamed(self, text: str) -> Leaves:
        members = parse_set(text)
        if members is not None:
            return self._only([self.leaf[m] for m in members if m in self.leaf])
        if self.axis.positions is None:
            return self._only([])
        span = parse_span(text, kind=self.axis.kind) or self._point(text)
        return self._only([]) if span is None else self._between(span)

    def _point(self, text: str) -> Span | None:
        """Read a number that is spelled differently from its leaf."""
        number = parse_exact(text, kind=self.axis.kind)
        return None if number is None else Span(number, number)

    def _between(self, span: Span) -> Leaves:
        inside = self._only([])
        inside[self.known] = self.line.inside(span)
        return inside

    @cached_property
    def known(self) -> npt.NDArray[np.int64]:
        """The leaves that are numbers."""
        return np.flatnonzero(~np.isnan(np.asarray(self.axis.positions)))

    @cached_property
    def line(self) -> Line:
        texts = [self.axis.labels[leaf] for leaf in self.known]
        floats = np.asarray(self.axis.positions)[self.known]
        return Line(self.axis.kind, texts, floats)

    def _only(self, codes: Sequence[int]) -> Leaves:
        mask = np.zeros(self.axis.size, dtype=np.bool_)
        mask[list(codes)] = True
        return mask
