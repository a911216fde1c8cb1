"""Future work of DIVA: coloring in parallel."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from experiments.diva_sources import census, proportional, strategies
from experiments.results import Finding, Line, Panel, Result, Scale, Verdict, ranged

K = 20


def run(scale: Scale, name: str) -> Result:
    """Coloring with one thread and with two."""
    rows, repeats = scale.of((40_000, 3), (2000, 1))
    data = census().first(rows)
    asked = proportional(data, 16, K, 1.0)
    algorithm = strategies("mondrian")["max-fan-out"]
    seconds: dict[int, list[float]] = {1: [], 2: []}
    groupings = {}
    for _ in range(repeats):
        for threads in seconds:
            request = replace(data.request(K, asked, 1), threads=threads)
            begin = time.perf_counter()
            groupings[threads] = algorithm.solve(request).grouping.group_of
            seconds[threads].append(time.perf_counter() - begin)
    same = bool(np.array_equal(groupings[1], groupings[2]))
    points = tuple(ranged(threads, values) for threads, values in seconds.items())
    panel = Panel(
        title="Coloring by threads",
        x="threads",
        y="seconds",
        lines=(Line("max-fan-out, base Mondrian", points),),
    )
    gain = points[0].y / points[1].y
    return Result(
        name=name,
        title="DIVA, future work: coloring in parallel",
        source=f"Census-Income, {rows:,} rows (capped); k = {K}, {len(asked)} constraints.",
        spread=f"Lowest and highest of {repeats} runs; other programs ran beside.",
        panels=(panel,),
        findings=(
            Finding(
                "diva future work, parallel",
                Verdict.HOLDS if same and gain > 1.2 else Verdict.IN_PART,
                "Parts of the graph that share no row are colored side by side "
                "(`threads`): "
                f"{'the same' if same else 'another'} grouping, {gain:.2f} times as fast "
                "with two threads on a machine that others used too.",
            ),
        ),
    )
