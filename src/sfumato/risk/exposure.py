"""How exposed people are, in the original and in the published table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.data.arrays import Codes, Counts, Floats, Ints
from sfumato.risk.figures.population_uniqueness import PopulationUniqueness
from sfumato.risk.figures.reidentification import (
    RecordRisks,
    household_risks,
    people,
    record_risks,
    sample_uniques,
    summarize,
)
from sfumato.risk.figures.suda2 import suda2
from sfumato.risk.table_pair import Pair, PublishedForm


@dataclass(frozen=True, eq=False, kw_only=True)
class Exposed:
    """The records of a table, and how exposed each is; private."""

    groups: Codes
    subjects: Codes | None
    risks: RecordRisks
    household: Floats | None
    """For each record the chance that anybody of its household is found."""

    def summary(self, fraction: float | None) -> dict[str, Any]:
        """The figures of the whole table."""
        sizes = people(self.groups, self.subjects)
        found: dict[str, Any] = {
            "groups": len(sizes),
            "smallest_group": int(sizes.min(initial=len(self.groups))),
            "sample_uniques": sample_uniques(self.groups, self.subjects),
            **self.risks.summary(),
        }
        if self.household is not None:
            found["household"] = summarize(self.household)
        if fraction is not None:
            found["population_uniques"] = vars(PopulationUniqueness.of(sizes, fraction))
        return found


def exposure(
    pair: Pair,
    *,
    fraction: float | None = None,
    population: tuple[Counts, Counts] | None = None,
    households: Codes | None = None,
) -> dict[str, Exposed]:
    """The risk of being found by the quasi-identifiers, before and after publishing.

    `fraction` is the share of the population that is in the table; `population` has,
    for each group of the original and of the published table, the people who match it;
    `households` has the household of each row of the original.
    """
    before, after = (None, None) if population is None else population
    found = {
        "before": _exposed(
            pair.original_groups,
            (pair.subject, pair.weights, households),
            fraction,
            before,
        )
    }
    if pair.form is not PublishedForm.SYNTHETIC:
        known = (pair.subject, pair.weights, households)
        subject, weights, homes = (_of_published(pair, each) for each in known)
        found["after"] = _exposed(
            pair.cell_groups, (subject, weights, homes), fraction, after
        )
    return found


def special_uniques(pair: Pair, *, fraction: float | None = None) -> dict[str, Any]:
    """Find the records of the original that few columns single out (SUDA2)."""
    columns = {name: pair.original[name].codes for name in pair.quasi}
    more: Mapping[str, Any] = {} if fraction is None else {"fraction": fraction}
    return suda2(columns, **more).summary()


def _exposed(
    groups: Codes,
    known: tuple[Codes | None, Floats | None, Codes | None],
    fraction: float | None,
    population: Counts | None,
) -> Exposed:
    """The risks of records whose person, weight and household may be known."""
    subjects, weights, households = known
    risks = record_risks(
        groups,
        subjects=subjects,
        population=population,
        fraction=fraction,
        weights=weights,
    )
    household = None
    if households is not None:
        single = risks.prosecutor if risks.journalist is None else risks.journalist
        household = household_risks(single, households)
    return Exposed(groups=groups, subjects=subjects, risks=risks, household=household)


def _of_published(pair: Pair, of_rows: Any) -> Any:
    """What is known of original rows, for published rows; None where it is not."""
    if of_rows is None or pair.source_row is None:
        return None
    return of_rows[pair.source_row]


def named_rows(pair: Pair, numbers: Ints) -> float:
    """The share of published rows that the original row of their number could be.

    Numbers may count from 0 or from 1: the better of the two is taken.
    """
    names = (*pair.quasi, *pair.sensitive)
    shares = []
    for start in (0, 1):
        rows = numbers - start
        fits = (rows >= 0) & (rows < pair.rows)
        rows = np.clip(rows, 0, pair.rows - 1)
        for name in names:
            here, truth = pair.published[name], pair.original[name].codes[rows]
            fits &= here.reading.covers(here.codes, truth)
        shares.append(float(fits.mean()))
    return max(shares)
