"""Generalized information loss (Iyengar 2002): (leaves − 1) / (all leaves − 1)."""

from __future__ import annotations

from typing import ClassVar

from sfumato.metrics.base import Metric, MetricInput


class GeneralizedLoss(Metric):
    """Generalized information loss (Iyengar 2002): (leaves − 1) / (all leaves − 1)."""

    name: ClassVar[str] = "generalized_loss"
    sentence: ClassVar[str] = (
        "Mean share of other values that a cell could stand for, 0 to 1."
    )

    def measure(self, outcome: MetricInput) -> float:
        return outcome.mean_cell(outcome.loss)
