"""The slides' open question: does machine learning disclose what a release hides?

A classifier learns sensitive values from the published rows and is asked about the
people in them, and about people who are not in the table (control).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

import sfumato as sf
from benchmarks.sources import directory
from experiments.results import (
    Finding,
    Line,
    Panel,
    Point,
    Result,
    Scale,
    Verdict,
    exact,
    wilson,
)
from experiments.slides_walk import ROWS, STEPS, people, reading, walk


def attacked(sample: int) -> dict[str, Any]:
    """The learning attack on each release of the walk."""
    path = directory() / "adult" / "adult_clean_30162.csv.gz"
    control = pd.read_csv(path, dtype=str).iloc[ROWS : 2 * ROWS]
    return {
        name: sf.attack(
            step.release.data,
            people(),
            ["inference"],
            reading(pd.concat([people(), control]), STEPS[name]),
            control=control,
            sample=sample,
            insecure_seed=1,
        )
        for name, step in walk().items()
    }


def run(scale: Scale, name: str) -> Result:
    """Success on people in the table, outside it, and by the marginals alone."""
    sample = scale.of(3000, 300)
    found = {step: each["inference"] for step, each in attacked(sample).items()}
    numbered = list(enumerate(found.values()))
    lines = (
        Line(
            "people in the table",
            tuple(Point(i, r.success, r.low, r.high) for i, r in numbered),
        ),
        Line("people outside", tuple(_outside(i, r) for i, r in numbered)),
        Line("marginals alone", tuple(exact(i, r.baseline) for i, r in numbered)),
    )
    panel = Panel(
        title="Occupation guessed by a trained classifier",
        x="release",
        y="share guessed right",
        lines=lines,
        x_names=tuple(found),
    )
    return Result(
        name=name,
        title="Slides: machine learning for disclosure",
        source=f"Adult, first {ROWS:,} rows; outside: the next {ROWS:,}; {sample:,} "
        "people attacked of each.",
        spread="Whiskers: 95 % intervals over people (Wilson's).",
        panels=(panel,),
        findings=(_finding(found),),
    )


def _outside(x: float, found: Any) -> Point:
    """The success on as many people who are not in the table."""
    return wilson(x, round(found.control * found.n), found.n)


def _finding(found: Mapping[str, Any]) -> Finding:
    above = {name: r.success - r.control for name, r in found.items()}
    told = "; ".join(
        f"{name}: {r.success:.1%} of members, {r.control:.1%} of others, "
        f"{r.baseline:.1%} by marginals"
        for name, r in found.items()
    )
    learned = any(r.low > _outside(0, r).high for r in found.values())
    least = min(above.values())
    return Finding(
        "slides machine learning",
        Verdict.HOLDS if learned else Verdict.FAILS,
        f"{told}. The classifier is about as often right about people outside: it gains "
        f"{100 * least:+.1f} to {100 * max(above.values()):+.1f} points on members.",
    )
