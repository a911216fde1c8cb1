"""Which leaves of an axis a published cell stands for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies.axis import STAR, Axis
from sfumato.hierarchies.labels import parse_interval, parse_set

Leaves = npt.NDArray[np.bool_]


def cover_matrix(axis: Axis, texts: Sequence[str | None]) -> Leaves:
    """(texts, leaves): whether each published text may stand for each leaf.

    A text that is no leaf, node, interval, set or `*` of the axis covers nothing; None
    is the missing cell and covers the missing leaf alone.
    """
    reader = _Reader(axis)
    rows = [reader.leaves(text) for text in texts]
    return np.array(rows, dtype=np.bool_).reshape(len(texts), axis.size)


class _Reader:
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
        interval = parse_interval(text, kind=self.axis.kind)
        if interval is None:
            return self._only([])
        above = self.axis.positions >= interval.low
        below = self.axis.positions <= interval.high
        if not interval.closed:
            below = self.axis.positions < interval.high
        return np.asarray(above & below, dtype=np.bool_)

    def _only(self, codes: Sequence[int]) -> Leaves:
        mask = np.zeros(self.axis.size, dtype=np.bool_)
        mask[list(codes)] = True
        return mask
