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
    EPSILON,
    IN_ALL,
    PEERS,
    PER_LEVEL,
    STUDIES,
    TEXT,
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
SIZES = {"8.11": (2, 3000), "8.12": (2, 3000), "8.13": (2, 3000), "8.14": (5, 3000)}
"""Runs of DP-anonym, and rows at most."""
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
PRIVATE_KS = (2, 10, 100)
"""dp-anonym is run at these k alone, because it takes longest."""
TEXT_KS = (2, 5, 10, 25, 52, 100)
SPREAD = (
    "Bands: lowest and highest run of DP-anonym; line: median. Peers are deterministic."
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
    runs, rows = scale.of(SIZES[figure], (1, 400))
    peers = SHOWN[figure]
    panels: list[Panel] = []
    sizes = []
    for place in FIGURES[figure]:
        source = sourced(place, rows)
        capped = " (capped)" if source.num_rows == rows else ""
        sizes.append(f"{STUDIES[place].name}, {source.num_rows:,} rows{capped}")
        panels += study_panels(place, rows, peers, ks, runs)
    return Result(
        name=name,
        title=f"Kuksina 2023, figure {figure}: utility against k",
        source=f"{'; '.join(sizes)}; depth {DEPTH}, {runs} runs of DP-anonym; no sampling.",
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
        name: {
            k: measured(place, rows, name, k, 1 if name in peers else runs)
            for k in _asked(name, ks)
        }
        for name in (*peers, IN_ALL, PER_LEVEL, TEXT)
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


def _asked(name: str, ks: Sequence[int]) -> Sequence[int]:
    """The k that a series is run at: all, or the ends and one between."""
    few = {IN_ALL: PRIVATE_KS, PER_LEVEL: PRIVATE_KS, TEXT: TEXT_KS}.get(name, ks)
    return [k for k in few if min(ks) <= k <= max(ks)]


@cache
def measured(
    place: int, rows: int | None, name: str, k: int, runs: int
) -> dict[str, Point]:
    """The measures over so many runs."""
    study, source = STUDIES[place], sourced(place, rows)
    algorithm: Mapping[str, Any] = PRIVATE.get(name) or peer(name)
    made = [releases.measured(study, source, algorithm, k) for _ in range(runs)]
    for each in made:
        each["mixed"] = each["generalized_loss" if name == BASIC else "ncp"]
    return {m: ranged(k, [each[m] for each in made]) for m in MEASURES}
