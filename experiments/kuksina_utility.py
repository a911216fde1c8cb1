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

from experiments.kuksina_as_written import written
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
    Study,
    peer,
    private,
    released,
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
}
FIGURES: dict[str, tuple[int, ...]] = {
    "8.11": (0,),
    "8.12": (0,),
    "8.13": (1,),
    "8.14": (2, 3),
}
STEPS = (2, 5, 10, 15, 20, 24, 25, 26, 30, 40, 51, 52, 53, 65, 79, 80, 81, 90, 100)
KS = {
    "8.11": (2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 15, 25, 50, 100),
    "8.12": STEPS,
    "8.13": STEPS,
    "8.14": STEPS,
}
PRIVATE_KS = (2, 10, 100)
"""dp-anonym is run at these k alone, because it takes longest."""
TEXT_KS = (2, 5, 10, 15, 25, 40, 65, 100)
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
    ks = scale.of(KS[figure], (5, 10, 50))
    runs, rows = scale.of((5 if figure == "8.14" else 3, None), (2, 800))
    peers = PEERS if figure in ("8.11", "8.14") else PEERS[1:]
    panels: list[Panel] = []
    sizes = []
    for place in FIGURES[figure]:
        source = sourced(place, rows)
        sizes.append(f"{STUDIES[place].name}, {source.num_rows:,} rows")
        panels += study_panels(place, rows, peers, ks, runs)
    return Result(
        name=name,
        title=f"Kuksina 2023, figure {figure}: utility against k",
        source=f"{'; '.join(sizes)}; dp-anonym: depth {DEPTH}, {runs} runs, no sampling.",
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
            log_y=measure in ("discernibility", "average_class_size"),
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
    made = [_utility(study, source, name, k) for _ in range(runs)]
    for each in made:
        each["mixed"] = each["generalized_loss" if name == BASIC else "ncp"]
    return {m: ranged(k, [each[m] for each in made]) for m in MEASURES}


def _utility(study: Study, source: pa.Table, name: str, k: int) -> dict[str, float]:
    if name == TEXT:
        return written(study, source, k, EPSILON)[1]
    algorithm: Mapping[str, Any] = PRIVATE.get(name) or peer(name)
    return {
        m: float(v) for m, v in released(study, source, algorithm, k).utility.items()
    }
