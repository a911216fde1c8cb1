"""What a utility metric is, and what it looks at."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import isnan, nan
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sfumato.metrics.common.compared_tables import ComparedTables
from sfumato.metrics.common.moments import before_and_after


@dataclass(frozen=True, eq=False, kw_only=True)
class MetricInput:
    """A release in numbers: cell losses of groups, and sizes of published groups."""

    rows_in: int
    rows_out: int
    group_rows: npt.NDArray[np.int64]
    """Rows of each group of the grouping, parallel to `ncp` and `loss`."""
    ncp: npt.NDArray[np.float64]
    loss: npt.NDArray[np.float64]
    published_sizes: npt.NDArray[np.int64]
    """Rows of each distinct published tuple."""
    k: int
    """The k asked for, 1 if none."""

    @property
    def suppressed(self) -> int:
        return self.rows_in - self.rows_out

    def mean_cell(self, cells: npt.NDArray[np.float64]) -> float:
        """The mean over all source cells; each cell of a suppressed row counts 1."""
        columns = cells.shape[1]
        if self.rows_in == 0 or columns == 0:
            return 0.0
        kept = float((self.group_rows @ cells).sum())
        return (kept + self.suppressed * columns) / (self.rows_in * columns)


class Metric(ABC):
    """A named measure of a release, which its manifest publishes; lower means less lost."""

    name: ClassVar[str]
    sentence: ClassVar[str]
    reads_losses: ClassVar[bool] = True
    """Whether it reads the losses of cells. Only cells that hold the values of the
    original have them: no means, for example."""

    @abstractmethod
    def measure(self, outcome: MetricInput) -> float:
        """The measure of a release."""


class Need(StrEnum):
    """What a metric needs to know; the words end "needs …"."""

    COVERS = "cells that hold the values of the original"
    PEOPLE = "rows that stand for people of the original"
    ROWS = "to know which row is which"
    NUMBERS = "a column of numbers in both tables"
    SENSITIVE = "a sensitive column in both tables"

    def met(self, compared: ComparedTables) -> bool:
        """Whether a comparison has it."""
        return {
            Need.COVERS: compared.covers,
            Need.PEOPLE: compared.people,
            Need.ROWS: compared.source_row is not None,
            Need.NUMBERS: bool(compared.numbers),
            Need.SENSITIVE: bool(compared.sensitive),
        }[self]


@dataclass(frozen=True)
class Measured:
    """The figure of a metric, and what it is made of."""

    value: float
    parts: Mapping[str, Any] = field(default_factory=dict)
    """The same by column, by pair of columns (`age × sex`), or by value of a column."""

    @classmethod
    def mean(cls, parts: Mapping[str, float], *, none: float = 0.0) -> Measured:
        """The mean of the parts; `none` where there are none."""
        return cls(sum(parts.values()) / len(parts) if parts else none, parts)

    @classmethod
    def mean_of_known(cls, parts: Mapping[str, float]) -> Measured:
        """Return the mean of the parts that are numbers; NaN if there are none."""
        known = {name: part for name, part in parts.items() if not isnan(part)}
        return cls.mean(known, none=nan)


class ComparisonMetric(ABC):
    """A named measure that compares a release with its original; the result is private."""

    name: ClassVar[str]
    sentence: ClassVar[str]
    needs: ClassVar[frozenset[Need]] = frozenset()

    @abstractmethod
    def compare(self, compared: ComparedTables) -> Measured:
        """Compare a published table with its original."""


Moments = tuple[float, float]
"""Mean and variance."""


class NumberShift(ComparisonMetric):
    """The mean, over the columns of numbers, of how far their moments move."""

    needs: ClassVar[frozenset[Need]] = frozenset({Need.NUMBERS})

    def compare(self, compared: ComparedTables) -> Measured:
        return Measured.mean_of_known(
            {
                name: self.shift(*before_and_after(compared.columns[name]))
                for name in compared.numbers
            }
        )

    @staticmethod
    @abstractmethod
    def shift(before: Moments, after: Moments) -> float:
        """How far the moments of one column move."""
