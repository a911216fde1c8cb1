"""Figures 8.11 to 8.14 of Kuksina 2023: DM, C_AVG and NCP against k.

The same three measures for all algorithms, computed by one program from published cells.
DP-anonym is run at two depths, and with the thesis's count of ε (per level).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from experiments.kuksina_studies import (
    BASIC,
    CLASSIC,
    PEERS,
    STUDIES,
    Study,
    peer,
    private,
    released,
)
from experiments.results import (
    Finding,
    Line,
    Panel,
    Point,
    Result,
    Scale,
    Verdict,
    averaged,
    judged,
)

MEASURES = {
    "discernibility": "discernibility (DM)",
    "average_class_size": "mean group size / k (C_AVG)",
    "ncp": "NCP, mean per cell",
}
EPSILON = 0.5
DEEP = 12
WHOLE_DEEP = f"dp-anonym, depth {DEEP}, ε 0.5 in all"
PER_LEVEL = f"dp-anonym, depth {DEEP}, ε 0.5 a level"
PRIVATE: dict[str, dict[str, Any]] = {
    WHOLE_DEEP: private(EPSILON, DEEP),
    PER_LEVEL: private(EPSILON, DEEP, per_level=True),
}
FIGURES: dict[str, tuple[int, ...]] = {
    "8.11": (0,),
    "8.12": (0,),
    "8.13": (1,),
    "8.14": (2, 3),
}
KS = {
    "8.11": (2, 5, 6, 10, 11, 100),
    "8.12": (2, 10, 24, 25, 51, 52, 79, 80, 100),
    "8.13": (2, 10, 50, 100),
    "8.14": (2, 5, 10, 25, 50, 100),
}
PRIVATE_KS = (2, 10, 100)
"""dp-anonym is run at these k alone, because it is run several times."""
SPREAD = (
    "Bands: 95 % interval of the mean over runs of dp-anonym; peers are deterministic."
)


def run(scale: Scale, name: str) -> Result:
    """One figure."""
    figure = name.rpartition("-")[2]
    ks = scale.of(KS[figure], (5, 10))
    runs, rows = scale.of((2, 10_000), (2, 800))
    peers = PEERS if figure in ("8.11", "8.14") else PEERS[1:]
    studies = [STUDIES[place] for place in FIGURES[figure]]
    panels: list[Panel] = []
    sizes = []
    for study in studies:
        source = study.source(rows)
        sizes.append(f"{study.name}, {source.num_rows:,} rows")
        panels += study_panels(study, source, peers, ks, runs)
    return Result(
        name=name,
        title=f"Kuksina 2023, figure {figure}: utility against k",
        source=f"{'; '.join(sizes)}; {runs} runs of dp-anonym, all rows, no sampling.",
        spread=SPREAD,
        panels=tuple(panels),
        findings=tuple(_findings(figure, panels)),
    )


def study_panels(
    study: Study,
    source: pa.Table,
    peers: Sequence[str],
    ks: Sequence[int],
    runs: int,
) -> Iterator[Panel]:
    """A panel for each measure."""
    asked = {name: peer(name) for name in peers} | PRIVATE
    found = {
        name: {
            k: measured(study, source, algorithm, k, runs if name in PRIVATE else 1)
            for k in ks
            if name not in PRIVATE or k in PRIVATE_KS
        }
        for name, algorithm in asked.items()
    }
    for measure, title in MEASURES.items():
        yield Panel(
            title=f"{study.name}: {title}",
            x="k",
            y=title,
            lines=tuple(
                Line(name, tuple(each[measure] for each in by_k.values()))
                for name, by_k in found.items()
            ),
            log_y=measure != "ncp",
        )


def measured(
    study: Study, source: pa.Table, algorithm: Mapping[str, Any], k: int, runs: int
) -> dict[str, Point]:
    """The three measures over so many runs."""
    made = [released(study, source, algorithm, k).utility for _ in range(runs)]
    return {m: averaged(k, [float(each[m]) for each in made]) for m in MEASURES}


def _findings(figure: str, panels: Sequence[Panel]) -> Iterator[Finding]:
    loss = panels[2]
    if figure == "8.11":
        yield from _datafly(panels)
    elif figure == "8.12":
        yield _similar("kuksina figure 8.12", [loss], "Adult")
        yield _leaps(loss)
    elif figure == "8.13":
        yield _ahead(loss)
    else:
        yield _similar(
            "kuksina figure 8.14", [panels[2], panels[5]], "the two small tables"
        )


def _at(line: Line, x: float) -> float:
    """The value at x, or 0 where the line has none."""
    return next((p.y for p in line.points if p.x == x), 0.0)


def _datafly(panels: Sequence[Panel]) -> Iterator[Finding]:
    highest = [
        all(
            p.y >= max(_at(line, p.x) for line in panel.lines if line.name != "datafly")
            for p in panel.line("datafly").points
        )
        for panel in panels
    ]
    points = panels[2].line("datafly").points
    yield Finding(
        "kuksina figure 8.11",
        judged(highest),
        f"Highest at every k by {sum(highest)} of 3 measures; NCP {points[0].y:.2f} at k = "
        f"{points[0].x:g}, {points[-1].y:.2f} at {points[-1].x:g}.",
    )
    drops = [(int(b.x), a.y - b.y) for a, b in itertools.pairwise(points) if b.y < a.y]
    yield Finding(
        "kuksina figure 8.11, k = 6 and 11",
        Verdict.HOLDS if {6, 11} <= {k for k, _ in drops} else Verdict.FAILS,
        f"NCP falls at k = {', '.join(str(k) for k, _ in drops)}."
        if drops
        else f"NCP never falls as k grows (k = {', '.join(f'{p.x:g}' for p in points)}).",
    )


def _similar(claim: str, panels: Sequence[Panel], where: str) -> Finding:
    """Whether DP-anonym is within a quarter of classic Mondrian and top-down by NCP."""
    met, told = [], []
    for panel in panels:
        for name in PRIVATE:
            ratios = [
                p.y / max(panel.line(other).at(p.x).y, 1e-9)
                for p in panel.line(name).points
                for other in (CLASSIC, "top-down")
            ]
            met.append(max(ratios) <= 1.25)
            told.append(
                f"{name.removeprefix('dp-anonym, ')}: {min(ratios):.1f} to "
                f"{max(ratios):.1f} times"
            )
    return Finding(
        claim,
        judged(met),
        f"NCP on {where}, in times that of classic Mondrian and of top-down: "
        f"{'; '.join(told)}.",
    )


def _leaps(loss: Panel) -> Finding:
    line = loss.line(BASIC)
    pairs = [(24, 25), (51, 52), (79, 80)]
    there = [(a, b) for a, b in pairs if {a, b} <= {p.x for p in line.points}]
    steps = [line.at(b).y / line.at(a).y - 1 for a, b in there]
    worse = [p.y > loss.line(CLASSIC).at(p.x).y for p in line.points]
    told = ", ".join(
        f"{step:+.1%} at {b}" for step, (_, b) in zip(steps, there, strict=True)
    )
    return Finding(
        "kuksina figure 8.12, basic Mondrian",
        judged([*(step > 0.1 for step in steps), all(worse)]),
        f"NCP of basic Mondrian changes by {told or 'steps not run'}, and is above classic "
        f"at {sum(worse)} of {len(worse)} k. (Cells without hierarchies are counted by the "
        "values that they show.)",
    )


def _ahead(loss: Panel) -> Finding:
    private_best = [
        min(loss.line(name).at(p.x).y for name in PRIVATE)
        < min(loss.line(name).at(p.x).y for name in (CLASSIC, "top-down"))
        for p in loss.line(PER_LEVEL).points
    ]
    classic = [p.y < loss.line(BASIC).at(p.x).y for p in loss.line(CLASSIC).points]
    best = loss.line(PER_LEVEL).points[1]
    return Finding(
        "kuksina figure 8.13",
        judged([all(private_best), all(classic)]),
        f"By NCP dp-anonym is ahead of classic Mondrian and top-down at "
        f"{sum(private_best)} of {len(private_best)} k, classic Mondrian of basic at "
        f"{sum(classic)}. At k = {best.x:g}: {best.y:.3f} with ε 0.5 a level, classic "
        f"{loss.line(CLASSIC).at(best.x).y:.3f}, basic "
        f"{loss.line(BASIC).at(best.x).y:.3f}.",
    )
