"""Discernibility metric DM (Bayardo and Agrawal 2005)."""

from __future__ import annotations

from typing import ClassVar

from sfumato.metrics.base import Metric, MetricInput


class Discernibility(Metric):
    """Discernibility metric DM (Bayardo and Agrawal 2005)."""

    name: ClassVar[str] = "discernibility"
    sentence: ClassVar[str] = (
        "Sum of squared group sizes, plus all rows for each suppressed one."
    )
    reads_losses: ClassVar[bool] = False

    def measure(self, outcome: MetricInput) -> float:
        return float(
            (outcome.published_sizes**2).sum() + outcome.rows_in * outcome.suppressed
        )
