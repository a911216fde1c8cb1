"""Future work of DIVA: coloring in parallel.

Constraints on the values of one column share no row: each is a part of the graph of its
own, and parts are colored side by side. Constraints on several columns share rows and
make one part, which one thread colors.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from experiments.diva_sources import Data, census, proportional, strategies
from experiments.results import Finding, Line, Panel, Result, Scale, Verdict, ranged
from sfumato.models.diversity import Diversity

K = 20
THREADS = (1, 2)


@dataclass(frozen=True)
class Timed:
    """Wall seconds by threads, whether groupings agree, and parts of the graph."""

    seconds: Mapping[int, Sequence[float]]
    same: bool
    parts: int

    @property
    def gain(self) -> float:
        """How many times as fast two threads are, by the fastest run of each."""
        return min(self.seconds[1]) / min(self.seconds[2])


def timed(data: Data, asked: Sequence[Diversity], repeats: int) -> Timed:
    """Runs with one thread and with two, in turn, after one that loads all code."""
    algorithm = strategies("mondrian")["max-fan-out"]
    algorithm.solve(data.request(K, asked, 1))
    seconds: dict[int, list[float]] = {threads: [] for threads in THREADS}
    groupings, parts = {}, 0
    for _ in range(repeats):
        for threads in THREADS:
            request = replace(data.request(K, asked, 1), threads=threads)
            begin = time.perf_counter()
            solution = algorithm.solve(request)
            seconds[threads].append(time.perf_counter() - begin)
            groupings[threads] = solution.grouping.group_of
            parts = int(solution.facts["components"])
    return Timed(seconds, bool(np.array_equal(groupings[1], groupings[2])), parts)


def run(scale: Scale, name: str) -> Result:
    """One column's constraints, and those of several columns."""
    size: tuple[int | None, int] = (None, 5)
    rows, repeats = scale.of(size, (5000, 1))
    data = census().first(rows)
    cases = {
        "education alone": proportional(replace(data, on=("education",)), 16, K, 1.0),
        "five columns": proportional(data, 16, K, 1.0),
    }
    alone = [c for c in cases["education alone"] if len(c.where) == 1]
    clock, cpu = time.perf_counter(), time.process_time()
    found = {
        "education alone": timed(data, alone, repeats),
        "five columns": timed(data, cases["five columns"], repeats),
    }
    busy = os.getloadavg()[0]
    waited = time.perf_counter() - clock > 1.1 * (time.process_time() - cpu)
    return Result(
        name=name,
        title="DIVA, future work: coloring in parallel",
        source=f"Census-Income, {data.table.num_rows:,} rows; k = {K}; a part is a set of "
        "constraints that share rows.",
        spread=f"Whiskers: lowest and highest of {repeats} runs; dots: medians. Load "
        f"average {busy:.0f} on {os.cpu_count()} cores.",
        panels=(_panel(found),),
        findings=(_finding(found, busy, waited=waited),),
    )


def _parts(found: Timed) -> str:
    return "one part" if found.parts == 1 else f"{found.parts} parts"


def _panel(found: Mapping[str, Timed]) -> Panel:
    return Panel(
        title="Time by threads",
        x="threads that color the graph",
        y="seconds by the clock",
        lines=tuple(
            Line(
                f"constraints on {who} ({_parts(each)})",
                tuple(ranged(i, v) for i, v in enumerate(each.seconds.values())),
            )
            for who, each in found.items()
        ),
        x_names=tuple(map(str, THREADS)),
    )


def _finding(found: Mapping[str, Timed], busy: float, *, waited: bool) -> Finding:
    apart = found["education alone"]
    same = all(each.same for each in found.values())
    told = "; ".join(
        f"constraints on {who} ({_parts(each)}) run {each.gain:.2f} times as fast"
        for who, each in found.items()
    )
    verdict = Verdict.HOLDS if same and apart.gain > 1.2 else Verdict.IN_PART
    if same and waited:
        verdict = Verdict.UNKNOWN
    return Finding(
        "diva future work, parallel",
        verdict,
        "Parts of the graph that share no row are colored side by side (`threads`): "
        f"{'the same' if same else 'another'} grouping. With two threads {told}, at a load "
        f"average of {busy:.0f} on {os.cpu_count()} cores"
        + (": other programs had the second core." if waited else "."),
    )
