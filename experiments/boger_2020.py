"""Figures 8 to 12 of Boger 2020: does a distance fitted to queries help them?

Five groupings of Adult by `klt` with `variant = "boger-2020"`: all weights 1 (Base), and
weight 5 on one quasi-identifier each. Their sensitive values are swapped; random
histogram queries on occupation are put to all; errors are χ² in percent of Base's.

Usage: python -m experiments.boger_2020 [--draws 20] [--queries 1000]
       [--figure 8] [--out FILE]
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

import sfumato as sf
from benchmarks.sources import directory
from sfumato.algorithms.clustering.klt import Variant
from sfumato.data.grouping import Grouping
from sfumato.data.seeds import Seed
from sfumato.io.read import read_source
from sfumato.pipeline.code_table import coded_table, quasi_axes
from sfumato.pipeline.workload_tables import QueriedSource, queried_source
from sfumato.policy import Policy
from sfumato.publish.base import Material
from sfumato.publish.swap import Swap
from sfumato.workload.answer_errors import chi2
from sfumato.workload.answers import CollapsedTable, blocks
from sfumato.workload.queries import RandomQueries, Share, Workload
from sfumato.workload.queryable_tables import published

QUASI = ("race", "education", "sex", "age")
SENSITIVE = "occupation"
DEFAULT: dict[str, Share] = {"race": 3, "education": 8, "sex": 2, "age": 35}
"""The published program's; its text has about half of the values of each."""
PAPER = {"base": 100.0, "race": 95.3, "education": 99.2, "sex": 117.4, "age": 94.8}
STEPS = {
    "race": (1, 2, 3, 4, 5),
    "education": tuple(range(1, 17)),
    "sex": (1, 2),
    "age": (1, *range(5, 75, 5), 73),
}
HALF = {"race": 2.5, "education": 8, "sex": 1, "age": 36.5}
"""Half of the values of each column."""
FIGURES = {"9": "race", "10": "education", "11": "sex", "12": "age"}


@dataclass(frozen=True)
class Table:
    """One grouping of the source, to be swapped again and again."""

    material: Material

    def swapped(self, draw: int) -> pa.Table:
        """The table with its sensitive values swapped by one draw."""
        seed = Seed.guessable(draw)
        material = Material(
            table=self.material.table,
            quasi=self.material.quasi,
            grouping=self.material.grouping,
            rows=self.material.rows,
            seed=seed,
        )
        return Swap().publish(material).table


def policy(favored: str | None, *, variant: Variant = "boger-2020") -> Policy:
    """K = 10, L = 5, θ = 0.3; five times the weight for one column."""
    document = f"""
version = 1
unlisted = "drop"
require = [
    {{model = "group-size", k = 10}},
    {{model = "l-diversity", l = 5}},
    {{model = "theta-diversity", theta = 0.3}},
]
algorithm = {{name = "klt", variant = "{variant}"}}
publish = {{operator = "swap"}}
{_columns(favored)}
"""
    return Policy.parse(document)


def _columns(favored: str | None) -> str:
    lines = [
        f'[columns.{name}]\nrole = "quasi"\nweight = {5.0 if name == favored else 1.0}'
        for name in QUASI
    ]
    return "\n".join([*lines, f'[columns.{SENSITIVE}]\nrole = "sensitive"'])


def grouped(source: pa.Table, favored: str | None) -> Table:
    """Group the source; the release is proven on the way."""
    asked = policy(favored)
    proven = sf.anonymize(source, asked, seed=Seed.guessable(1))
    table = coded_table(asked, source)
    grouping = Grouping(proven.group_of, int(proven.group_of.max()) + 1)
    return Table(
        Material(
            table=table,
            quasi=quasi_axes(asked, table, None),
            grouping=grouping,
            rows=np.flatnonzero(grouping.kept),
            seed=Seed.guessable(0),
        )
    )


def repeated(
    source: pa.Table,
    tables: Mapping[str, Table],
    settings: Sequence[dict[str, Share]],
    *,
    queries: int,
    draws: int,
) -> list[dict[str, tuple[float, float]]]:
    """Mean and standard deviation of equation 4 over draws, for each selectivity."""
    runs = [
        list(simulated(source, tables, settings, queries=queries, draw=draw))
        for draw in range(draws)
    ]
    return [
        {name: _summary([run[name] for run in found]) for name in tables}
        for found in zip(*runs, strict=True)
    ]


