"""The chance that a record is found, by the prosecutor, the journalist and the marketer.

The *prosecutor* knows that a person is in the table, and picks among the f people of
the person's group: 1 / f. The *journalist* knows only that the person is in the
population, and picks among the F people of the population who match the group: 1 / F.
The *marketer* links everybody, and counts right links: the mean of 1 / F.
Reference: El Emam, Guide to the De-Identification of Personal Health Information (2013).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.data.arrays import Codes, Counts, Floats, Ints
from sfumato.risk.figures.thresholds import shares_above
from sfumato.risk.figures.weighted_risk import individual_risk


@dataclass(frozen=True, eq=False, kw_only=True)
class RecordRisks:
    """The risk of each record of a table; private, as it is about single people."""

    prosecutor: Floats
    journalist: Floats | None
    """None where nothing is known about the population."""

    @property
    def marketer(self) -> float:
        """The share of records that linking everybody would find."""
        risks = self.prosecutor if self.journalist is None else self.journalist
        return float(risks.mean()) if len(risks) else 0.0

    def summary(self) -> dict[str, Any]:
        """The risks in short: the highest, the mean, and who is above which threshold."""
        found: dict[str, Any] = {"prosecutor": summarize(self.prosecutor)}
        if self.journalist is not None:
            found["journalist"] = summarize(self.journalist)
        return found | {"marketer": self.marketer}


def summarize(risks: Floats) -> dict[str, Any]:
    """The highest and the mean risk, and the share of records above each threshold."""
    return {
        "highest": float(risks.max(initial=0.0)),
        "mean": float(risks.mean()) if len(risks) else 0.0,
        "above": shares_above(risks),
    }


def record_risks(
    groups: Codes | Ints,
    *,
    subjects: Codes | None = None,
    population: Counts | None = None,
    fraction: float | None = None,
    weights: Floats | None = None,
) -> RecordRisks:
    """The risks of the records of a table.

    `groups` is the group of each row, `subjects` the person behind it (every row is
    a person of its own where left out). What is known about the population: for each
    group the people who match it (`population`), the sampling weight of each row, or
    the share of the population that is in the table (`fraction`); the first that is
    given counts.
    """
    sizes = people(groups, subjects)
    of_row = sizes[groups] if len(groups) else sizes
    journalist = None
    if population is not None:
        matching = np.maximum(population[groups], of_row)
        journalist = 1.0 / matching
    elif weights is not None:
        summed = np.bincount(groups, weights=weights, minlength=len(sizes))
        journalist = individual_risk(sizes, summed.astype(np.float64))[groups]
    elif fraction is not None:
        journalist = np.minimum(fraction / of_row, 1.0)
    return RecordRisks(prosecutor=1.0 / of_row, journalist=journalist)


def people(groups: Codes | Ints, subjects: Codes | None) -> Counts:
    """How many people each group holds."""
    if subjects is None:
        return np.bincount(groups).astype(np.int64)
    span = int(subjects.max(initial=0)) + 1
    pairs = np.unique(groups.astype(np.int64) * span + subjects)
    return np.bincount(pairs // span).astype(np.int64)


def sample_uniques(groups: Codes | Ints, subjects: Codes | None = None) -> int:
    """How many groups hold a single person."""
    return int((people(groups, subjects) == 1).sum())


def household_risks(risks: Floats, households: Codes) -> Floats:
    """For each record, the chance that anybody of its household is found.

    The members are found independently of each other: 1 − Π (1 − risk).
    """
    safe = np.log1p(-np.minimum(risks, 1.0 - 1e-15))
    together = np.bincount(households, weights=safe)
    # A member who is surely found gives the whole household away.
    sure = np.bincount(households, weights=risks >= 1.0) > 0
    return np.where(sure, 1.0, -np.expm1(together))[households]
