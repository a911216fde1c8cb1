"""Figures 8.17 and 8.18 of Kuksina 2023: counts by race, sex and salary.

A published row counts where its cells say so exactly, as the thesis's SQL does; beside
it, the estimate of somebody who shares out each cell evenly over what it stands for.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.sources import directory
from experiments.kuksina_releases import as_written, published
from experiments.kuksina_studies import (
    CLASSIC,
    DEPTH,
    STUDIES,
    TEXT,
    peer,
    private,
)
from experiments.kuksina_utility import rows_of
from experiments.results import (
    Finding,
    Line,
    Panel,
    Result,
    Scale,
    judged,
    ranged,
)

COUNTRY = {"kuksina-figure-8.17": "United-States", "kuksina-figure-8.18": None}
NAMES = ("race", "sex", "salary-class")
EPSILON, K = 0.1, 3
FILES = STUDIES[0].files
"""Quasi-identifiers of Adult that are categories."""
NEAR = 0.25
"""A summed error of this share of the rows asked for is called near."""
SHORT = {
    CLASSIC: "mondrian",
    "dp-anonym, ε 0.1 in total": "ε in total",
    "dp-anonym, ε 0.1 per level": "ε per level",
    TEXT: "the text",
}


def counts(table: pa.Table, country: str | None) -> dict[tuple[str, ...], int]:
    """How many published rows say so, exactly: a coarser cell answers nothing."""
    texts = pa.table({n: table.column(n).cast(pa.string()) for n in table.column_names})
    if country is not None:
        texts = texts.filter(pc.equal(texts.column("native-country"), country))
    found = texts.group_by(list(NAMES)).aggregate([([], "count_all")]).to_pylist()
    return {tuple(row[n] for n in NAMES): row["count_all"] for row in found}


@cache
def releases(rows: int | None, runs: int) -> dict[str, list[pa.Table]]:
    """Published tables by algorithm, for both queries."""
    study = STUDIES[0]
    source = study.source(rows)
    asked: dict[str, tuple[dict[str, Any], int]] = {
        "datafly": (peer("datafly"), 1),
        CLASSIC: (peer(CLASSIC), 1),
        "dp-anonym, ε 0.1 in total": (private(EPSILON, DEPTH), runs),
        "dp-anonym, ε 0.1 per level": (private(EPSILON, DEPTH, per_level=True), runs),
        TEXT: (as_written(EPSILON), runs),
    }
    return {
        who: [published(study, source, algorithm, K) for _ in range(repeats)]
        for who, (algorithm, repeats) in asked.items()
    }


def run(scale: Scale, name: str) -> Result:
    """One of the two queries."""
    country = COUNTRY[name]
    size: tuple[int, int | None] = (5, None)
    runs, rows = scale.of(size, (1, 400))
    source = STUDIES[0].source(rows)
    truth = counts(source, country)
    answers = {
        who: [counts(table, country) for table in tables]
        for who, tables in releases(rows, runs).items()
    }
    shares = {
        who: [
            sum(each.get(key, 0) for key in truth) / sum(truth.values())
            for each in made
        ]
        for who, made in answers.items()
    }
    errors = {
        who: [_error(truth, each) for each in made] for who, made in answers.items()
    }
    panels = tuple(_panels(shares, errors))
    where = "United States" if country else "all countries"
    return Result(
        name=name,
        title=f"Kuksina 2023, figure {name.rpartition('-')[2]}: salary by race and sex, "
        f"{where}",
        source=f"{rows_of(STUDIES[0], source, rows)}; k = {K}, ε = {EPSILON}, "
        f"depth {DEPTH}.",
        spread=f"Whiskers: lowest and highest of {runs} runs of DP-anonym; dots: medians.",
        panels=panels,
        findings=(
            *_findings(name, shares, errors),
            *([_levels(releases(rows, runs))] if country else []),
        ),
    )


def _levels(made: Mapping[str, list[pa.Table]]) -> Finding:
    """Figure 7.5: at how many levels columns are shown, and how many cells in full."""
    several, whole = {}, {}
    for who, tables in made.items():
        levels = [seen(table.column(name), name) for table in tables for name in FILES]
        several[who] = sum(len(each) > 1 for each in levels) / len(tables)
        whole[who] = sum(each.get(0, 0) for each in levels) / sum(
            sum(each.values()) for each in levels
        )
    told = ", ".join(
        f"{who} {several[who]:g} of {len(FILES)} and {whole[who]:.0%}" for who in made
    )
    ours = [who for who in made if who not in ("datafly", CLASSIC)]
    return Finding(
        "kuksina figure 7.5",
        judged(
            [
                several["datafly"] == 0,
                all(several[who] > 0 for who in ours),
                all(whole[who] > max(whole["datafly"], 0.5) for who in ours),
            ]
        ),
        f"Categories shown at several levels, and cells that show their value: {told} (k = "
        f"{K}).",
    )


@cache
def levels_of(name: str) -> dict[str, int]:
    """The level of each label of a hierarchy of Adult, 0 for the values themselves."""
    path = directory() / "adult" / "hierarchies" / f"{name}.csv"
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    return {
        label: level
        for level in reversed(range(len(rows[0])))
        for row in rows
        for label in [row[level]]
    }


def seen(column: pa.ChunkedArray, name: str) -> dict[int, int]:
    """How many cells of a column are shown at each level."""
    found: dict[int, int] = {}
    for each in pc.value_counts(column.cast(pa.string())).to_pylist():
        level = levels_of(name)[each["values"]]
        found[level] = found.get(level, 0) + each["counts"]
    return found


def _error(truth: Mapping[tuple[str, ...], int], found: Mapping[Any, int]) -> float:
    return sum(abs(found.get(k, 0) - n) for k, n in truth.items()) / sum(truth.values())


def _panels(
    shares: Mapping[str, list[float]], errors: Mapping[str, list[float]]
) -> Iterator[Panel]:
    titles = ("Rows that answer exactly", "Absolute error, summed over cells")
    units = ("share of the rows asked for", "share of the rows asked for")
    for title, unit, found in zip(titles, units, (shares, errors), strict=True):
        points = tuple(ranged(i, values) for i, values in enumerate(found.values()))
        yield Panel(
            title=title,
            x="release",
            y=unit,
            lines=(Line("published cells", points),),
            x_names=tuple(SHORT.get(who, who) for who in found),
        )


def _findings(
    name: str, shares: Mapping[str, list[float]], errors: Mapping[str, list[float]]
) -> Iterator[Finding]:
    mean = {who: sum(v) / len(v) for who, v in shares.items()}
    told = ", ".join(f"{who} {value:.1%}" for who, value in mean.items())
    away = {who: sum(v) / len(v) for who, v in errors.items()}
    private_near = [v < NEAR for who, v in away.items() if who.startswith("dp-anonym")]
    text_near = away[TEXT] < NEAR
    figure = name.rpartition("-")[2]
    if figure == "8.17":
        yield Finding(
            "kuksina figure 8.17",
            judged([any(private_near), text_near, mean["datafly"] == 0]),
            f"Rows that answer the query exactly: {told} of those asked for.",
        )
        return
    yield Finding(
        "kuksina figure 8.18",
        judged([any(private_near), text_near, mean["datafly"] > 0.5]),
        f"Rows that answer the query exactly: {told} of those asked for.",
    )
    rivals = [mean["datafly"], mean[CLASSIC]]
    best = max(v for who, v in mean.items() if who.startswith("dp-anonym"))
    yield Finding(
        "kuksina abstract and conclusion, queries",
        judged([best > rival for rival in rivals]),
        f"Exact answers to the query on race and sex: {told}.",
    )
