"""Generalize: show each group's smallest node, interval or set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.data.cell_text import interval_text
from sfumato.data.distinct_keys import ranked_keys
from sfumato.data.number_grid import step_text
from sfumato.data.option_examples import OptionExamples
from sfumato.data.schema import Role
from sfumato.errors import PolicyError
from sfumato.hierarchies.axis import STAR, Axis, Shape
from sfumato.hierarchies.labels import set_item, set_of_items
from sfumato.publish.base import CellOperator, Labels, Material, Shown
from sfumato.publish.bounds_and_means import Members, bound_leaves, bound_texts
from sfumato.publish.group_spans import Extent

NUMBERS = ("interval", "bounds", "mean")
FLAT = ("set", "star")
BOUNDS = ("_from", "_to")
"""What the two bound columns of a quasi-identifier add to its name."""


@dataclass(frozen=True, kw_only=True)
class Generalize(CellOperator):
    """Every row of a group shows the same, truthful, coarser cell.

    Guarantee: a published cell contains the source value it stands for, at any
    magnitude (a mean is that of the group, to 15 digits or more).
    Method: on a tree axis the smallest node over the group, on a free axis the
    closed interval from its lowest to its highest value, on a flat axis the set of
    its values; or the node at the level the algorithm chose.
    Limits: says nothing about which rows were grouped; that is the algorithm's part.
    """

    name: ClassVar[str] = "generalize"
    sentence: ClassVar[str] = (
        "Each group shows the smallest hierarchy node, interval or set that covers it."
    )
    examples: ClassVar[OptionExamples] = (
        {"numbers": "bounds"},
        {"numbers": "mean"},
        {"flat": "star"},
    )
    limits_loss: ClassVar[bool] = True

    numbers: str = "interval"
    """How numbers and dates are shown: as an interval or node, as two bound columns
    (`age_from`, `age_to`), or as the group's mean."""
    flat: str = "set"
    """How categories without a hierarchy are shown: as a set, or as `*`."""

    def __post_init__(self) -> None:
        _one_of("numbers", self.numbers, NUMBERS)
        _one_of("flat", self.flat, FLAT)

    @property
    def shows_shared(self) -> bool:
        return self.numbers == "interval"

    @property
    def shows_covers(self) -> bool:
        return self.numbers == "interval"

    @property
    def shows_steps(self) -> bool:
        return self.numbers == "interval"

    @property
    def shows_smallest(self) -> bool:
        return self.numbers == "interval" and self.flat == "set"

    def own_names(
        self, roles: Mapping[str, Role], numeric: Callable[[str], bool]
    ) -> list[str]:
        if self.numbers != "bounds":
            return []
        quasi = [name for name, role in roles.items() if role is Role.QUASI]
        ends = [(name, name + end) for name in quasi for end in BOUNDS]
        return [end for name, end in ends if end in roles and numeric(name)]

    def show(self, material: Material, index: int) -> Shown:
        extent = extent_of(material, index)
        axis = extent.coded.axis
        ncp, loss = extent.ncp(), extent.loss()
        if axis.shape is Shape.FLAT and self.flat == "star":
            ncp = loss = (~extent.single).astype(np.float64)
        columns = self._columns(extent, axis)
        return Shown(columns, ncp, loss, self._leaves(extent))

    def _leaves(self, extent: Extent) -> dict[str, npt.NDArray[np.int32]]:
        """The leaves that columns show where they show nothing else."""
        axis = extent.coded.axis
        if axis.kind.numeric and self.numbers == "mean":
            return {}
        if axis.kind.numeric and self.numbers == "bounds":
            return bound_leaves(extent, [axis.name + end for end in BOUNDS])
        return exact_leaves(extent)

    def _columns(self, extent: Extent, axis: Axis) -> dict[str, pa.Array]:
        if axis.kind.numeric and self.numbers == "bounds":
            return _bound_columns(extent)
        if axis.kind.numeric and self.numbers == "mean":
            means = Members(extent.coded, extent.grouping).means()
            return {axis.name: pa.array(means, pa.string()).dictionary_encode()}
        return {axis.name: self.labels(extent).array()}

    def labels(self, extent: Extent) -> Labels:
        """The texts of groups where they are not shown as numbers."""
        axis = extent.coded.axis
        if extent.by_node:
            return Labels(texts_of(axis, axis.node_labels), extent.nodes)
        if self.flat == "star" and axis.shape is Shape.FLAT:
            return starred(extent)
        shown = _intervals(extent) if axis.shape is Shape.FREE else _sets(extent)
        return shown if extent.hidden is None else shown.starred(extent.hidden)


def extent_of(material: Material, index: int) -> Extent:
    """What each group covers on quasi-identifier `index`."""
    return material.extents[index]


def exact_leaves(extent: Extent) -> dict[str, npt.NDArray[np.int32]]:
    """The leaf of each group, where every group shows one."""
    # A step of a grid is no value of the source.
    if not extent.single.all() or extent.coded.axis.steps is not None:
        return {}
    leaves = extent.nodes if extent.by_node else extent.bounds[0]
    return {extent.coded.name: leaves}


def starred(extent: Extent) -> Labels:
    """The value where a group agrees, `*` where it does not."""
    axis = extent.coded.axis
    low, _ = extent.bounds
    index = np.where(extent.single, low, axis.size).astype(np.int32)
    return Labels([*texts_of(axis, axis.labels), STAR], index)


def texts_of(axis: Axis, labels: tuple[str, ...]) -> list[str | None]:
    """The texts of leaves or nodes; an empty missing mark is a missing cell."""
    unmarked = axis.missing >= 0 and axis.labels[axis.missing] == ""
    return [None if unmarked and label == "" else label for label in labels]


def _intervals(extent: Extent) -> Labels:
    axis = extent.coded.axis
    low, high = extent.bounds
    pairs, index = ranked_keys(low.astype(np.int64) * axis.size + high)
    texts = [_interval(axis, int(p // axis.size), int(p % axis.size)) for p in pairs]
    return Labels(texts, index.astype(np.int32))


def _interval(axis: Axis, low: int, high: int) -> str | None:
    if low == high:
        return axis.labels[low] or None
    if high == axis.missing:
        return STAR
    if axis.steps is not None:
        return step_text(axis.steps[low], axis.steps[high])
    return interval_text(axis.labels[low], axis.labels[high])


def _sets(extent: Extent) -> Labels:
    axis = extent.coded.axis
    index, sets = extent.sets
    single = texts_of(axis, axis.labels)
    within = [set_item(label) for label in axis.labels]
    texts = [
        single[codes[0]]
        if len(codes) == 1
        else set_of_items([within[code] for code in codes])
        for codes in sets
    ]
    return Labels(texts, index)


def _bound_columns(extent: Extent) -> dict[str, pa.Array]:
    axis = extent.coded.axis
    return {
        axis.name + end: pa.array(texts, pa.string()).dictionary_encode()
        for end, texts in zip(BOUNDS, bound_texts(extent), strict=True)
    }


def _one_of(option: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        listed = ", ".join(f'"{each}"' for each in allowed)
        raise PolicyError(
            f'publish.{option} is "{value}".', hint=f"Choose one of {listed}."
        )
