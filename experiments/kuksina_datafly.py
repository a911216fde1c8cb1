"""Why Datafly may improve as k grows: two readings of its rule, on all of Adult.

Kuksina 2023, figure 8.11, sees Datafly improve at k = 6 and k = 11. Sweeney's rule leaves
out up to k rows that alone break k; read so, a larger k may leave out more rows and
generalize less.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from experiments.kuksina_studies import LEAVING_OUT, STUDIES, peer, released
from experiments.results import Finding, Line, Panel, Result, Scale, exact, judged

READINGS = {"datafly": "every row published", LEAVING_OUT: "up to k rows left out"}


def run(scale: Scale, name: str) -> Result:
    """NCP of Datafly against k, in both readings."""
    ks = scale.of((2, 4, 5, 6, 7, 9, 10, 11, 12, 15, 20, 30, 50, 100), (5, 15))
    study = STUDIES[0]
    source = study.source(scale.of(None, 2000))
    lines = tuple(
        Line(
            title,
            tuple(
                exact(k, float(released(study, source, peer(who), k).utility["ncp"]))
                for k in ks
            ),
        )
        for who, title in READINGS.items()
    )
    panel = Panel(
        title="Datafly", x="k", y="NCP, mean per cell", lines=lines, log_x=True
    )
    return Result(
        name=name,
        title="Kuksina 2023, figure 8.11: where Datafly improves",
        source=f"Adult, {source.num_rows:,} rows.",
        spread="No spread: Datafly is deterministic. Each cell of a row left out counts 1.",
        panels=(panel,),
        findings=(_finding(panel),),
    )


def falls(line: Line) -> list[int]:
    """The k at which NCP is lower than at the k before."""
    pairs = itertools.pairwise(line.points)
    return [int(b.x) for a, b in pairs if b.y < a.y - 1e-9]


def _finding(panel: Panel) -> Finding:
    found = {line.name: falls(line) for line in panel.lines}
    told = ", ".join(f"at {_listed(ks)} ({name})" for name, ks in found.items())
    tried = ", ".join(f"{p.x:g}" for p in panel.lines[0].points)
    printed = any({6, 11} <= set(ks) for ks in found.values())
    return Finding(
        "kuksina figure 8.11, k = 6 and 11",
        judged([printed, any(found.values())]),
        f"By two readings of the rule, NCP falls {told}; k tried: {tried}. A larger k may "
        "leave out more rows and then generalize less, which explains such leaps; where "
        "they are depends on the rows. Where every row is published, a larger k "
        "generalizes at least as much as a smaller one and cannot improve.",
    )


def _listed(ks: Sequence[int]) -> str:
    return f"k = {', '.join(map(str, ks))}" if ks else "no k"
