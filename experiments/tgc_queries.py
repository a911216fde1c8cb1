"""Figures 8 and 9 of Loukides and Shao 2008: the error of COUNT queries on Adult.

Average relative error (A.R.E.) of random queries of two types on releases by Mondrian,
K-Members and threshold-based greedy clustering (TGCU, TGCB, TGCP), and the normalized
error (x − best) / (worst − best) of each k.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from statistics import median
from typing import Any

import pyarrow as pa

import sfumato as sf
from experiments.results import (
    Finding,
    Line,
    Panel,
    Point,
    Result,
    Scale,
    exact,
    judged,
    ranged,
)
from experiments.tgc_sources import (
    NO_LIMIT,
    QUASI,
    SEEDS,
    SENSITIVE,
    adult_columns,
    repeated,
    trees,
)
from sfumato.data.seeds import Seed
from sfumato.pipeline.workload_tables import queried_source
from sfumato.policy import Policy
from sfumato.workload.queries import RandomQueries, Share, Workload

# Categories take about half of their values; the window of ages is as wide as the
# selectivity of the paper then asks: 1.5 % (type 1) and 0.5 % (type 2) of the domain.
TYPES: dict[str, dict[str, Share]] = {
    "type 1": {"age": 0.06, "sex": 1, "salary-class": 1},
    "type 2": {"age": 0.058, "sex": 1, "salary-class": 1, "race": 3, "workclass": 4},
}
FIGURE = {"8": "type 1", "9": "type 2"}
ALGORITHMS: dict[str, dict[str, Any]] = {
    "Mondrian": {"name": "mondrian", "cut": "widest"},
    "K-Members": {"name": "k-member"},
    "TGCU": {"name": "tgc", "preset": "TGCU"},
    "TGCB": {"name": "tgc", "preset": "TGCB"},
    "TGCP": {"name": "tgc", "preset": "TGCP"},
    "TGCU, subspaces cut": {"name": "tgc", "preset": "TGCU", "split_limit": NO_LIMIT},
    "TGCB, subspaces cut": {"name": "tgc", "preset": "TGCB", "split_limit": NO_LIMIT},
    "TGCP, subspaces cut": {"name": "tgc", "preset": "TGCP", "split_limit": NO_LIMIT},
}
RIVALS = ("Mondrian", "K-Members")


def adult(rows: int | None) -> pa.Table:
    """Adult without missing values; occupation is a number, as for figure 6."""
    return adult_columns().slice(0, rows)


def policy(algorithm: Mapping[str, Any], k: int, *, flat: bool = False) -> Policy:
    """k-anonymity by one algorithm; with `flat`, categories have no hierarchies."""
    made = Policy.build(
        quasi=list(QUASI),
        sensitive=list(SENSITIVE),
        hierarchies={} if flat else trees(),
        k=k,
        unlisted="drop",
    )
    for key, value in algorithm.items():
        made = made.with_setting(f"algorithm.{key}", value)
    return made.with_setting("publish.max_loss", 1.0)


@cache
def released(rows: int | None, name: str, k: int, seed: int) -> sf.Release:
    """A release by one algorithm, kept for both types of query."""
    asked = policy(ALGORITHMS[name], k)
    return sf.anonymize(adult(rows), asked, seed=Seed.guessable(seed))


def errors(
    rows: int | None, k: int, kind: str, queries: int, seeds: Sequence[int]
) -> dict[str, list[float]]:
    """A.R.E. of each algorithm for one type of query, by seed."""
    part = RandomQueries(count=queries, selectivity=TYPES[kind], seed=1)
    asked = policy(ALGORITHMS["Mondrian"], k)
    place = queried_source(asked, adult(rows), Workload(random=(part,)), None)
    return {
        name: [
            place.error(made.table, made.beside).average_relative.value
            for made in (released(rows, name, k, seed) for seed in seeds)
        ]
        for name in ALGORITHMS
    }


def run(scale: Scale, name: str) -> Result:
    """One figure."""
    figure = name.rpartition("-")[2]
    kind = FIGURE[figure]
    ks = scale.of((5, 10, 50), (5,))
    size: tuple[int | None, int] = (None, 10_000)
    rows, queries = scale.of(size, (1500, 200))
    seeds = scale.of(SEEDS[:3], SEEDS[:1])
    by_k = {k: errors(rows, k, kind, queries, seeds) for k in ks}
    panels = (_panel(kind, by_k), _normalized(kind, by_k))
    return Result(
        name=name,
        title=f"Loukides and Shao 2008, figure {figure}: error of {kind} queries",
        source=f"Adult, {adult(rows).num_rows:,} rows; {queries:,} queries.",
        spread=f"{repeated(seeds)} Normalized: (x − best) / (worst − best).",
        panels=panels,
        findings=tuple(_findings(figure, panels[0])),
    )


def _panel(kind: str, by_k: Mapping[int, Mapping[str, Sequence[float]]]) -> Panel:
    return Panel(
        title=f"{kind}: A.R.E.",
        x="k",
        y="average relative error",
        lines=tuple(
            Line(name, tuple(ranged(k, found[name]) for k, found in by_k.items()))
            for name in ALGORITHMS
        ),
        log_y=True,
    )


def _normalized(kind: str, by_k: Mapping[int, Mapping[str, Sequence[float]]]) -> Panel:
    return Panel(
        title=f"{kind}: normalized error",
        x="k",
        y="(x − best) / (worst − best)",
        lines=tuple(
            Line(name, tuple(_share(k, name, found) for k, found in by_k.items()))
            for name in ALGORITHMS
        ),
    )


def _share(k: int, name: str, found: Mapping[str, Sequence[float]]) -> Point:
    values = {who: median(runs) for who, runs in found.items()}
    best, worst = min(values.values()), max(values.values())
    return exact(k, (values[name] - best) / max(worst - best, 1e-12))


def _findings(figure: str, panel: Panel) -> Iterator[Finding]:
    asked = ("TGCU",) if figure == "8" else ("TGCU", "TGCB", "TGCP")
    ahead = [
        any(_beats(panel, f"{name}{cut}", rival) for cut in ("", ", subspaces cut"))
        for name in asked
        for rival in RIVALS
    ]
    told = "; ".join(
        f"{line.name} {_ends(line.points)}"
        for line in panel.lines
        if line.name.split(",")[0] in (*RIVALS, "TGCU", "TGCB", "TGCP")
    )
    first, last = panel.lines[0].points[0].x, panel.lines[0].points[-1].x
    yield Finding(
        f"tgc figure {figure}",
        judged(ahead),
        f"A.R.E. at k = {first:g} and {last:g}: {told}. Other readings of "
        "thresholds and left-over rows: `tgc-readings`.",
    )


def _beats(panel: Panel, name: str, rival: str) -> bool:
    """Whether the error is lower at every k."""
    points = zip(panel.line(name).points, panel.line(rival).points, strict=True)
    return all(mine.y < other.y for mine, other in points)


def _ends(points: Sequence[Point]) -> str:
    return f"{points[0].y:.2f}, {points[-1].y:.2f}"
