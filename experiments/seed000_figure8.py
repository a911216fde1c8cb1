"""Figures 8 to 12 of Boger 2020: what a weight on one column does to query errors.

    python experiments/seed000_figure8.py adult_train_32561.csv.gz [--draws 20] [--sweep]

Five groupings of Adult (K = 10, L = 5, θ = 0.3), one with equal weights and one with
weight 5 on each quasi-identifier, are swapped again and again; 1,000 random histogram
queries are answered on each. Printed is the relative error of equation 4 in percent,
as mean ± standard deviation over the draws. Queries are those of the published
program: 8 of 16 educations, 3 of 5 races, both sexes and 35 years, unless `--sweep`
varies one of them at a time.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import sfumato as sf
from sfumato.io.read import read_source

QUASI = ("race", "education", "sex", "age")
SENSITIVE = "occupation"
SELECTED = {"race": 3, "education": 8, "sex": 2, "age": 35}
SWEEP = {
    "race": (1, 2, 3, 4, 5),
    "education": (1, 2, 4, 6, 8, 12, 16),
    "sex": (1, 2),
    "age": (2, 5, 10, 20, 35, 50, 70),
}
QUERIES = 1000
WEIGHT = 5.0
REQUIRE = (
    {"model": "group-size", "k": 10},
    {"model": "l-diversity", "l": 5},
    {"model": "theta-diversity", "theta": 0.3},
)

Counts = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]


def grouping(source: pa.Table, favored: str | None) -> Codes:
    """The group of each row, with a weight on one column or on none."""
    release = sf.anonymize(
        source,
        quasi=list(QUASI),
        sensitive=[SENSITIVE],
        weights={favored: WEIGHT} if favored else {},
        require=list(REQUIRE),
        algorithm={"name": "klt", "variant": "boger-2020"},
        publish={"operator": "swap"},
    )
    return release.outcome.proven.group_of.astype(np.int64)


def coded(source: pa.Table, name: str) -> tuple[Codes, int]:
    """A column as codes, and how many values it has."""
    values, codes = np.unique(source[name].to_numpy(), return_inverse=True)
    return codes.astype(np.int64), len(values)


class Adult:
    """The table in codes: distinct tuples, and the occupations of each."""

    def __init__(self, source: pa.Table) -> None:
        columns = [coded(source, name) for name in QUASI]
        self.sizes = {n: size for n, (_, size) in zip(QUASI, columns, strict=True)}
        points = np.column_stack([codes for codes, _ in columns])
        self.tuples, self.tuple_of = np.unique(points, axis=0, return_inverse=True)
        self.values, self.kinds = coded(source, SENSITIVE)

    def histograms(self, values: Codes) -> Counts:
        """(tuples, occupations): how often each occurs with each."""
        key = self.tuple_of.ravel() * self.kinds + values
        counts = np.bincount(key, minlength=len(self.tuples) * self.kinds)
        return counts.reshape(-1, self.kinds).astype(np.float64)

    def queries(
        self, generator: np.random.Generator, selected: Mapping[str, int]
    ) -> Counts:
        """(queries, tuples): which tuples each random query selects."""
        chosen = np.ones((QUERIES, len(self.tuples)))
        for place, name in enumerate(QUASI):
            allowed = self._allowed(generator, name, selected[name])
            chosen *= allowed[:, self.tuples[:, place]]
        return chosen

    def _allowed(self, generator: np.random.Generator, name: str, count: int) -> Counts:
        size = self.sizes[name]
        if name == "age":
            first = generator.integers(0, size - count + 1, QUERIES)[:, None]
            codes = np.arange(size)[None, :]
            return ((codes >= first) & (codes < first + count)).astype(np.float64)
        drawn = generator.random((QUERIES, size)).argsort(axis=1) < count
        return drawn.astype(np.float64)


def swapped(adult: Adult, groups: Codes, generator: np.random.Generator) -> Codes:
    """The occupations, permuted at random within groups."""
    rows = len(groups)
    places = np.argsort(groups, kind="stable")
    drawn = np.lexsort((generator.random(rows), groups))
    values = np.empty(rows, dtype=np.int64)
    values[places] = adult.values[drawn]
    return values


def error(found: Counts, true: Counts) -> float:
    """The sum of χ² over all queries (equations 1 to 3)."""
    both = found + true
    return float(np.sum((found - true) ** 2 / np.where(both > 0, both, 1.0)))


def relative_errors(
    adult: Adult,
    groupings: Mapping[str, Codes],
    selected: Mapping[str, int],
    draws: int,
) -> dict[str, Counts]:
    """Per table, 100 × its error over that of the base table, for each draw."""
    found: dict[str, list[float]] = {name: [] for name in groupings}
    original = adult.histograms(adult.values)
    for draw in range(draws):
        generator = np.random.default_rng([2020, draw])
        chosen = adult.queries(generator, selected)
        true = chosen @ original
        errors = {
            name: error(
                chosen @ adult.histograms(swapped(adult, groups, generator)), true
            )
            for name, groups in groupings.items()
        }
        for name in groupings:
            found[name].append(100 * errors[name] / max(errors["base"], 1.0))
    return {name: np.array(values) for name, values in found.items()}


def lines(found: Mapping[str, Counts]) -> Iterator[str]:
    """One line for each table."""
    for name, values in found.items():
        spread = values.std(ddof=1) if len(values) > 1 else 0.0
        yield f"{name:<10} {values.mean():6.1f} ± {spread:.1f}"


def say(*texts: str) -> None:
    """Write lines."""
    sys.stdout.writelines(f"{text}\n" for text in texts)


def main() -> None:
    """Print figure 8 and, with --sweep, figures 9 to 12."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=Path)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--sweep", action="store_true")
    arguments = parser.parse_args()
    source = read_source(arguments.table).select([*QUASI, SENSITIVE])
    adult = Adult(source)
    groupings = {
        name: grouping(source, None if name == "base" else name)
        for name in ("base", *QUASI)
    }
    say("Figure 8, relative error in percent")
    found = relative_errors(adult, groupings, SELECTED, arguments.draws)
    say(*lines(found))
    for name, counts in SWEEP.items() if arguments.sweep else ():
        say(f"\nSelecting by {name}: its own table, of 100 for the base table")
        pair = {"base": groupings["base"], name: groupings[name]}
        for count in counts:
            selected = {**SELECTED, name: count}
            found = relative_errors(adult, pair, selected, arguments.draws)
            values = found[name]
            share = 100 * count / adult.sizes[name]
            spread = values.std(ddof=1) if len(values) > 1 else 0.0
            say(f"{share:5.0f} %  {values.mean():6.1f} ± {spread:.1f}")


if __name__ == "__main__":
    main()
