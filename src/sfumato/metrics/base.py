"""What a utility metric is, and what it looks at."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False, kw_only=True)
class MetricInput:
    """A release in numbers: cell losses of groups, and sizes of published groups."""

    rows_in: int
    rows_out: int
    group_rows: npt.NDArray[np.int64]
    """Rows of each group of the grouping, beside `ncp` and `loss`."""
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
    """A named measure; lower means less lost."""

    name: ClassVar[str]
    sentence: ClassVar[str]

    @abstractmethod
    def measure(self, outcome: MetricInput) -> float:
        """The measure of a release."""
