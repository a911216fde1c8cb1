"""Figures 5 and 15 to 20 of Loukides and Shao 2008: δ, s, r, weights, and time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from experiments.results import (
    Finding,
    Line,
    Panel,
    Point,
    Result,
    Scale,
    Verdict,
    judged,
    ranged,
)
from experiments.tgc_sources import (
    NO_LIMIT,
    SEEDS,
    Measured,
    adult,
    drawn,
    left_over,
    measured,
    normal,
    part,
    repeated,
)
from sfumato.algorithms.base import Algorithm
from sfumato.algorithms.clustering.k_member import KMember
from sfumato.algorithms.clustering.tgc import Tgc
from sfumato.algorithms.partition.mondrian import Mondrian
from sfumato.testing.awkward_tables import Awkward

K = 5
BOTH = {"utility": "UM", "protection": "protection"}


def run(scale: Scale, name: str) -> Result:
    """One figure."""
    figures: Mapping[str, Callable[[Scale, str], Result]] = {
        "5": thresholds,
        "15": subspaces,
        "16": subspaces,
        "17": reach,
        "18": weights,
        "19": rows_and_time,
        "20": size_and_time,
    }
    return figures[name.rpartition("-")[2]](scale, name)


def _title(name: str, what: str) -> str:
    return f"Loukides and Shao 2008, figure {name.rpartition('-')[2]}: {what}"


def _lines(
    found: Mapping[Any, Sequence[Measured]], ending: str = ""
) -> tuple[Line, ...]:
    return tuple(
        Line(
            title + ending,
            tuple(
                ranged(x, [float(getattr(each, measure)) for each in runs])
                for x, runs in found.items()
            ),
        )
        for measure, title in BOTH.items()
    )


def _panel(
    title: str, x: str, lines: tuple[Line, ...], *, log_x: bool = False
) -> Panel:
    return Panel(
        title=title,
        x=x,
        y="mean over groups; lower is better",
        lines=lines,
        log_x=log_x,
    )


def thresholds(scale: Scale, name: str) -> Result:
    """Figure 5: utility and protection over δ, on a sample and on more rows."""
    whole, seeds = scale.of((adult().rows, SEEDS), (1500, SEEDS[:1]))
    deltas = scale.of((0.2, 0.3, 0.4, 0.5, 0.6, 0.8), (0.3, 0.5))
    sample = max(round(0.025 * adult().rows), 20 * K)
    found = {}
    for ending, rows in ((", table", whole), (", 2.5 % sample", sample)):
        found[ending] = {
            d: [
                measured(
                    Tgc(delta=d, split_limit=NO_LIMIT, size=rows),
                    part(adult(), rows, K, s),
                )
                for s in seeds
            ]
            for d in deltas
        }
    lines = tuple(line for ending, by in found.items() for line in _lines(by, ending))
    panel = _panel("TGCB, no subspaces", "δ", lines)
    gaps = [
        abs(
            panel.line(f"{m}, table").at(d).y / panel.line(f"{m}, 2.5 % sample").at(d).y
            - 1
        )
        for m in BOTH.values()
        for d in deltas
    ]
    return Result(
        name=name,
        title=_title(name, "thresholds on a sample and on the table"),
        source=f"{drawn(adult(), whole)}, and a sample of {sample}; k = {K}, r = 1.",
        spread=repeated(seeds),
        panels=(panel,),
        findings=(
            Finding(
                "tgc figure 5",
                Verdict.HOLDS
                if max(gaps) < 0.1
                else Verdict.IN_PART
                if np.median(gaps) < 0.1
                else Verdict.FAILS,
                f"Table and sample differ by {np.median(gaps):.0%} (median over δ and both "
                f"measures), by {max(gaps):.0%} at most.",
            ),
        ),
    )


def subspaces(scale: Scale, name: str) -> Result:
    """Figures 15 and 16: quality over s."""
    table: Awkward = adult() if name.endswith("15") else normal()
    rows, seeds = scale.of((table.rows, SEEDS), (1000, SEEDS[:1]))
    sizes = scale.of((5, 10, 25, 50, 250, 1000, 5000, table.rows), (5, 25, 1000))
    delta = float(Tgc().solve(part(table, rows, K)).facts["delta"])
    found = {
        s: [
            measured(
                Tgc(size=s, delta=delta, split_limit=NO_LIMIT),
                part(table, rows, K, seed),
            )
            for seed in seeds
        ]
        for s in sizes
    }
    panel = _panel(f"TGCB, δ = {delta:.3f}", "s, rows", _lines(found), log_x=True)
    total = {
        s: panel.line("UM").at(s).y + panel.line("protection").at(s).y for s in sizes
    }
    improves = total[25] < total[5]
    later = [value for s, value in total.items() if s >= 25]
    stable = max(later) / min(later) - 1
    told = ", ".join(f"{s}: {v:.3f}" for s, v in total.items())
    rest = ", ".join(f"{left_over(found[s]):.0%} at s = {s}" for s in sizes)
    return Result(
        name=name,
        title=_title(name, "quality against the size of subspaces"),
        source=f"{drawn(table, rows)}; k = {K}, r = 1.",
        spread=repeated(seeds),
        panels=(panel,),
        findings=(
            Finding(
                f"tgc figure {name.rpartition('-')[2]}",
                judged([improves, stable < 0.1]),
                f"UM + protection by s: {told}. From s = 5k on it varies by {stable:.0%}. "
                f"Rows of rejected clusters, which join the nearest group: {rest}.",
            ),
        ),
    )


def reach(scale: Scale, name: str) -> Result:
    """Figure 17: quality over r."""
    rows, seeds = scale.of((None, SEEDS), (1000, SEEDS[:1]))
    values = scale.of((0.1, 0.25, 0.5, 0.75, 1.0), (0.25, 1.0))
    found = {
        r: [
            measured(
                Tgc(reach=r, split_limit=NO_LIMIT), part(normal(), rows, K, s), reach=r
            )
            for s in seeds
        ]
        for r in values
    }
    panel = _panel("TGCB", "r", _lines(found))
    utility, protection = panel.line("UM").points, panel.line("protection").points
    met = [utility[-1].y < utility[0].y, protection[-1].y > protection[0].y]
    return Result(
        name=name,
        title=_title(name, "quality against the range r"),
        source=f"{drawn(normal(), rows)}; k = {K}.",
        spread=repeated(seeds),
        panels=(panel,),
        findings=(
            Finding(
                "tgc figure 17",
                judged(met),
                f"From r = {utility[0].x:g} to {utility[-1].x:g}, UM goes from "
                f"{utility[0].y:.3f} to {utility[-1].y:.3f} and the S-diversity from "
                f"{protection[0].y:.3f} to {protection[-1].y:.3f} (it is measured at "
                "the same "
                "r, so that more pairs count as r grows).",
            ),
        ),
    )


def weights(scale: Scale, name: str) -> Result:
    """Figure 18: quality over the weight of utility; k = 10."""
    rows, seeds = scale.of((None, SEEDS), (1000, SEEDS[:1]))
    values = scale.of((0.0, 0.25, 0.5, 0.75, 1.0), (0.0, 0.5, 1.0))
    found = {
        w: [
            measured(
                Tgc(utility_weight=w, split_limit=NO_LIMIT), part(normal(), rows, 10, s)
            )
            for s in seeds
        ]
        for w in values
    }
    panel = _panel("TGC", "weight of utility", _lines(found))
    utility = [p.y for p in panel.line("UM").points]
    protection = [p.y for p in panel.line("protection").points]
    met = [utility[-1] < utility[0], protection[-1] > protection[0]]
    orderly = all(a >= b - 1e-9 for a, b in pairwise(utility))
    told = (
        f"UM {', '.join(f'{u:.3f}' for u in utility)} and protection "
        f"{', '.join(f'{p:.3f}' for p in protection)} at weights "
        f"{', '.join(f'{w:g}' for w in values)}"
    )
    verdict = judged([*met, orderly])
    return Result(
        name=name,
        title=_title(name, "quality against weights"),
        source=f"{drawn(normal(), rows)}; k = 10, r = 1.",
        spread=repeated(seeds),
        panels=(panel,),
        findings=(
            Finding("tgc figure 18", verdict, f"{told}."),
            Finding(
                "tgc abstract, trade-off",
                verdict,
                f"By its own two measures: {told}. Both are means over groups, whatever "
                "their size.",
            ),
        ),
    )


def rows_and_time(scale: Scale, name: str) -> Result:
    """Figure 19: time over rows."""
    sizes = scale.of((500, 1000, 2000, 5000, 10_000), (500, 1000, 2000))
    delta = float(Tgc().solve(part(adult(), 2000, K)).facts["delta"])
    cut = Tgc(delta=delta, split_limit=NO_LIMIT)
    cases: dict[str, Callable[[int], Algorithm]] = {
        "Mondrian": lambda _: Mondrian(cut="widest"),
        "K-Members": lambda _: KMember(),
        "TGCB, subspaces of 5k": lambda _: cut,
        "TGCB, no subspaces": lambda n: replace(cut, size=n),
    }
    seeds = scale.of(SEEDS, SEEDS[:1])
    found = {
        who: {
            n: [measured(make(n), part(adult(), n, K, s)) for s in seeds] for n in sizes
        }
        for who, make in cases.items()
    }
    lines = tuple(
        Line(who, tuple(_seconds(n, runs) for n, runs in by_n.items()))
        for who, by_n in found.items()
    )
    panel = Panel(
        title=f"k = {K}, δ = {delta:.3f}",
        x="rows",
        y="seconds of CPU",
        lines=lines,
        log_x=True,
        log_y=True,
    )
    return Result(
        name=name,
        title=_title(name, "time against rows"),
        source=f"Adult, up to {sizes[-1]:,} rows drawn of 30,162 (the paper: 500 to "
        "10,000); δ given.",
        spread=repeated(seeds),
        panels=(panel,),
        findings=tuple(
            _time_findings(panel, found["TGCB, subspaces of 5k"][sizes[-1]])
        ),
    )


def _seconds(x: float, runs: Sequence[Measured]) -> Point:
    return ranged(x, [each.seconds for each in runs])


def _placing(runs: Sequence[Measured]) -> str:
    """What placing the rows of rejected clusters takes, which the paper does not count."""
    share = np.median([each.rest.seconds / each.seconds for each in runs])
    return (
        f"{left_over(runs):.0%} of the rows lie in rejected clusters, and placing them "
        f"takes {share:.0%} of the time"
    )


def _time_findings(panel: Panel, cut: Sequence[Measured]) -> Iterator[Finding]:
    slopes = {line.name: _slope(line) for line in panel.lines}
    last = {line.name: line.points[-1].y for line in panel.lines}
    fastest = min(last, key=last.__getitem__) == "Mondrian"
    near = last["TGCB, subspaces of 5k"] <= 2 * last["Mondrian"]
    square = slopes["TGCB, no subspaces"] > 1.6
    told = "; ".join(
        f"{who}: rows to the power of {s:.2f}, {last[who]:.2f} s"
        for who, s in slopes.items()
    )
    yield Finding(
        "tgc figure 19",
        judged([fastest, near, square]),
        f"At {panel.lines[0].points[-1].x:,.0f} rows: {told}. With subspaces "
        f"{_placing(cut)}, which the paper's analysis leaves out.",
    )
    yield Finding(
        "tgc abstract, scale",
        judged([slopes["TGCB, subspaces of 5k"] < 1.3]),
        f"TGCB with subspaces grows as rows to the power of "
        f"{slopes['TGCB, subspaces of 5k']:.2f}: {_placing(cut)}.",
    )


def _slope(line: Line) -> float:
    """The exponent of the growth over the upper half of the sizes."""
    points = line.points[len(line.points) // 2 - 1 :]
    xs, ys = np.log([p.x for p in points]), np.log([max(p.y, 1e-4) for p in points])
    return float(np.polyfit(xs, ys, 1)[0])


def size_and_time(scale: Scale, name: str) -> Result:
    """Figure 20: time over s."""
    rows = scale.of(10_000, 1000)
    sizes = scale.of((10, 25, 50, 250, 500, 2500, 10_000), (10, 100, 1000))
    delta = float(Tgc().solve(part(adult(), 2000, K)).facts["delta"])
    seeds = scale.of(SEEDS, SEEDS[:1])
    found = {
        s: [
            measured(
                Tgc(size=s, delta=delta, split_limit=NO_LIMIT),
                part(adult(), rows, K, seed),
            )
            for seed in seeds
        ]
        for s in sizes
    }
    line = Line("TGCB", tuple(_seconds(s, runs) for s, runs in found.items()))
    panel = Panel(
        title=f"k = {K}, δ = {delta:.3f}",
        x="s, rows",
        y="seconds of CPU",
        lines=(line,),
        log_x=True,
    )
    small = [p.y for p in line.points if p.x <= 100 * K]
    return Result(
        name=name,
        title=_title(name, "time against the size of subspaces"),
        source=f"{drawn(adult(), rows)} (the paper: 10,000); δ given.",
        spread=repeated(seeds),
        panels=(panel,),
        findings=(
            Finding(
                "tgc figure 20",
                Verdict.HOLDS if max(small) <= 2 * min(small) else Verdict.FAILS,
                f"Below s = 100k the time lies between {min(small):.2f} and "
                f"{max(small):.2f} "
                f"s; without subspaces it is {line.points[-1].y:.2f} s. At s = {sizes[0]} "
                f"{_placing(found[sizes[0]])}; at s = {sizes[-1]:,} "
                f"{_placing(found[sizes[-1]])}.",
            ),
        ),
    )
