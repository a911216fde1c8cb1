"""What figures 4a, 4b and 5a to 5d of DIVA say about the claims made of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from experiments.results import Finding, Line, Panel, judged

LINEAR = 0.75
"""What a straight line explains at least where a decline is called linear."""


def constraint_findings(accuracy: Panel, seconds: Panel) -> Iterator[Finding]:
    """Figures 4a and 4b: growth of time, and decline of accuracy."""
    xs = [p.x for line in seconds.lines for p in line.points]
    first, last = min(xs), max(xs)
    growth = {
        line.name: line.points[-1].y / max(line.points[0].y, 1e-9)
        for line in seconds.lines
    }
    told = ", ".join(f"{g:.1f} times ({who})" for who, g in growth.items())
    silent = [line.name for line in seconds.lines if line.points[-1].x < last]
    basic = [p.y for p in seconds.line("basic").points]
    steps = [b / max(a, 1e-9) for a, b in pairwise(basic)]
    exponential = "basic" in silent or (len(steps) > 1 and min(steps) > 1.5)
    linear = all(
        growth.get(who, np.inf) <= 2 * last / first and who not in silent
        for who in ("min-choice", "max-fan-out")
    )
    ending = (
        f" Out of budget before the last: {', '.join(silent)}."
        if silent
        else " All strategies answer: candidates are made lazily and best first."
    )
    yield Finding(
        "diva figure 4a",
        judged([exponential, linear]),
        f"From {first:g} to {last:g} constraints time grows {told}.{ending}",
    )
    yield _decline(accuracy)


def _decline(accuracy: Panel) -> Finding:
    """Whether accuracy falls along a straight line, and by how much."""
    falls = [line.points[-1].y < line.points[0].y for line in accuracy.lines]
    straight = {line.name: _straight(line) for line in accuracy.lines}
    ends = ", ".join(
        f"{line.name} {line.points[0].y:.4f} → {line.points[-1].y:.4f} "
        f"({line.points[-1].y / line.points[0].y - 1:+.2%})"
        for line in accuracy.lines
    )
    told = ", ".join(f"{who} {share:.0%}" for who, share in straight.items())
    return Finding(
        "diva figure 4b",
        judged([*falls, *(share > LINEAR for share in straight.values())]),
        f"Accuracy: {ends}. Of its variation a straight line explains {told}.",
    )


def _straight(line: Line) -> float:
    """The share of the variation of y that a straight line over x explains."""
    ys = [p.y for p in line.points]
    if len(set(ys)) == 1:
        return 1.0
    return float(np.corrcoef([p.x for p in line.points], ys)[0, 1] ** 2)


def accuracy_finding(panels: Sequence[Panel]) -> Finding:
    """Figure 5a: decline, and DIVA beside the baselines."""
    falls, near, told = [], [], []
    for panel in panels:
        falls += [line.points[-1].y < line.points[0].y for line in panel.lines]
        base = [line for line in panel.lines if "DIVA" not in line.name]
        mine = panel.line("DIVA max-fan-out")
        near += [p.y >= min(b.at(p.x).y for b in base) for p in mine.points]
        told.append(
            f"{panel.title}: "
            + ", ".join(
                f"{line.name} {line.points[0].y:.3f} → {line.points[-1].y:.3f}"
                for line in panel.lines
            )
        )
    return Finding(
        "diva figure 5a",
        judged([all(falls), all(near)]),
        f"From the lowest to the highest k. {'; '.join(told)}.",
    )


def time_finding(panels: Sequence[Panel]) -> Finding:
    """Figure 5b: DIVA beside the baselines, and decline."""
    met, told = [], []
    for panel in panels:
        mine = panel.line("DIVA max-fan-out").points
        base = [line for line in panel.lines if "DIVA" not in line.name]
        slower = [p.y > max(line.at(p.x).y for line in base) for p in mine]
        met += [all(slower), mine[-1].y < mine[0].y]
        ends = ", ".join(
            f"{line.name} {line.points[0].y:.2f} → {line.points[-1].y:.2f} s"
            for line in panel.lines
        )
        told.append(
            f"{panel.title}: slower than every baseline at {sum(slower)} of {len(slower)} "
            f"k; {ends}"
        )
    return Finding("diva figure 5b", judged(met), f"{'. '.join(told)}.")


def row_findings(accuracy: Panel, seconds: Panel) -> Iterator[Finding]:
    """Figures 5c and 5d, and what abstract, section 3.3 and conclusion say of them."""
    mine = accuracy.line("DIVA max-fan-out")
    base = [line for line in accuracy.lines if not line.name.startswith("DIVA")]
    above = {line.name: all(mine.at(p.x).y > p.y for p in line.points) for line in base}
    told = ", ".join(
        f"{line.name} {line.points[0].y:.3f} → {line.points[-1].y:.3f}"
        for line in accuracy.lines
    )
    falls = mine.points[-1].y < mine.points[0].y
    yield Finding(
        "diva figure 5c",
        judged([*above.values(), falls]),
        f"DIVA is above {', '.join(n for n, a in above.items() if a) or 'none'}, not above "
        f"{', '.join(n for n, a in above.items() if not a) or 'none'}, at every size. "
        f"{told}.",
    )
    grows = [line.points[-1].y > line.points[0].y for line in seconds.lines]
    slopes = {line.name: _slope(line) for line in seconds.lines}
    ends = ", ".join(f"{who} {s:.2f}" for who, s in slopes.items())
    yield Finding("diva figure 5d", judged(grows), f"Rows to the power of: {ends}.")
    yield Finding(
        "diva section 3.3",
        judged([slopes["DIVA max-fan-out"] < 2.5]),
        f"Rows to the power of {slopes['DIVA max-fan-out']:.2f} with the base k-member, "
        f"which alone has {slopes['k-member']:.2f}. A search that ran out of its budget "
        "ends without an answer.",
    )
    last = mine.points[-1].x
    ends_there = [line.at(last).y for line in base if line.points[-1].x == last]
    overhead = mine.at(last).y - max(ends_there)
    yield Finding(
        "diva abstract, effectiveness",
        judged([any(above.values()), overhead > -0.02]),
        f"At {mine.points[-1].x:,.0f} rows DIVA keeps {mine.points[-1].y:.3f} of the "
        "cells, "
        f"{overhead:+.3f} against the best baseline, and meets all constraints.",
    )
    yield _overhead(seconds)


def _overhead(seconds: Panel) -> Finding:
    """What constraints cost, beside the base alone and beside Mondrian."""
    mine = seconds.line("DIVA max-fan-out").points[-1]
    times = {n: mine.y / seconds.line(n).at(mine.x).y for n in ("k-member", "Mondrian")}
    told = " and ".join(f"{t:.1f} times as long as {n}" for n, t in times.items())
    return Finding(
        "diva conclusion, overhead",
        judged([t > 1 for t in times.values()]),
        f"At {mine.x:,.0f} rows DIVA takes {told} (CPU time).",
    )


def _slope(line: Line) -> float:
    xs = np.log([p.x for p in line.points])
    ys = np.log([max(p.y, 1e-4) for p in line.points])
    return float(np.polyfit(xs, ys, 1)[0])
