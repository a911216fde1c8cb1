"""What metrics share that compare the moments of each column of numbers."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from sfumato.metrics.base import ComparisonMetric, Measured, Need
from sfumato.metrics.common.compared_tables import ComparedTables
from sfumato.metrics.common.moments import before_and_after

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
