"""What each group covers on one axis, and what a cell that shows it costs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Codes, Floats
from sfumato.data.distinct_keys import ranked_keys
from sfumato.data.grouping import Grouping
from sfumato.hierarchies.axis import Axis, CodedAxis, Shape

WORD = 64


@dataclass(frozen=True, eq=False)
class Extent:
    """The codes that each group covers on one axis."""

    coded: CodedAxis
    grouping: Grouping
    level: npt.NDArray[np.int16] | None = None
    """The level at which each group is shown, where the algorithm says so."""
    chosen: npt.NDArray[np.int32] | None = None
    """The node that each group shows, where the algorithm says so."""
    hidden: npt.NDArray[np.bool_] | None = None
    """Groups that do not show their value although all their rows share it."""

    @classmethod
    def of(cls, coded: CodedAxis, grouping: Grouping, index: int) -> Extent:
        """What the groups cover on quasi-identifier `index`."""
        levels, nodes, hidden = grouping.levels, grouping.nodes, grouping.hidden
        return cls(
            coded,
            grouping,
            None if levels is None else levels[:, index],
            None if nodes is None else nodes[:, index],
            None if hidden is None else hidden[:, index],
        )

    @cached_property
    def bounds(self) -> tuple[Codes, Codes]:
        """Lowest and highest code of each group."""
        # Imported late: checking a table must not load the compiler.
        from sfumato.kernels.common.group_boxes import group_bounds

        low, high = group_bounds(
            self.grouping.group_of, self.coded.codes, self.grouping.count
        )
        return low, high

    @property
    def single(self) -> npt.NDArray[np.bool_]:
        """Whether the group has one value only, and shows it."""
        shown = self._agreed
        return shown if self.hidden is None else shown & ~self.hidden

    @property
    def _agreed(self) -> npt.NDArray[np.bool_]:
        if self.chosen is not None:
            return self.chosen < self.coded.axis.size
        low, high = self.bounds
        return np.asarray(low == high if self.level is None else self.level == 0)

    @cached_property
    def nodes(self) -> Codes:
        """The node each group shows on a tree axis, or at its level on any axis."""
        nodes = self._nodes
        if self.hidden is None or not self.hidden.any():
            return nodes
        # Rows that differ show the node over all of them, hidden or not.
        axis, hidden = self.coded.axis, np.flatnonzero(self.hidden & self._agreed)
        return _with(nodes, hidden, _above(axis, nodes[hidden], self.bounds[0][hidden]))

    @property
    def _nodes(self) -> Codes:
        if self.chosen is not None:
            return self.chosen
        low, high = self.bounds
        if self.level is None:
            return self.coded.axis.covering(low, high)
        return self.coded.axis.levels[self.level, low]

    @cached_property
    def sets(self) -> tuple[Codes, list[tuple[int, ...]]]:
        """A set number per group, and the codes of each distinct set, ascending."""
        axis = self.coded.axis
        if axis.size <= WORD:
            from sfumato.kernels.common.group_boxes import group_masks

            masks = group_masks(
                self.grouping.group_of, self.coded.codes, self.grouping.count
            )
            distinct, index = ranked_keys(masks)
            return index.astype(np.int32), [_bits(int(mask)) for mask in distinct]
        return _sparse_sets(self.coded.codes, self.grouping)

    @cached_property
    def set_sizes(self) -> npt.NDArray[np.int64]:
        """How many values each group shows on a flat axis."""
        index, sets = self.sets
        return np.array([len(codes) for codes in sets], dtype=np.int64)[index]

    @property
    def shown_values(self) -> Codes:
        """The code of the value that each group shows, −1 where it shows none."""
        if self.coded.axis.shape is Shape.FLAT and not self.by_node:
            index, sets = self.sets
            alone = [codes[0] if len(codes) == 1 else -1 for codes in sets]
            found = np.array(alone, dtype=np.int32)[index]
        else:
            low, high = self.bounds
            found = np.where(low == high, low, -1).astype(np.int32)
        return np.where(self._open, found, -1).astype(np.int32)

    @property
    def _open(self) -> npt.NDArray[np.bool_]:
        """Which groups show a value if all their rows share it."""
        shown = np.ones(self.grouping.count, dtype=np.bool_)
        if self.level is not None:
            shown &= self.level == 0
        if self.chosen is not None:
            shown &= self.chosen < self.coded.axis.size
        if self.hidden is not None:
            shown &= ~self.hidden
        return shown

    @property
    def by_node(self) -> bool:
        """Whether the groups show nodes: a tree axis, or levels or nodes given."""
        given = self.level is not None or self.chosen is not None
        return self.coded.axis.shape is Shape.TREE or given

    def ncp(self) -> Floats:
        """NCP of each group's cell."""
        axis = self.coded.axis
        if self.by_node:
            return axis.node_ncp[self.nodes]
        if axis.shape is Shape.FREE:
            return self._with_hidden(axis.interval_ncp(*self.bounds))
        return self._with_hidden(axis.set_ncp(self.set_sizes))

    def loss(self) -> Floats:
        """Generalized loss of each group's cell."""
        axis = self.coded.axis
        if self.by_node:
            return axis.node_loss[self.nodes]
        if axis.shape is Shape.FREE:
            return self._with_hidden(axis.interval_ncp(*self.bounds))
        return self._with_hidden(axis.set_loss(self.set_sizes))

    def _with_hidden(self, losses: Floats) -> Floats:
        """Return losses of cells, with the full loss for hidden ones."""
        return losses if self.hidden is None else np.where(self.hidden, 1.0, losses)


def _above(axis: Axis, nodes: Codes, leaves: Codes) -> Codes:
    """The lowest node over each leaf whose label differs from the one shown."""
    names = np.array(axis.node_labels, dtype=object)
    result = np.full(len(nodes), axis.root, dtype=np.int32)
    for level in range(axis.height - 1, 0, -1):
        at_level = axis.levels[level, leaves]
        other = names[at_level] != names[nodes]
        result[other] = at_level[other]
    return result


def _with(nodes: Codes, places: npt.NDArray[np.int64], changed: Codes) -> Codes:
    copy = nodes.copy()
    copy[places] = changed
    return copy


def _bits(mask: int) -> tuple[int, ...]:
    return tuple(bit for bit in range(mask.bit_length()) if mask >> bit & 1)


def _sparse_sets(
    codes: Codes, grouping: Grouping
) -> tuple[Codes, list[tuple[int, ...]]]:
    kept = grouping.kept
    width = int(codes.max(initial=0)) + 1
    keys = np.unique(grouping.group_of[kept].astype(np.int64) * width + codes[kept])
    owners, values = keys // width, keys % width
    starts = np.searchsorted(owners, np.arange(grouping.count + 1))
    known: dict[tuple[int, ...], int] = {}
    index = np.empty(grouping.count, dtype=np.int32)
    for group in range(grouping.count):
        members = tuple(values[starts[group] : starts[group + 1]].tolist())
        index[group] = known.setdefault(members, len(known))
    return index, list(known)
