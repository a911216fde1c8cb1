"""Figures 11 and 12 of Loukides and Shao 2008: c and l of (c,l)-diversity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from statistics import median

import numpy as np

from experiments.results import Finding, Line, Panel, Result, Scale, judged, ranged
from experiments.tgc_sources import NO_LIMIT, SEEDS, adult, algorithms, repeated
from sfumato.algorithms.base import Algorithm
from sfumato.data.seeds import Seed
from sfumato.models.k_anonymity import KAnonymity
from sfumato.testing.awkward_tables import request_for

UTILITY = ("Mondrian", "K-Members", "TGCU")
PROTECTION = ("TGCB", "TGCP", "K-Members-p")


def diversity(
    algorithm: Algorithm, rows: int, k: int, seed: int
) -> tuple[float, float, float]:
    """Means over groups: most frequent value / all others, distinct values, and rows."""
    table = adult(occupation_only=True)
    table = replace(table, source=table.source.slice(0, rows))
    request = request_for(table, [KAnonymity(k=k)], seed=Seed.guessable(seed))
    group_of = algorithm.solve(request).grouping.group_of
    codes = request.sensitive["occupation"].codes
    counts = np.zeros((group_of.max() + 1, codes.max() + 1))
    np.add.at(counts, (group_of, codes), 1)
    most, sizes = counts.max(axis=1), counts.sum(axis=1)
    ratio = most / np.maximum(sizes - most, 1)
    distinct = (counts > 0).sum(axis=1)
    return float(ratio.mean()), float(distinct.mean()), float(sizes.mean())


def run(scale: Scale, name: str) -> Result:
    """Both figures."""
    rows = scale.of(5000, 1000)
    ks = scale.of((5, 10, 25, 50), (5, 25))
    seeds = scale.of(SEEDS, SEEDS[:1])
    found = {
        who: {k: [diversity(algorithm, rows, k, s) for s in seeds] for k in ks}
        for who, algorithm in algorithms(split_limit=NO_LIMIT).items()
    }
    sizes = {who: median(r[2] for r in by[ks[0]]) for who, by in found.items()}
    panels = tuple(
        Panel(
            title=title,
            x="k",
            y=unit,
            lines=tuple(
                Line(who, tuple(ranged(k, [run[place] for run in by_k[k]]) for k in ks))
                for who, by_k in found.items()
            ),
        )
        for place, (title, unit) in enumerate(
            (
                ("Figure 11: c", "most frequent / all others, mean over groups"),
                ("Figure 12: l", "distinct values, mean over groups"),
            )
        )
    )
    return Result(
        name=name,
        title="Loukides and Shao 2008, figures 11 and 12: (c,l)-diversity",
        source=f"Adult, its first {rows:,} rows (the paper: first 5,000); occupation is "
        "sensitive, a category.",
        spread=f"{repeated(seeds)} Subspaces are cut.",
        panels=panels,
        findings=tuple(
            _finding(figure, panel, sizes)
            for figure, panel in zip((11, 12), panels, strict=True)
        ),
    )


def _finding(figure: int, panel: Panel, rows: Mapping[str, float]) -> Finding:
    ks = [p.x for p in panel.lines[0].points]
    met = []
    for k in ks:
        top = max(panel.line(name).at(k).y for name in PROTECTION)
        met.append(top < min(panel.line(name).at(k).y for name in UTILITY))
    told = ", ".join(
        f"{line.name} {line.points[0].y:.2f}/{line.points[-1].y:.2f}"
        for line in panel.lines
    )
    sizes = ", ".join(f"{who} {count:.1f}" for who, count in rows.items())
    return Finding(
        f"tgc figure {figure}",
        judged(met),
        f"{panel.title[-1]} of the protecting three is below that of the other three at "
        f"{sum(met)} of {len(ks)} k. k = {ks[0]:g}/{ks[-1]:g}: {told}. Both "
        f"follow the size of groups, which at k = {ks[0]:g} have {sizes} rows on average.",
    )
