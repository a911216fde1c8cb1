"""Normalized certainty penalty as the mean over all source cells (Xu et al. 2006)."""

from __future__ import annotations

from typing import ClassVar

from sfumato.metrics.base import Metric, MetricInput


class Ncp(Metric):
    """Normalized certainty penalty, the mean over all source cells (Xu et al. 2006)."""

    name: ClassVar[str] = "ncp"
    sentence: ClassVar[str] = (
        "Mean share of its column that a cell leaves open, 0 to 1."
    )

    def measure(self, outcome: MetricInput) -> float:
        return outcome.mean_cell(outcome.ncp)
