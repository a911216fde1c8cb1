"""DIVA's strategies under tension, and their distance from the optimum.

Small tables with narrow ranges around the counts of a known release tell strategies
apart; tables of up to eight rows are small enough to try everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from experiments.diva_sources import narrow, tangled
from experiments.results import (
    Finding,
    Line,
    Listing,
    Panel,
    Result,
    Scale,
    averaged,
    judged,
)
from sfumato.algorithms.diva.diva import STRATEGIES, Diva
from sfumato.errors import InfeasibleError, SearchError
from tests.unit.algorithms.diva_cases import Case, drawn, fewest_stars, stars_of

K, NUMBER = 4, 8


@dataclass(frozen=True)
class Tally:
    """What one strategy did on all small tables."""

    answers: list[float]
    tried: list[float]
    backtracks: list[float]


def tally(strategy: str, tables: int, budget: int) -> Tally:
    """Run one strategy on every table."""
    found = Tally([], [], [])
    for seed in range(tables):
        data = tangled(seed)
        request = data.request(K, narrow(data, seed, NUMBER, K), seed)
        algorithm = Diva(
            strategy=strategy, base="mondrian", loss="stars", budget=budget, tries=1
        )
        try:
            facts = algorithm.solve(request).facts
        except (SearchError, InfeasibleError):
            found.answers.append(0.0)
            continue
        found.answers.append(1.0)
        found.tried.append(float(facts["clusterings_tried"]))
        found.backtracks.append(float(facts["backtracks"]))
    return found


def stars(case: Case, strategy: str) -> int | None:
    """The stars of an answer, checked by definition; None if there is none."""
    try:
        grouping = Diva(strategy=strategy, loss="stars", tries=20).solve(case.request())
    except (InfeasibleError, SearchError):
        return None
    found, met, smallest = stars_of(case, grouping.grouping)
    if not met or smallest < case.k:
        raise SystemExit("An answer breaks a requirement.")
    return found


def gaps(number: int) -> Iterator[tuple[str, float, float]]:
    """Mean excess of stars over the optimum, and the share that is optimal."""
    generator = np.random.default_rng(11)
    cases = [drawn(generator) for _ in range(number)]
    best = [fewest_stars(case) for case in cases]
    for strategy in STRATEGIES:
        pairs = [(stars(c, strategy), b) for c, b in zip(cases, best, strict=True)]
        excess = np.array([f / b - 1 for f, b in pairs if f is not None and b])
        yield strategy, float(excess.mean()), float(np.mean(excess == 0))


def run(scale: Scale, name: str) -> Result:
    """Strategies on small tables."""
    tables, budget, small = scale.of((60, 1_000_000, 60), (8, 200_000, 12))
    found = {strategy: tally(strategy, tables, budget) for strategy in STRATEGIES}
    far = list(gaps(small))
    panels = tuple(_panels(found))
    listing = Listing(
        f"{small} tables of up to eight rows against trying everything",
        ("strategy", "stars above the optimum, mean", "optimal"),
        tuple((s, f"{gap:.1%}", f"{share:.0%}") for s, gap, share in far),
    )
    return Result(
        name=name,
        title="DIVA: the strategies under tension",
        source=f"{tables} made tables of 60 rows, {NUMBER} narrow constraints, k = {K}.",
        spread=f"Whiskers: 95 % interval over tables; budget {budget:,} rows.",
        panels=panels,
        listings=(listing,),
        findings=(_finding(panels, far),),
    )


def _panels(found: Mapping[str, Tally]) -> Iterator[Panel]:
    for title, unit, values in (
        ("Answers within the budget", "share of tables", "answers"),
        ("Clusterings tried, where answered", "clusterings", "tried"),
    ):
        points = tuple(
            averaged(i, getattr(each, values) or [0.0])
            for i, each in enumerate(found.values())
        )
        yield Panel(
            title=title,
            x="strategy",
            y=unit,
            lines=(Line("mean over tables", points),),
            x_names=tuple(found),
        )


def _finding(
    panels: Sequence[Panel], far: Sequence[tuple[str, float, float]]
) -> Finding:
    share = [p.y for p in panels[0].lines[0].points]
    tried = [p.y for p in panels[1].lines[0].points]
    met = [min(share[1:]) > share[0], max(tried[1:]) < tried[0]]
    names = panels[0].x_names
    told = ", ".join(
        f"{n} {s:.0%} with {t:,.0f} clusterings tried"
        for n, s, t in zip(names, share, tried, strict=True)
    )
    gap = ", ".join(f"{s} {g:.0%}" for s, g, _ in far)
    return Finding(
        "diva conclusion, strategies",
        judged(met),
        f"Answers within the budget: {told}. Stars above the optimum on tiny tables: "
        f"{gap}.",
    )