def simulated(
    source: pa.Table,
    tables: Mapping[str, Table],
    settings: Sequence[dict[str, Share]],
    *,
    queries: int,
    draw: int,
) -> Iterator[dict[str, float]]:
    """Equation 4 for every selectivity and table: one draw of swaps, one of queries."""
    shown: dict[str, CollapsedTable] = {}
    for selectivity in settings:
        part = RandomQueries(
            count=queries, selectivity=selectivity, histogram=SENSITIVE, seed=draw
        )
        place = queried_source(policy(None), source, Workload(random=(part,)), None)
        shown = shown or {
            "original": CollapsedTable(place.table),
            **dict(_published(place, tables, draw)),
        }
        total = _total_chi2(place, shown)
        base = max(total["base"], 1.0)
        yield {name: 100.0 * total[name] / base for name in tables}


def _published(
    place: QueriedSource, tables: Mapping[str, Table], draw: int
) -> Iterator[tuple[str, CollapsedTable]]:
    """Each table swapped once, to be asked everything of this draw."""
    for i, (name, table) in enumerate(tables.items()):
        swapped = table.swapped(draw * len(tables) + i)
        yield (
            name,
            CollapsedTable(published(swapped, {}, place.axes, missing=place.missing)),
        )


def _total_chi2(
    place: QueriedSource, shown: Mapping[str, CollapsedTable]
) -> dict[str, float]:
    total = dict.fromkeys(shown, 0.0)
    for block in blocks(place.queries, place.axes):
        truth = shown["original"].answer(block)
        for name, asked in shown.items():
            total[name] += float(chi2(truth, asked.answer(block)).sum())
    return total


def _summary(values: Sequence[float]) -> tuple[float, float]:
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return float(np.mean(values)), spread


def figure_8(
    source: pa.Table, tables: Mapping[str, Table], queries: int, draws: int
) -> Iterator[str]:
    """Relative errors at the default selectivities."""
    (found,) = repeated(source, tables, [DEFAULT], queries=queries, draws=draws)
    yield f"## Figure 8: default selectivities, {draws} draws of {queries} queries\n"
    yield "| table | paper | here: mean ± standard deviation |"
    yield "|---|---|---|"
    for name, (mean, deviation) in found.items():
        yield f"| {name} | {PAPER[name]} | {mean:.1f} ± {deviation:.1f} |"
    yield ""


def figures_9_to_12(
    source: pa.Table,
    tables: Mapping[str, Table],
    queries: int,
    draws: int,
    wanted: str | None,
) -> Iterator[str]:
    """Relative errors while the selectivity of one column varies."""
    for figure, column in FIGURES.items():
        if wanted not in (None, figure):
            continue
        yield f"## Figure {figure}: {column}, {draws} draws of {queries} queries\n"
        yield "| values of " + column + " | " + " | ".join(tables) + " |"
        yield "|---" * (len(tables) + 1) + "|"
        matching: dict[int, tuple[float, float]] = {}
        settings = [{**DEFAULT, column: values} for values in STEPS[column]]
        found = repeated(source, tables, settings, queries=queries, draws=draws)
        for values, each in zip(STEPS[column], found, strict=True):
            cells = [
                f"{mean:.1f} ± {deviation:.1f}" for mean, deviation in each.values()
            ]
            yield f"| {values} | " + " | ".join(cells) + " |"
            matching[values] = each[column]
        yield f"\n{_verdict(column, matching, draws)}\n"


def _verdict(
    column: str, matching: Mapping[int, tuple[float, float]], draws: int
) -> str:
    """Where the matching table beats Base, up to half of the values."""
    told: dict[str, list[str]] = {}
    for values, (mean, deviation) in matching.items():
        error = 2.0 * deviation / math.sqrt(draws)
        side = "below 100" if mean < 100 else "above 100"
        what = side if abs(mean - 100) > error else "not told from 100"
        if values <= HALF[column]:
            told.setdefault(what, []).append(str(values))
    parts = [f"{what} at {', '.join(where)}" for what, where in told.items()]
    return (
        f"The {column} table, up to half of the values, by two standard errors: "
        f"{'; '.join(parts)}."
    )


def figures(
    source: pa.Table,
    tables: Mapping[str, Table],
    queries: int,
    draws: int,
    wanted: str | None,
) -> Iterator[str]:
    """All figures, or one."""
    if wanted in (None, "8"):
        yield from figure_8(source, tables, queries, draws)
    if wanted != "8":
        yield from figures_9_to_12(source, tables, queries, draws, wanted)


def main() -> None:
    """Print the figures as tables, and write them down where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--figure", choices=["8", *FIGURES])
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    source = read_source(directory() / "adult" / "adult_train_32561.csv.gz")
    source = source.select([*QUASI, SENSITIVE])
    tables = {name or "base": grouped(source, name) for name in (None, *QUASI)}
    lines = []
    for line in figures(source, tables, asked.queries, asked.draws, asked.figure):
        print(line, flush=True)
        lines.append(line)
    if asked.out:
        asked.out.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
