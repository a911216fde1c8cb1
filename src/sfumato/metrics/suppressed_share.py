"""Rows left out, as a share of the source."""

from __future__ import annotations

from typing import ClassVar

from sfumato.metrics.base import Metric, MetricInput


class SuppressedShare(Metric):
    """Rows left out, as a share of the source."""

    name: ClassVar[str] = "suppressed_share"
    sentence: ClassVar[str] = "Share of the rows that are not published."
    reads_losses: ClassVar[bool] = False

    def measure(self, outcome: MetricInput) -> float:
        return outcome.suppressed / outcome.rows_in if outcome.rows_in else 0.0
