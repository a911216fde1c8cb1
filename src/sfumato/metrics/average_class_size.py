"""Average class size C_AVG (LeFevre et al. 2006)."""

from __future__ import annotations

from typing import ClassVar

from sfumato.metrics.base import Metric, MetricInput


class AverageClassSize(Metric):
    """Average class size C_AVG (LeFevre et al. 2006): 1 is the best possible."""

    name: ClassVar[str] = "average_class_size"
    sentence: ClassVar[str] = "Published rows per group, divided by k."
    reads_losses: ClassVar[bool] = False

    def measure(self, outcome: MetricInput) -> float:
        groups = len(outcome.published_sizes)
        return outcome.rows_out / groups / outcome.k if groups else 0.0
