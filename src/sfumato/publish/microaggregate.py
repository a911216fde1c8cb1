"""Microaggregate: every group shows one representative value per column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from sfumato.data.grouping import Grouping
from sfumato.errors import PolicyError
from sfumato.hierarchies.axis import CodedAxis
from sfumato.publish.base import CellOperator, Labels, Material, Shown
from sfumato.publish.bounds_and_means import Members
from sfumato.publish.generalize import extent_of

NUMBERS = ("mean", "median", "mode")


@dataclass(frozen=True, kw_only=True)
class Microaggregate(CellOperator):
    """Every row of a group shows the group's mean, median or most frequent value.

    Guarantee: all rows of a group show the same cells, so that k-anonymity and all
    models on groups apply. Cells keep their type and look like source values.
    Method: numbers and dates show the group's mean, median (the lower of two) or mode,
    categories the most frequent value (of equally frequent ones, the first in the order
    of codes).
    Missing cells do not count; where a group has nothing else, the cell is missing.
    Limits: not truthful: a cell need not be the value of any row, and a group of
    unlike rows shows a value that none of them is near. Losses are those of
    `generalize` on the same grouping. A mean can be that of two groups, which a
    recipient then sees as one.
    Reference: Domingo-Ferrer and Mateo-Sanz 2002.
    """

    name: ClassVar[str] = "microaggregate"
    sentence: ClassVar[str] = (
        "Each group shows its mean, median or most frequent value."
    )

    numbers: Literal["mean", "median", "mode"] = "mean"
    """What stands for the numbers and dates of a group; of two medians, the
    lower."""

    def __post_init__(self) -> None:
        if self.numbers not in NUMBERS:
            listed = ", ".join(f'"{each}"' for each in NUMBERS)
            raise PolicyError(
                f'publish.numbers is "{self.numbers}".',
                hint=f"Choose one of {listed}.",
            )

    def show(self, material: Material, index: int) -> Shown:
        extent = extent_of(material, index)
        coded = material.quasi[index]
        losses = extent.ncp(), extent.loss()
        if coded.axis.kind.numeric and self.numbers == "mean":
            means = _distinct(Members(coded, material.grouping).means())
            return Shown({coded.name: means.array()}, *losses)
        leaves = self._leaves(coded, material.grouping)
        labels = Labels([*coded.axis.labels, None], leaves)
        return Shown({coded.name: labels.array()}, *losses, {coded.name: leaves})

    def _leaves(self, coded: CodedAxis, grouping: Grouping) -> npt.NDArray[np.int32]:
        """The leaf that each group shows; one more than there are where it has none."""
        if coded.axis.kind.numeric and self.numbers == "median":
            chosen = Members(coded, grouping).medians()
        else:
            chosen = modes(coded, grouping).astype(np.int32)
        return np.where(chosen >= 0, chosen, coded.axis.size).astype(np.int32)


def _distinct(texts: list[str | None]) -> Labels:
    """Texts of groups, each written once."""
    place: dict[str | None, int] = {}
    index = [place.setdefault(text, len(place)) for text in texts]
    return Labels(list(place), np.array(index, dtype=np.int32))


def modes(coded: CodedAxis, grouping: Grouping) -> npt.NDArray[np.int64]:
    """The most frequent code of each group, −1 where all cells are missing."""
    axis = coded.axis
    kept = grouping.kept & (coded.codes != axis.missing)
    keys = grouping.group_of[kept].astype(np.int64) * axis.size + coded.codes[kept]
    present, counts = np.unique(keys, return_counts=True)
    owner, code = present // axis.size, present % axis.size
    order = np.lexsort((code, -counts, owner))
    first = np.flatnonzero(np.diff(owner[order], prepend=-1))
    result = np.full(grouping.count, -1, dtype=np.int64)
    result[owner[order][first]] = code[order][first]
    return result
