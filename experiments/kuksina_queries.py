"""Figures 8.17 and 8.18 of Kuksina 2023: counts by race, sex and salary.

A published row counts where its cells say so exactly, as the thesis's SQL does; beside
it, the estimate of somebody who shares out each cell evenly over what it stands for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from experiments.kuksina_releases import as_written, published
from experiments.kuksina_studies import (
    CLASSIC,
    DEPTH,
    STUDIES,
    TEXT,
    peer,
    private,
)
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
NEAR = 0.25
"""A summed error of this share of the rows asked for is called near."""
SHORT = {
    CLASSIC: "classic",
    "dp-anonym, ε 0.1 in all": "ε in all",
    "dp-anonym, ε 0.1 a level": "ε a level",
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
        "dp-anonym, ε 0.1 in all": (private(EPSILON, DEPTH), runs),
        "dp-anonym, ε 0.1 a level": (private(EPSILON, DEPTH, per_level=True), runs),
        TEXT: (as_written(EPSILON), runs),
    }
    return {
        who: [published(study, source, algorithm, K) for _ in range(repeats)]
        for who, (algorithm, repeats) in asked.items()
    }


def run(scale: Scale, name: str) -> Result:
    """One of the two queries."""
    country = COUNTRY[name]
    runs, rows = scale.of((2, 3000), (1, 400))
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
    where = country or "the world"
    return Result(
        name=name,
        title=f"Kuksina 2023, figure {name.rpartition('-')[2]}: salary by race and sex",
        source=f"Adult, {source.num_rows:,} rows (capped), {where}; k = {K}, depth "
        f"{DEPTH}.",
        spread=f"Whiskers: lowest and highest of {runs} runs of DP-anonym; dot: median.",
        panels=panels,
        findings=tuple(_findings(name, shares, errors)),
    )


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
        "kuksina abstract, queries",
        judged([best > rival for rival in rivals]),
        f"Exact answers to the query on race and sex: {told}.",
    )
