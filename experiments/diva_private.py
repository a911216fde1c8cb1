"""Future work of DIVA: diversity constraints together with differential privacy.

`safepub` tests with noise, before it draws rows, whether enough of them will show a
minority's value; a release that comes out shows them. Runs on Adult ask for more and
more rows of one race.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

import sfumato as sf
from benchmarks.sources import directory
from experiments.kuksina_studies import STUDIES
from experiments.results import (
    Finding,
    Line,
    Panel,
    Result,
    Scale,
    exact,
    judged,
    ranged,
    wilson,
)
from sfumato.errors import InfeasibleError

QUASI = ("age", "sex", "race", "marital-status")
SALARY = "salary-class"
VALUE = {"race": "Black"}
DELTA = 1e-6


def policy(epsilon: float, rows: int) -> sf.Policy:
    """Every published column has a declared domain; so many rows must show the value."""
    columns = STUDIES[0].columns(directory(), hierarchies=True)
    columns = {name: columns[name] for name in QUASI}
    columns[SALARY] = {
        "role": "sensitive",
        "hierarchy": {"tree": {"*": ["<=50K", ">50K"]}},
    }
    private = {"model": "differential-privacy", "epsilon": epsilon, "delta": DELTA}
    bound = {"model": "diversity", "where": VALUE, "at_least": rows}
    return sf.Policy.model_validate(
        {
            "columns": columns,
            "require": [private, *([bound] if rows else [])],
            "algorithm": {"name": "safepub"},
            "publish": {"max_loss": 1.0},
        }
    )


def released(source: pa.Table, epsilon: float, rows: int) -> sf.Release | None:
    """A release, or None where the noisy test or the sample has too few rows."""
    try:
        return sf.anonymize(source, policy(epsilon, rows))
    except InfeasibleError:
        return None


def showing(table: pa.Table) -> int:
    """How many published rows show the value."""
    return int(pc.sum(pc.equal(table.column("race"), VALUE["race"])).as_py() or 0)


def run(scale: Scale, name: str) -> Result:
    """Share of runs that release, and rows that show the value, by what is asked."""
    epsilons = scale.of((1.0, 2.0), (2.0,))
    asked = scale.of((100, 500, 900, 1300, 1700), (100, 1700))
    runs, rows = scale.of((20, None), (2, None))
    source = STUDIES[0].source(rows).select([*QUASI, SALARY])
    found = {
        e: {least: [released(source, e, least) for _ in range(runs)] for least in asked}
        for e in epsilons
    }
    free = [released(source, epsilons[0], 0) for _ in range(runs)]
    broken = sum(
        made is not None and showing(made.table) < least
        for by_rows in found.values()
        for least, tries in by_rows.items()
        for made in tries
    )
    panels = (_shares(found, runs), _shown(found))
    return Result(
        name=name,
        title="DIVA, future work: diversity constraints with differential privacy",
        source=f"Adult, {source.num_rows:,} rows, {showing(source):,} of them with the "
        f"value ({VALUE['race']}); safepub, δ = {DELTA:g}, {runs} runs.",
        spread="Bands: 95 % interval of the share (Wilson's) on the left, lowest and "
        "highest release on the right. Lines on the right: medians.",
        panels=panels,
        findings=(_finding(panels, broken, _losses(found[epsilons[0]]), _loss(free)),),
    )


Tries = dict[float, dict[int, list[sf.Release | None]]]


def _shares(found: Tries, runs: int) -> Panel:
    return Panel(
        title="Runs that end with a release",
        x="rows that must show the value",
        y="share of runs",
        lines=tuple(
            Line(
                f"ε = {e:g}",
                tuple(
                    wilson(least, sum(made is not None for made in tries), runs)
                    for least, tries in by_rows.items()
                ),
            )
            for e, by_rows in found.items()
        ),
    )


def _shown(found: Tries) -> Panel:
    lines = []
    for e, by_rows in found.items():
        counts = {
            least: [showing(made.table) for made in tries if made is not None]
            for least, tries in by_rows.items()
        }
        points = tuple(ranged(x, values) for x, values in counts.items() if values)
        lines.append(Line(f"ε = {e:g}", points))
    asked = sorted({least for by_rows in found.values() for least in by_rows})
    lines.append(Line("asked for", tuple(exact(x, x) for x in asked)))
    return Panel(
        title="Rows of a release that show the value",
        x="rows that must show the value",
        y="published rows with the value",
        lines=tuple(lines),
    )


def _losses(by_rows: Mapping[int, Sequence[sf.Release | None]]) -> float:
    return _loss([made for tries in by_rows.values() for made in tries])


def _loss(tries: Sequence[sf.Release | None]) -> float:
    values = [float(made.utility["ncp"]) for made in tries if made is not None]
    return sum(values) / max(len(values), 1)


def _finding(
    panels: tuple[Panel, Panel], broken: int, loss: float, free: float
) -> Finding:
    told = "; ".join(
        f"{line.name}: " + ", ".join(f"{p.y:.0%} at {p.x:g} rows" for p in line.points)
        for line in panels[0].lines
    )
    always = [line.points[0].y == 1 for line in panels[0].lines]
    return Finding(
        "diva future work, privacy",
        judged([broken == 0, all(always)]),
        "Answered by `safepub` with `diversity` requirements: a lower bound is tested with "
        f"noise that the budget pays for. Runs that release: {told}. {broken} releases "
        f"show fewer rows than asked for. NCP at {panels[0].lines[0].name} is {loss:.3f} "
        f"under constraints and {free:.3f} without.",
    )
