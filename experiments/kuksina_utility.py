"""Figures 8.11 to 8.14 of Kuksina 2023: DM, C_AVG and NCP against k.

The same measures for all algorithms, computed by one program from published cells;
beside them NCP as the library used there scores itself. DP-anonym is run with the true
count of ε, with the thesis's (per level), and as the thesis's text reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import pyarrow as pa

from experiments import kuksina_releases as releases
from experiments.kuksina_findings import findings
from experiments.kuksina_studies import (
    BASIC,
    DEPTH,
    DETERMINISTIC,
    EPSILON,
    IN_ALL,
    PEERS,
    PER_LEVEL,
    STUDIES,
    TEXT,
    Study,
    peer,
    private,
)
from experiments.results import (
    Line,
    Panel,
    Point,
    Result,
    Scale,
    ranged,
)

MEASURES = {
    "discernibility": "discernibility (DM)",
    "average_class_size": "mean group size / k (C_AVG)",
    "ncp": "NCP, mean per cell",
    "mixed": "NCP as the library scores itself",
}
PRIVATE = {
    IN_ALL: private(EPSILON, DEPTH),
    PER_LEVEL: private(EPSILON, DEPTH, per_level=True),
    TEXT: releases.as_written(EPSILON),
}
FIGURES: dict[str, tuple[int, ...]] = {
    "8.11": (0,),
    "8.12": (0,),
    "8.13": (1,),
    "8.14": (2, 3),
}
RUNS = 5
"""Runs of DP-anonym."""
STEPS = (2, 5, 10, 15, 24, 25, 40, 51, 52, 65, 79, 80, 100)
KS = {
    "8.11": (2, 5, 6, 10, 11, 25, 52, 100),
    "8.12": STEPS,
    "8.13": STEPS,
    "8.14": STEPS,
}
SHOWN: dict[str, tuple[str, ...]] = {
    "8.11": PEERS,
    "8.12": PEERS[1:],
    "8.13": PEERS[1:],
    "8.14": PEERS,
}
RANDOM_KS = (2, 5, 10, 25, 52, 100)
"""DP-anonym, in any reading, is measured at these k, because it takes longest."""
SPREAD = (
    "Bands: lowest and highest run; lines: medians. Datafly and Mondrian are "
    "deterministic."
)
NOTES = (
    f'"{TEXT}" is `experiments/kuksina_as_written.py`: chapter 7 taken at its word. It '
    "cuts only where both halves keep k rows by true counts, and so has no differential "
    "privacy: of two tables that differ by one row, one is cut and the other never.",
    "The library scores Mondrian without hierarchies by (values − 1) / (all values − 1) "
    "and the others by the share of leaves; the last panel shows what that mixture "
    "gives. The thesis calls Mondrian without hierarchies basic, the library calls the "
    "one with hierarchies so.",
)


def run(scale: Scale, name: str) -> Result:
    """One figure."""
    figure = name.rpartition("-")[2]
    ks = scale.of(KS[figure], (5, 10))
    runs, rows = scale.of((RUNS, None), (1, 400))
    peers = SHOWN[figure]
    panels: list[Panel] = []
    sizes = []
    for place in FIGURES[figure]:
        source = sourced(place, rows)
        sizes.append(rows_of(STUDIES[place], source, rows))
        panels += study_panels(place, rows, peers, ks, runs)
    return Result(
        name=name,
        title=f"Kuksina 2023, figure {figure}: utility against k",
        source=f"{'; '.join(sizes)}; depth {DEPTH}, {runs} runs; no sampling.",
        spread=SPREAD,
        panels=tuple(panels),
        findings=tuple(findings(figure, panels)),
        notes=NOTES,
    )


@cache
def sourced(place: int, rows: int | None) -> pa.Table:
    """The table of a study."""
    return STUDIES[place].source(rows)


def study_panels(
    place: int, rows: int | None, peers: Sequence[str], ks: Sequence[int], runs: int
) -> Iterator[Panel]:
    """A panel for each measure of one study."""
    found = {
        name: measured(
            place, rows, name, _asked(name, ks), 1 if name in DETERMINISTIC else runs
        )
        for name in (*peers, *PRIVATE)
    }
    for measure, title in MEASURES.items():
        yield Panel(
            title=f"{STUDIES[place].name}: {title}",
            x="k",
            y=title,
            lines=tuple(
                Line(name, tuple(each[measure] for each in by_k.values()))
                for name, by_k in found.items()
            ),
            log_x=True,
            log_y=measure == "discernibility"
            or ("datafly" in peers and measure == "average_class_size"),
        )


def _asked(name: str, ks: Sequence[int]) -> tuple[int, ...]:
    """The k that a series is measured at."""
    few = RANDOM_KS if name in PRIVATE else ks
    return tuple(k for k in few if min(ks) <= k <= max(ks))


def rows_of(study: Study, source: pa.Table, most: int | None) -> str:
    """The table and its rows, as a figure says it."""
    capped = "first " if source.num_rows == most else "all "
    return f"{study.name}, {capped}{source.num_rows:,} rows"


@cache
def measured(
    place: int, rows: int | None, name: str, ks: Sequence[int], runs: int
) -> dict[int, dict[str, Point]]:
    """The measures at each k over so many runs."""
    study, source = STUDIES[place], sourced(place, rows)
    algorithm: Mapping[str, Any] = PRIVATE.get(name) or peer(name)
    made = [releases.measured_over(study, source, algorithm, ks) for _ in range(runs)]
    for each in made:
        for found in each.values():
            found["mixed"] = found["generalized_loss" if name == BASIC else "ncp"]
    return {k: {m: ranged(k, [e[k][m] for e in made]) for m in MEASURES} for k in ks}
