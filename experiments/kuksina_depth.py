"""How much of DP-anonym's loss is depth, noise, or not looking at true counts.

Trees of every depth up to that of the thesis's recursion, which has no bound; ε is that
of the whole tree or, as the thesis counts it, that of each level. And what the
thesis's text reveals: two tables that differ by one row, told apart by its cuts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log

import numpy as np
import pyarrow as pa

from experiments.kuksina_as_written import Recursion
from experiments.kuksina_releases import as_written, measured
from experiments.kuksina_studies import (
    CLASSIC,
    DEPTH,
    DETERMINISTIC,
    EPSILON,
    STUDIES,
    TEXT,
    Study,
    peer,
    private,
)
from experiments.kuksina_utility import rows_of
from experiments.results import (
    Finding,
    Line,
    Panel,
    Result,
    Scale,
    Verdict,
    judged,
    ranged,
    wilson,
)
from sfumato.data.schema import Kind, Role
from sfumato.models.k_anonymity import KAnonymity
from sfumato.testing.awkward_tables import Awkward, request_for

K = 10
PER_LEVEL = "ε = 0.5 per level"
FREE = "ε = 0.5 per level, no hierarchies"
CASES = {
    "ε = 0.5 in total": (EPSILON, False, True),
    PER_LEVEL: (EPSILON, True, True),
    FREE: (EPSILON, True, False),
    "ε = 10 per level": (10.0, True, True),
}
PEERS = (CLASSIC, "top-down")
HIGH = 1000.0
LOUD = f"{TEXT}, ε = {HIGH:,.0f}"
"""The text without noise to speak of."""


def run(scale: Scale, name: str) -> Result:
    """NCP over depth on Adult, and the text's guarantee."""
    depths = scale.of((7, 12, 16, DEPTH), (4, 24))
    size: tuple[int, int | None] = (5, None)
    runs, rows = scale.of(size, (3, 1000))
    panels, sizes = [], []
    for study in STUDIES[:1]:
        source = study.source(rows)
        sizes.append(rows_of(study, source, rows))
        panels.append(_panel(study, source, depths, runs))
    return Result(
        name=name,
        title="Kuksina 2023: how much of DP-anonym's loss is depth, and how much is noise",
        source=f"{'; '.join(sizes)}; k = {K}; {runs} runs; no sampling.",
        spread="Bands: lowest and highest run; lines: medians.",
        panels=tuple(panels),
        findings=tuple(_findings(panels, scale.of(2000, 400))),
        notes=(
            _parts(panels),
            "A tree of depth d costs d times the ε of a level: at depth "
            f"{DEPTH}, ε = 0.5 per level is ε = {EPSILON * DEPTH:g}. At that depth hardly "
            "any cell is left to cut: this is the recursion without a bound.",
        ),
    )


def _panel(study: Study, source: pa.Table, depths: Sequence[int], runs: int) -> Panel:
    lines = [
        Line(
            title,
            tuple(
                ranged(d, list(_losses(study, source, d, case, runs))) for d in depths
            ),
        )
        for title, case in CASES.items()
    ]
    for title, epsilon in ((TEXT, EPSILON), (LOUD, HIGH)):
        text = [
            measured(study, source, as_written(epsilon), K)["ncp"] for _ in range(runs)
        ]
        lines.append(Line(title, tuple(ranged(d, text) for d in depths)))
    for other in PEERS:
        repeats = 1 if other in DETERMINISTIC else runs
        values = [
            measured(study, source, peer(other), K)["ncp"] for _ in range(repeats)
        ]
        lines.append(Line(other, tuple(ranged(d, values) for d in depths)))
    return Panel(
        title=f"{study.name}, k = {K}",
        x="depth of the tree (levels)",
        y="NCP, mean per cell",
        lines=tuple(lines),
    )


def _losses(
    study: Study,
    source: pa.Table,
    depth: int,
    case: tuple[float, bool, bool],
    runs: int,
) -> Iterator[float]:
    epsilon, per_level, hierarchies = case
    asked = private(epsilon, depth, per_level=per_level, hierarchies=hierarchies)
    for _ in range(runs):
        yield measured(study, source, asked, K)["ncp"]


def told_apart(runs: int, *, k: int = K) -> tuple[int, int]:
    """How often the text cuts a table of k rows of each of two values; then of a
    row less."""
    return tuple(  # type: ignore[return-value]
        sum(_is_cut(rows, k) for _ in range(runs)) for rows in (2 * k, 2 * k - 1)
    )


def _is_cut(rows: int, k: int) -> bool:
    table = Awkward(
        "neighbor",
        pa.table({"age": np.arange(rows) // k}),
        {"age": Role.QUASI},
        {"age": Kind.INTEGER},
    )
    request = request_for(table, [KAnonymity(k=k)])
    return bool(Recursion.over(request.quasi, k, EPSILON).group_of().any())


def least_epsilon(often: int, never: int, runs: int) -> float:
    """An ε that the two shares refute, with 95 % confidence (Wilson's intervals)."""
    return log(wilson(0, often, runs).low / wilson(0, never, runs).high)


def _findings(panels: Sequence[Panel], runs: int) -> Iterator[Finding]:
    deep = {line.name: line.points[-1].y for line in panels[0].lines}
    yield _guarantee(runs, panels[0].lines[0].points[-1].x)
    yield Finding(
        "kuksina conclusion, hierarchies",
        Verdict.HOLDS,
        f"Both run; NCP without hierarchies is {deep[FREE] / deep[PER_LEVEL]:.2f} times "
        f"that with them ({panels[0].title}).",
    )


def _parts(panels: Sequence[Panel]) -> str:
    """What depth, noise and the look at true counts are each worth."""
    deep = [{line.name: line.points[-1].y for line in p.lines} for p in panels]
    depth = panels[0].lines[0].points[-1].x
    told = "; ".join(
        f"{panel.title}: " + ", ".join(f"{name} {v:.3f}" for name, v in each.items())
        for panel, each in zip(panels, deep, strict=True)
    )
    shallow = "; ".join(
        f"{panel.title}, {PER_LEVEL}: {points[0].y:.3f} at depth {points[0].x:g}"
        for panel in panels
        for points in [panel.line(PER_LEVEL).points]
    )
    return (
        f"NCP at depth {depth:g}. {told}. Most of the loss of shallow trees is depth: "
        f"{shallow}. Noise costs the text {deep[0][TEXT] - deep[0][LOUD]:.3f} (ε = "
        f"{EPSILON:g} against {HIGH:g}); without noise it loses "
        f"{deep[0][LOUD] - deep[0][CLASSIC]:.3f} more than classic Mondrian."
    )


def _guarantee(runs: int, depth: float) -> Finding:
    often, never = told_apart(runs)
    epsilon = least_epsilon(often, never, runs)
    return Finding(
        "kuksina abstract and conclusion, guarantee",
        judged([epsilon < EPSILON]),
        f"Looking at true counts is enough to refute it: a table of {2 * K} rows is cut "
        f"in {often} of {runs} runs, the same table without one row in {never}, so that "
        f"ε is above {epsilon:.1f} (95 % confidence) where {EPSILON} is claimed. Where "
        "cuts do not look at them, each level spends ε of selection + ε of counts again "
        f"(at depth {depth:g}: {EPSILON * depth:g} instead of {EPSILON}), and only the "
        "cuts are covered: sizes and sensitive values of cells come from the data. "
        "`dp-anonym` charges the true cost and says what it covers.",
    )
