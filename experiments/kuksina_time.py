"""Section 8.4 of Kuksina 2023: DP-anonym is faster than some, and scales."""

from __future__ import annotations

import time

import numpy as np

from experiments.kuksina_studies import (
    CLASSIC,
    DEPTH,
    EPSILON,
    STUDIES,
    peer,
    private,
    released,
)
from experiments.kuksina_utility import sourced
from experiments.results import Finding, Line, Panel, Result, Scale, judged, ranged

K = 10
PRIVATE = f"dp-anonym, depth {DEPTH}"
SHALLOW = "dp-anonym, depth 6"
ASKED = {
    "datafly": peer("datafly"),
    "incognito": peer("incognito"),
    CLASSIC: peer(CLASSIC),
    "top-down": peer("top-down"),
    PRIVATE: private(EPSILON, DEPTH),
    SHALLOW: private(EPSILON, 6),
}


def seconds(name: str, rows: int | None) -> float:
    """CPU seconds from a table to a verified release."""
    source = sourced(0, rows)
    begin = time.process_time()
    released(STUDIES[0], source, ASKED[name], K)
    return time.process_time() - begin


def run(scale: Scale, name: str) -> Result:
    """Time against rows, on Adult."""
    sizes = scale.of((1000, 3000, 10_000, 30_162), (400, 800))
    runs = scale.of(3, 1)
    for each in ASKED:
        seconds(each, sizes[0])  # loads all code
    lines = tuple(
        Line(
            each,
            tuple(ranged(n, [seconds(each, n) for _ in range(runs)]) for n in sizes),
        )
        for each in ASKED
    )
    panel = Panel(
        title=f"Adult, k = {K}",
        x="rows",
        y="seconds of CPU",
        lines=lines,
        log_x=True,
        log_y=True,
    )
    return Result(
        name=name,
        title="Kuksina 2023, section 8.4: time against rows",
        source=f"Adult, up to its first {sizes[-1]:,} rows; ε = {EPSILON} in total; no "
        "sampling.",
        spread=f"Bands: lowest and highest of {runs} runs; lines: medians.",
        panels=(panel,),
        findings=(_finding(panel),),
    )


def _finding(panel: Panel) -> Finding:
    last = {line.name: line.points[-1].y for line in panel.lines}
    slopes = {line.name: _slope(line) for line in panel.lines}
    mine = (PRIVATE, SHALLOW)
    faster = [
        any(last[each] < last[other] for other in last if other not in mine)
        for each in mine
    ]
    told = ", ".join(f"{who} {s:.2f} s" for who, s in last.items())
    return Finding(
        "kuksina section 8.4",
        judged([*faster, *(slopes[each] < 1.2 for each in mine)]),
        f"At {panel.lines[0].points[-1].x:,.0f} rows: {told}. Time grows as rows to the "
        f"power of {slopes[PRIVATE]:.2f} (depth {DEPTH}) and {slopes[SHALLOW]:.2f} (depth "
        "6); most of it is spent drawing noise for every value of every cell.",
    )


def _slope(line: Line) -> float:
    xs, ys = ([getattr(p, axis) for p in line.points] for axis in ("x", "y"))
    return float(np.polyfit(np.log(xs), np.log(np.maximum(ys, 1e-3)), 1)[0])
