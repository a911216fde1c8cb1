"""Generate the demo hospital: realistic correlations, no real people.

Age is correlated with occupation and diagnosis, sex with diagnosis, district with
ethnicity, diagnosis with length of stay and so with cost. Every draw comes from the
product's own stream of numbers (`sfumato.data.seeds`), so the rows are the same on
every machine and with every version of NumPy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.data.arrays import Floats, Ints
from sfumato.data.seeds import Seed
from sfumato.demo.hospital_lists import (
    AGE_BANDS,
    DIAGNOSES,
    DISTRICTS,
    ETHNICITIES,
    FAMILY_NAMES,
    FEMALE_NAMES,
    MALE_NAMES,
    ONLY,
)

ROWS = 3000
"""Rows of the demo table."""
YEAR_START = np.datetime64("2024-01-01", "D")
YEAR_DAYS = 366
MISSING_SHARE: Mapping[str, float] = {
    "zip": 0.005,
    "ethnicity": 0.012,
    "occupation": 0.01,
}
"""How many cells of a column are left empty."""

StringArray = npt.NDArray[np.str_]


def hospital(*, rows: int = ROWS, seed: int = 1) -> pa.Table:
    """A table of hospital stays, the same for the same `rows` and `seed`."""
    draws = Seed.guessable(seed).child("demo")
    band = _pick(draws.child("band"), rows, [b.share for b in AGE_BANDS])
    woman = draws.child("sex").uniform(rows) < 0.53
    admitted = YEAR_START + _below(draws.child("admission"), rows, YEAR_DAYS)
    age_days = _ages(draws.child("age"), band)
    diagnosis = _diagnoses(draws.child("diagnosis"), band, woman)
    district = _pick(draws.child("district"), rows, [d.share for d in DISTRICTS])
    columns = {
        "name": _names(draws.child("name"), woman),
        "birth_date": admitted - age_days,
        "sex": np.where(woman, "F", "M"),
        "zip": _zips(draws.child("zip"), district),
        "ethnicity": _ethnicities(draws.child("ethnicity"), district),
        "occupation": _occupations(draws.child("occupation"), band),
        "admission_date": admitted,
        "diagnosis": np.array([d.name for d in DIAGNOSES])[diagnosis],
        "cost": _costs(draws.child("cost"), diagnosis, age_days),
    }
    return _with_gaps(draws.child("missing"), columns)


def _pick(seed: Seed, count: int, weights: Sequence[float]) -> Ints:
    """`count` indices, drawn with these weights."""
    return _pick_each(seed, np.tile(np.asarray(weights, dtype=float), (count, 1)))


def _pick_each(seed: Seed, weights: Floats) -> Ints:
    """One index per row of `weights`, drawn with the weights of that row."""
    edges = np.cumsum(weights, axis=1)
    points = seed.uniform(len(weights))[:, None] * edges[:, -1:]
    chosen: Ints = (points >= edges).sum(axis=1)
    return chosen


def _below(seed: Seed, count: int, limit: int) -> Ints:
    return (seed.uniform(count) * limit).astype(np.int64)


def _ages(seed: Seed, band: Ints) -> npt.NDArray[np.timedelta64]:
    first = np.array([b.first for b in AGE_BANDS])[band] * 365.25
    last = (np.array([b.last for b in AGE_BANDS])[band] + 1) * 365.25
    days = np.floor(first + seed.uniform(len(band)) * (last - first))
    return days.astype("timedelta64[D]")


def _names(seed: Seed, woman: npt.NDArray[np.bool_]) -> StringArray:
    count = len(woman)
    female = _any(seed.child("female"), count, FEMALE_NAMES)
    male = _any(seed.child("male"), count, MALE_NAMES)
    family = _any(seed.child("family"), count, FAMILY_NAMES)
    given = np.where(woman, female, male)
    return np.char.add(np.char.add(given, " "), family)


def _any(seed: Seed, count: int, values: Sequence[str]) -> StringArray:
    return np.array(values)[_below(seed, count, len(values))]


def _zips(seed: Seed, district: Ints) -> StringArray:
    """A zip code of each row's district; the first ones are the largest."""
    longest = max(len(d.zips) for d in DISTRICTS)
    codes = np.array([d.zips + ("",) * (longest - len(d.zips)) for d in DISTRICTS])
    weights = (codes != "") / np.arange(2, longest + 2)
    return codes[district, _pick_each(seed, weights[district])]


def _ethnicities(seed: Seed, district: Ints) -> StringArray:
    weights = np.array([d.ethnicity for d in DISTRICTS])
    return np.array(ETHNICITIES)[_pick_each(seed, weights[district])]


def _occupations(seed: Seed, band: Ints) -> StringArray:
    names = sorted({name for b in AGE_BANDS for name, _ in b.occupations})
    weights = np.array(
        [[dict(b.occupations).get(name, 0.0) for name in names] for b in AGE_BANDS]
    )
    return np.array(names)[_pick_each(seed, weights[band])]


def _diagnoses(seed: Seed, band: Ints, woman: npt.NDArray[np.bool_]) -> Ints:
    by_band = np.array([d.weights for d in DIAGNOSES], dtype=float).T
    ratio = np.array([d.women for d in DIAGNOSES])
    finite = np.where(ratio == ONLY, 1.0, ratio)
    for_women = np.where(ratio == ONLY, 2.0, 2.0 * finite / (1.0 + finite))
    for_men = 2.0 - for_women
    factors = np.where(woman[:, None], for_women, for_men)
    return _pick_each(seed, by_band[band] * factors)


def _costs(
    seed: Seed, diagnosis: Ints, age_days: npt.NDArray[np.timedelta64]
) -> Floats:
    """Days times daily cost; the old stay longer."""
    usual = np.array([d.days for d in DIAGNOSES])[diagnosis]
    daily = np.array([d.daily for d in DIAGNOSES])[diagnosis]
    years = age_days.astype(np.int64) / 365.25
    spread = np.exp(0.45 * _bell(seed.child("days"), len(diagnosis)))
    stay = np.maximum(1.0, np.round(usual * spread * (0.85 + years / 300)))
    noise = np.exp(0.18 * _bell(seed.child("daily"), len(diagnosis)))
    costs: Floats = np.round(stay * daily * noise, 2)
    return costs


def _bell(seed: Seed, count: int) -> Floats:
    """Nearly normal draws: twelve uniforms, exact in any arithmetic library."""
    sums: Floats = seed.uniform(12 * count).reshape(12, count).sum(axis=0)
    return sums - 6.0


def _with_gaps(seed: Seed, columns: Mapping[str, npt.NDArray[np.generic]]) -> pa.Table:
    arrays = {}
    for name, values in columns.items():
        share = MISSING_SHARE.get(name, 0.0)
        gaps = seed.child(name).uniform(len(values)) < share
        arrays[name] = pa.array(values, mask=gaps)
    return pa.table(arrays)
