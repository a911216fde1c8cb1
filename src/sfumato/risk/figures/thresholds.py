"""Risk thresholds that regulators and practice use, each with its source."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.data.arrays import Floats

SLACK = 1e-12
"""A risk that equals a threshold is not above it."""


@dataclass(frozen=True)
class Threshold:
    """A named limit on the chance that a person's record is found."""

    name: str
    risk: float
    source: str


THRESHOLDS = (
    Threshold(
        "0.09",
        0.09,
        "European Medicines Agency, external guidance on Policy 0070 (2016); Health "
        "Canada, guidance on the public release of clinical information (2019)",
    ),
    Threshold(
        "k = 11",
        1 / 11,
        "US Centers for Medicare & Medicaid Services, cell size suppression policy: "
        "no cell below 11",
    ),
    Threshold(
        "k = 5",
        1 / 5,
        "the usual smallest cell of health data custodians (El Emam and Dankar 2008)",
    ),
    Threshold(
        "k = 3",
        1 / 3,
        "the rule of three (US Federal Committee on Statistical Methodology, Working "
        "Paper 22)",
    ),
)


def shares_above(risks: Floats) -> dict[str, float]:
    """The share of records whose risk is above each named threshold."""
    return {
        each.name: float(np.mean(risks > each.risk + SLACK)) if len(risks) else 0.0
        for each in THRESHOLDS
    }
