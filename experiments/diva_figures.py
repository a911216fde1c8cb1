"""Figures 4a to 4d and 5a to 5d of DIVA: accuracy and time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from experiments.diva_sources import (
    BASELINES,
    Data,
    Run,
    census,
    made,
    pantheon,
    proportional,
    starred,
    strategies,
)
from experiments.diva_sources import (
    run as run_one,
)
from experiments.results import (
    Finding,
    Line,
    Panel,
    Point,
    Result,
    Scale,
    averaged,
    judged,
)
from sfumato.algorithms.diva.constraint_targets import Sigma
from sfumato.models.diversity import Diversity

K = 20
ACCURACY = "accuracy (share of cells shown)"
GROUPS = "mean size of a row's group (DM / rows)"
SEEDS = (1, 2, 3, 4, 5)
BASE = "Mondrian"
BANDS = f"Bands: 95 % interval of the mean over {len(SEEDS)} seeds."
NOTES = (
    "Accuracy is the share of the cells of quasi-identifiers that show their value. The "
    "paper measures accuracy by discernibility (DM) without printing its formula; where "
    "our figure is far from the paper's, DM is shown as well. The conflict rate of two "
    "constraints is the share of the rows of the smaller one that belong to both; that of "
    "a set is the mean over its pairs.",
)
SECONDS = "seconds of CPU"
Runs = Mapping[str, Mapping[float, Sequence[Run]]]


def run(scale: Scale, name: str) -> Result:
    """One pair of figures."""
    figures: Mapping[str, Callable[[Scale, str], Result]] = {
        "4ab": constraints,
        "4c": conflict,
        "4d": distributions,
        "5ab": sizes,
        "5cd": rows,
    }
    return figures[name.rpartition("-")[2]](scale, name)


def _panels(found: Runs, x: str, *, log_y: bool = False) -> tuple[Panel, Panel]:
    """Accuracy and time."""
    lines = [
        tuple(
            Line(
                who,
                tuple(
                    averaged(at, [getattr(each, measure) for each in runs])
                    for at, runs in by_x.items()
                    if runs
                ),
            )
            for who, by_x in found.items()
            if any(by_x.values())
        )
        for measure in ("accuracy", "seconds")
    ]
    return (
        Panel(title="Accuracy", x=x, y=ACCURACY, lines=lines[0]),
        Panel(title="Time", x=x, y=SECONDS, lines=lines[1], log_y=log_y),
    )


def _group_panel(found: Runs, x: str, x_names: tuple[str, ...] = ()) -> Panel:
    """The other reading of accuracy: how large the groups are."""
    lines = tuple(
        Line(
            who,
            tuple(
                averaged(at, [r.group_size for r in runs]) for at, runs in by_x.items()
            ),
        )
        for who, by_x in found.items()
        if all(by_x.values())
    )
    return Panel(
        title="Size of groups; lower is better",
        x=x,
        y=GROUPS,
        lines=lines,
        x_names=x_names,
    )


def _effort(found: Runs) -> str:
    """How hard the search was for each strategy, where it found an answer."""
    told = []
    for who, by_x in found.items():
        facts = [r.facts for runs in by_x.values() for r in runs]
        if facts and "backtracks" in facts[0]:
            tried, back = (
                np.mean([f[n] for f in facts])
                for n in ("clusterings_tried", "backtracks")
            )
            told.append(f"{who} {tried:.1f} and {back:.1f}")
    return "Clusterings tried and taken back, mean over runs: " + ", ".join(told) + "."


def _all(made: Sequence[Run | None]) -> list[Run]:
    return [each for each in made if each is not None]


def constraints(scale: Scale, name: str) -> Result:
    """Figures 4a and 4b: Census, over the number of constraints."""
    rows, seeds = scale.of((30_000, SEEDS), (3000, SEEDS[:1]))
    numbers = scale.of((4, 8, 12, 16, 20), (4, 12))
    data = census().first(rows)
    found = {
        who: {
            float(n): _all(
                [
                    run_one(a, data.request(K, proportional(data, n, K, 1.0), s))
                    for s in seeds
                ]
            )
            for n in numbers
        }
        for who, a in strategies("mondrian").items()
    }
    accuracy, seconds = _panels(found, "|Σ|, constraints")
    return Result(
        name=name,
        title="DIVA, figures 4a and 4b: time and accuracy against |Σ|",
        source=f"Census-Income, first {rows:,} rows; k = {K}; base Mondrian.",
        spread=BANDS,
        notes=NOTES,
        panels=(seconds, accuracy),
        findings=tuple(_constraint_findings(accuracy, seconds)),
    )


def _constraint_findings(accuracy: Panel, seconds: Panel) -> Iterator[Finding]:
    first, last = (end(p.x for p in _points(seconds)) for end in (min, max))
    growth = {
        line.name: line.points[-1].y / max(line.points[0].y, 1e-9)
        for line in seconds.lines
    }
    told = ", ".join(f"{who} {g:.1f} times" for who, g in growth.items())
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
    falls = [line.points[-1].y < line.points[0].y for line in accuracy.lines]
    ends = ", ".join(
        f"{line.name} {line.points[0].y:.4f} → {line.points[-1].y:.4f}"
        for line in accuracy.lines
    )
    yield Finding("diva figure 4b", judged(falls), f"Accuracy: {ends}.")


def _points(panel: Panel) -> list[Point]:
    return [point for line in panel.lines for point in line.points]


def conflict(scale: Scale, name: str) -> Result:
    """Figure 4c: Pantheon, over the conflict rate."""
    goals = scale.of((0.0, 0.2, 0.4, 0.6, 0.8, 1.0), (0.0, 0.4))
    rows, draws, seeds = scale.of((None, 400, SEEDS), (3000, 60, SEEDS[:1]))
    data = pantheon().first(rows)
    sets = list(_by_conflict(data, goals, draws))
    found = {
        who: {
            rate: _all([run_one(a, data.request(K, asked, s)) for s in seeds])
            for rate, asked in sets
        }
        for who, a in strategies("mondrian").items()
    }
    x = "conflict rate of 8 constraints"
    accuracy, _ = _panels(found, x)
    return Result(
        name=name,
        title="DIVA, figure 4c: accuracy against conflict rate",
        source=f"Pantheon, {data.table.num_rows:,} rows; k = {K}, 8 constraints; base "
        "Mondrian.",
        spread=BANDS,
        panels=(accuracy, _group_panel(found, x)),
        notes=NOTES,
        findings=(_conflict_finding(accuracy, found),),
    )


def _by_conflict(
    data: Data, goals: Sequence[float], draws: int
) -> Iterator[tuple[float, list[Diversity]]]:
    """Sets of constraints drawn at random, one near each rate."""
    random = np.random.default_rng(4)
    pool = proportional(data, 40, K, 1.0)
    tried = []
    for _ in range(draws):
        chosen = [pool[i] for i in random.permutation(len(pool))[:8]]
        rate = Sigma.of(data.request(K, chosen, 1), k=K).conflict_rate
        tried.append((rate, chosen))
    seen: set[float] = set()
    for goal in goals:
        rate, chosen = min(tried, key=lambda each: abs(each[0] - goal))
        if round(rate, 2) not in seen:
            seen.add(round(rate, 2))
            yield round(rate, 2), chosen


def _conflict_finding(panel: Panel, found: Runs) -> Finding:
    means = {
        line.name: float(np.mean([p.y for p in line.points])) for line in panel.lines
    }
    basic = means.get("basic", float("nan"))
    gains = {who: value / basic - 1 for who, value in means.items() if who != "basic"}
    missed = {who: sum(not runs for runs in by.values()) for who, by in found.items()}
    falls = [line.points[-1].y < line.points[0].y for line in panel.lines]
    top = max(p.x for line in panel.lines for p in line.points)
    sizes = {
        who: float(np.mean([r.group_size for runs in by.values() for r in runs]))
        for who, by in found.items()
        if any(by.values())
    }
    told = ", ".join(f"{who} {size:.1f}" for who, size in sizes.items())
    return Finding(
        "diva figure 4c",
        judged([all(falls), all(g > 0.05 for g in gains.values())]),
        f"Above basic: {', '.join(f'{who} {g:+.1%}' for who, g in gains.items())}; "
        "settings "
        f"without an answer: {', '.join(f'{who} {n}' for who, n in missed.items())}. The "
        f"highest conflict rate found among random sets of 8 is {top:.2f}. By "
        f"the other reading of accuracy, a row's group has {told} rows on average. "
        f"{_effort(found)} Under constraints that leave less room the strategies do "
        "differ, in whether they find an answer: `diva-strategies`.",
    )


def distributions(scale: Scale, name: str) -> Result:
    """Figure 4d: synthetic populations."""
    rows, seeds = scale.of((100_000, SEEDS), (4000, SEEDS[:1]))
    names = ("uniform", "gaussian", "zipfian")
    found: dict[str, dict[float, list[Run]]] = {}
    for place, distribution in enumerate(names):
        data = made(distribution).first(rows)
        asked = proportional(data, 8, K, 1.0)
        for who, algorithm in strategies("mondrian").items():
            runs = _all([run_one(algorithm, data.request(K, asked, s)) for s in seeds])
            found.setdefault(who, {})[float(place)] = runs
        alone = run_one(BASELINES["Mondrian"], starred(data, K))
        found.setdefault(BASE, {})[float(place)] = _all([alone])
    lines = _panels(found, "distribution")[0].lines
    panel = Panel(
        title="Accuracy by distribution",
        x="distribution",
        y=ACCURACY,
        lines=lines,
        x_names=names,
    )
    best = panel.line("max-fan-out")
    ordered = best.at(0).y > best.at(1).y > best.at(2).y
    gains = [best.at(x).y / panel.line("basic").at(x).y - 1 for x in (0, 1, 2)]
    told = ", ".join(
        f"{line.name} {'/'.join(f'{p.y:.3f}' for p in line.points)}" for line in lines
    )
    return Result(
        name=name,
        title="DIVA, figure 4d: accuracy by distribution",
        source=f"Synthetic, {rows:,} rows, seven columns; k = {K}, 8 constraints.",
        spread=BANDS.replace("Bands", "Whiskers"),
        panels=(panel, _group_panel(found, "distribution", names)),
        notes=NOTES,
        findings=(
            Finding(
                "diva figure 4d",
                judged([ordered, min(gains) > 0.05]),
                f"Uniform/Gaussian/Zipfian: {told}. MaxFanOut is {min(gains):+.2%} to "
                f"{max(gains):+.2%} above Basic. {BASE} stands for the base "
                "alone: the order of the three tables does not come from contention among "
                f"constraints. {_effort(found)}",
            ),
        ),
    )


def _with_baselines(
    data: Data, k: int, base: str, seeds: Sequence[int]
) -> dict[str, list[Run]]:
    """Runs of DIVA with 8 constraints, and of algorithms that know none."""
    asked = proportional(data, 8, k, 1.0)
    found = {
        f"DIVA {who}": _all([run_one(a, data.request(k, asked, s)) for s in seeds])
        for who, a in strategies(base).items()
        if who != "basic"
    }
    return found | {
        who: _all([run_one(a, starred(data, k, s)) for s in seeds])
        for who, a in BASELINES.items()
    }


def _collected(cases: Mapping[float, Mapping[str, list[Run]]]) -> Runs:
    names = list(next(iter(cases.values())))
    return {who: {x: each[who] for x, each in cases.items()} for who in names}


def sizes(scale: Scale, name: str) -> Result:
    """Figures 5a and 5b: over k, beside the baselines."""
    count, seeds = scale.of((10_000, SEEDS), (2000, SEEDS[:1]))
    ks = scale.of((10, 20, 30, 40, 50), (10, 30))
    data = census().first(count)
    cases = {float(k): _with_baselines(data, k, "k-member", seeds) for k in ks}
    accuracy, seconds = _panels(_collected(cases), "k", log_y=True)
    return Result(
        name=name,
        title="DIVA, figures 5a and 5b: accuracy and time against k",
        source=f"Census-Income, first {count:,} rows; 8 constraints; base k-member.",
        spread=BANDS,
        notes=NOTES,
        panels=(accuracy, seconds),
        findings=tuple(_size_findings(accuracy, seconds)),
    )


def _size_findings(accuracy: Panel, seconds: Panel) -> Iterator[Finding]:
    falls = [line.points[-1].y < line.points[0].y for line in accuracy.lines]
    mine = accuracy.line("DIVA max-fan-out")
    base = [line for line in accuracy.lines if not line.name.startswith("DIVA")]
    near = [p.y >= min(b.at(p.x).y for b in base) for p in mine.points]
    told = ", ".join(
        f"{line.name} {line.points[0].y:.3f} → {line.points[-1].y:.3f}"
        for line in accuracy.lines
    )
    yield Finding(
        "diva figure 5a",
        judged([all(falls), all(near)]),
        f"Accuracy from the lowest to the highest k: {told}.",
    )
    time_of = seconds.line("DIVA max-fan-out")
    slower = [
        p.y > max(line.at(p.x).y for line in seconds.lines if "DIVA" not in line.name)
        for p in time_of.points
    ]
    shrinks = time_of.points[-1].y < time_of.points[0].y
    ends = ", ".join(
        f"{line.name} {line.points[0].y:.2f} → {line.points[-1].y:.2f} s"
        for line in seconds.lines
    )
    yield Finding(
        "diva figure 5b",
        judged([all(slower), shrinks]),
        f"Slower than every baseline at {sum(slower)} of {len(slower)} k. {ends}.",
    )


def rows(scale: Scale, name: str) -> Result:
    """Figures 5c and 5d: over the rows, beside the baselines."""
    counts = scale.of((2000, 5000, 10_000, 20_000, 40_000), (1000, 2000))
    seeds = scale.of(SEEDS, SEEDS[:1])
    cases = {
        float(n): _with_baselines(census().first(n), K, "k-member", seeds)
        for n in counts
    }
    accuracy, seconds = _panels(_collected(cases), "|R|, rows", log_y=True)
    return Result(
        name=name,
        title="DIVA, figures 5c and 5d: accuracy and time against |R|",
        source=f"Census-Income, up to its first {counts[-1]:,} rows; k = {K}, 8 "
        "constraints; base k-member.",
        spread=BANDS,
        notes=NOTES,
        panels=(accuracy, seconds),
        findings=tuple(_row_findings(accuracy, seconds)),
    )


def _row_findings(accuracy: Panel, seconds: Panel) -> Iterator[Finding]:
    mine = accuracy.line("DIVA max-fan-out")
    base = [line for line in accuracy.lines if not line.name.startswith("DIVA")]
    above = {line.name: all(p.y > line.at(p.x).y for p in mine.points) for line in base}
    told = ", ".join(
        f"{line.name} {line.points[0].y:.3f} → {line.points[-1].y:.3f}"
        for line in accuracy.lines
    )
    yield Finding(
        "diva figure 5c",
        judged(list(above.values())),
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
    overhead = mine.points[-1].y - max(line.points[-1].y for line in base)
    yield Finding(
        "diva abstract, effectiveness",
        judged([any(above.values()), overhead > -0.02]),
        f"At {mine.points[-1].x:,.0f} rows DIVA keeps {mine.points[-1].y:.3f} of the "
        "cells, "
        f"{overhead:+.3f} against the best baseline, and meets all constraints.",
    )


def _slope(line: Line) -> float:
    xs = np.log([p.x for p in line.points])
    ys = np.log([max(p.y, 1e-4) for p in line.points])
    return float(np.polyfit(xs, ys, 1)[0])
