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
from sfumato.publish.generalize import extent_of, number_text

NUMBERS = ("mean", "median", "mode")

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Microaggregate(CellOperator):
    """Every row of a group shows the group's mean, median or most frequent value.

    Guarantee: all rows of a group show the same cells, so that k-anonymity and all
    models on groups apply. Cells keep their type and look like source values.
    Method: numbers and dates show the group's mean, median (the lower of two) or mode,
    categories the most frequent value, the first in the order of codes of several.
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
        labels = self._labels(coded, material.grouping)
        return Shown({coded.name: labels.array()}, extent.ncp(), extent.loss())

    def _labels(self, coded: CodedAxis, grouping: Grouping) -> Labels:
        axis = coded.axis
        if axis.kind.numeric and self.numbers == "mean":
            return _texts(coded, means(coded, grouping))
        if axis.kind.numeric and self.numbers == "median":
            return _texts(coded, medians(coded, grouping))
        chosen = modes(coded, grouping)
        index = np.where(chosen >= 0, chosen, axis.size).astype(np.int32)
        return Labels([*axis.labels, None], index)


def _texts(coded: CodedAxis, numbers: Floats) -> Labels:
    """Numbers as the cells of groups, written as the column writes them."""
    kind = coded.axis.kind
    distinct, index = np.unique(numbers, return_inverse=True)
    texts = [number_text(kind, number) for number in distinct]
    return Labels(texts, index.astype(np.int32))


def _known(
    coded: CodedAxis, grouping: Grouping
) -> tuple[Floats, npt.NDArray[np.int32]]:
    """The known numbers of kept rows, and the group of each."""
    numbers = np.asarray(coded.axis.positions)[coded.codes]
    known = grouping.kept & ~np.isnan(numbers)
    return numbers[known], grouping.group_of[known]


def means(coded: CodedAxis, grouping: Grouping) -> Floats:
    """The mean of each group's known numbers, NaN if there is none."""
    numbers, owner = _known(coded, grouping)
    sums = np.bincount(owner, weights=numbers, minlength=grouping.count)
    counts = np.bincount(owner, minlength=grouping.count)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def medians(coded: CodedAxis, grouping: Grouping) -> Floats:
    """The lower median of each group's known numbers, NaN if there is none."""
    numbers, owner = _known(coded, grouping)
    order = np.lexsort((numbers, owner))
    counts = np.bincount(owner, minlength=grouping.count)
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    result = np.full(grouping.count, np.nan)
    some = counts > 0
    middle = first[some] + (counts[some] - 1) // 2
    result[some] = numbers[order][middle]
    return result


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
