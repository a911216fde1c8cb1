"""How much of DP-anonym's loss is depth, noise, or not looking at true counts.

Trees of every depth up to that of the thesis's recursion, which has no bound; ε is that
of the whole tree or, as the thesis counts it, that of each level. And what the
thesis's text reveals: two tables that differ by one row, told apart by its cuts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log, sqrt

import numpy as np
import pyarrow as pa

from experiments.kuksina_as_written import Recursion
from experiments.kuksina_releases import as_written, measured
from experiments.kuksina_studies import (
    CLASSIC,
    DEPTH,
    EPSILON,
    STUDIES,
    TEXT,
    Study,
    peer,
    private,
)
from experiments.results import (
    NORMAL,
    Finding,
    Line,
    Panel,
    Result,
    Scale,
    Verdict,
    exact,
    judged,
    ranged,
)
from sfumato.data.schema import Kind, Role
from sfumato.models.k_anonymity import KAnonymity
from sfumato.testing.awkward_tables import Awkward, request_for

K = 10
PER_LEVEL = "ε = 0.5 a level"
FREE = "ε = 0.5 a level, no hierarchies"
CASES = {
    "ε = 0.5 in all": (EPSILON, False, True),
    PER_LEVEL: (EPSILON, True, True),
    FREE: (EPSILON, True, False),
    "ε = 10 a level": (10.0, True, True),
}
PEERS = (CLASSIC, "top-down")


def run(scale: Scale, name: str) -> Result:
    """NCP over depth on Adult, and the text's guarantee."""
    depths = scale.of((7, 16, DEPTH), (4, 24))
    runs, rows = scale.of((2, 2000), (1, 400))
    panels, sizes = [], []
    for study in STUDIES[:1]:
        source = study.source(rows)
        sizes.append(f"{study.name}, {source.num_rows:,} rows")
        panels.append(_panel(study, source, depths, runs))
    return Result(
        name=name,
        title="Kuksina 2023: how much of DP-anonym's loss is depth, and how much is noise",
        source=f"{'; '.join(sizes)} (capped); k = {K}; {runs} runs; no sampling.",
        spread="Bands: lowest and highest run; line: median.",
        panels=tuple(panels),
        findings=tuple(_findings(panels, scale.of(2000, 400))),
        notes=(
            "A tree of depth d costs d times the ε of a level: at depth "
            f"{DEPTH}, ε = 0.5 a level is ε = {EPSILON * DEPTH:g}. At that depth hardly "
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
    text = [measured(study, source, as_written(EPSILON), K)["ncp"] for _ in range(runs)]
    lines.append(Line(TEXT, tuple(ranged(d, text) for d in depths)))
    for other in PEERS:
        value = measured(study, source, peer(other), K)["ncp"]
        lines.append(Line(other, tuple(exact(d, value) for d in depths)))
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
    return log(_wilson(often, runs, -1) / _wilson(never, runs, 1))


def _wilson(count: int, runs: int, side: int) -> float:
    share, z = count / runs, NORMAL
    middle = share + z * z / (2 * runs)
    half = z * sqrt(share * (1 - share) / runs + z * z / (4 * runs * runs))
    return (middle + side * half) / (1 + z * z / runs)


def _findings(panels: Sequence[Panel], runs: int) -> Iterator[Finding]:
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
    near = [
        each[name] <= 1.25 * each[rival]
        for each in deep
        for name in (PER_LEVEL, TEXT)
        for rival in PEERS
    ]
    yield Finding(
        "kuksina conclusion, peers",
        judged(near),
        f"NCP at depth {depth:g}. {told}. Most of the loss of shallow trees is depth: "
        f"{shallow}. Noise and the missing look at true counts are the smaller part.",
    )
    yield _guarantee(runs, depth)
    ratio = deep[0][FREE] / deep[0][PER_LEVEL]
    yield Finding(
        "kuksina conclusion, hierarchies",
        Verdict.HOLDS,
        f"Both run; NCP without hierarchies is {ratio:.2f} times that with them "
        f"({panels[0].title}).",
    )


def _guarantee(runs: int, depth: float) -> Finding:
    often, never = told_apart(runs)
    epsilon = least_epsilon(often, never, runs)
    return Finding(
        "kuksina abstract, guarantee",
        judged([epsilon < EPSILON]),
        f"The text's look at true counts alone refutes it: a table of {2 * K} rows is cut "
        f"in {often} of {runs} runs, the same table without one row in {never}, so that "
        f"ε is above {epsilon:.1f} (95 % confidence) where {EPSILON} is claimed. Where "
        "cuts do not look, each level spends ε of selection + ε of counts again (at depth "
        f"{depth:g}: {EPSILON * depth:g} instead of {EPSILON}), and only the cuts are "
        "covered: sizes and sensitive values of cells come from the data. `dp-anonym` "
        "charges the true cost and says what it covers.",
    )
