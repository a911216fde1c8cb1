"""Synthetic records where anonymized ones miss their thresholds (Kuksina 2023, 7.2).

The thesis leaves the fall-back open. `dp-anonym` tries a few rounds, each paid for in
advance; where none meets the threshold, `dp-synthesis` publishes at the same ε. Both
answer random counts, beside Mondrian without noise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

import sfumato as sf
from benchmarks.sources import directory
from experiments.kuksina_studies import CLASSIC, STUDIES, listed, peer, policy
from experiments.results import (
    Finding,
    Line,
    Panel,
    Result,
    Scale,
    judged,
    ranged,
    wilson,
)
from sfumato.errors import BudgetError
from sfumato.workload.queries import RandomQueries, Workload

STUDY = STUDIES[2]
K, ROUNDS, THRESHOLD = 10, 3, 0.4
EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0)
SELECTIVITY = {"age": 0.3, "children": 0.4, "Weducation": 2}
SYNTHETIC, ANONYMIZED = "dp-synthesis, the fall-back", "dp-anonym, no threshold"


def asked(algorithm: Mapping[str, Any], epsilon: float, *, k: int | None) -> sf.Policy:
    """A private policy whose columns are all declared."""
    columns = STUDY.columns(directory(), hierarchies=True)
    columns[STUDY.sensitive] |= listed(1, 2, 3)
    require = [] if k is None else [{"model": "k-anonymity", "k": k}]
    return sf.Policy.model_validate(
        {
            "columns": columns,
            "require": [
                *require,
                {"model": "differential-privacy", "epsilon": epsilon},
            ],
            "algorithm": dict(algorithm),
            "publish": {"max_loss": 1.0},
        }
    )


def anonymized(epsilon: float, **options: Any) -> sf.Policy:
    """`dp-anonym` on all rows."""
    return asked(
        {"name": "dp-anonym", "depth": 12, "sample": 1.0, **options}, epsilon, k=K
    )


def synthesized(epsilon: float) -> sf.Policy:
    """`dp-synthesis`, which covers the whole release."""
    return asked({"name": "dp-synthesis", "depth": 6}, epsilon, k=None)


def accepted(source: pa.Table, epsilon: float) -> float | None:
    """The true NCP of the round that noisy counts say meets the threshold, if one does."""
    limits = {"ncp": THRESHOLD}
    tried = anonymized(epsilon, depth=6, rounds=ROUNDS, thresholds=limits)
    try:
        return float(sf.anonymize(source, tried).utility["ncp"])
    except BudgetError:
        return None


def smallest(source: pa.Table, epsilon: float) -> int:
    """The rows of the smallest group of a release of `dp-anonym`."""
    table = sf.anonymize(source, anonymized(epsilon)).table
    shown = table.group_by([*STUDY.quasi, *STUDY.files])
    return int(pc.min(shown.aggregate([([], "count_all")])["count_all"]).as_py())


def error(source: pa.Table, wanted: sf.Policy, queries: int) -> float:
    """The median relative error of random counts on one release."""
    part = RandomQueries(count=queries, selectivity=SELECTIVITY, seed=3)
    made = sf.anonymize(source, wanted)
    found = sf.workload_error(source, made, Workload(random=(part,)), resamples=1)
    return float(found.median_relative.value)


def run(scale: Scale, name: str) -> Result:
    """How often the threshold is met, and the error of both ways, by ε."""
    runs, queries, rows = scale.of((20, 300, None), (2, 100, 800))
    epsilons = scale.of(EPSILONS, (0.5, 5.0))
    source = STUDY.source(rows)
    rounds = {e: [accepted(source, e) for _ in range(runs)] for e in epsilons}
    groups = [smallest(source, e) for e in epsilons for _ in range(runs)]
    ways = {ANONYMIZED: anonymized, SYNTHETIC: synthesized}
    lines = [
        Line(
            who,
            tuple(
                ranged(e, [error(source, way(e), queries) for _ in range(runs)])
                for e in epsilons
            ),
        )
        for who, way in ways.items()
    ]
    plain = error(source, policy(STUDY, peer(CLASSIC), K), queries)
    lines.append(
        Line(f"{CLASSIC}, no noise", tuple(ranged(e, [plain]) for e in epsilons))
    )
    panels = tuple(_panels(_shares(rounds), lines))
    return Result(
        name=name,
        title="Kuksina 2023, section 7.2: synthetic records as the fall-back",
        source=f"{STUDY.name}, {source.num_rows:,} rows; k = {K}; {queries} queries; "
        f"{runs} runs.",
        spread="Bands: 95 % interval of the share (Wilson's); lowest and highest run. "
        "Lines on the right: medians.",
        panels=panels,
        findings=(_anonymous(groups), _finding(panels[0].lines, lines)),
        notes=(
            f"The first panel: {ROUNDS} rounds at depth 6 share ε; a round is accepted if "
            f"its NCP, estimated from noisy counts, is at most {THRESHOLD}. The less ε, "
            "the more noise: chance lets rounds pass whose true NCP is far higher. Rounds "
            "that fail have spent their budget, so that a fall-back after them costs its ε "
            "on top.",
        ),
    )


def _shares(rounds: Mapping[float, Sequence[float | None]]) -> tuple[Line, Line]:
    """How often a round is accepted, and how often it then is as good as it seems."""
    counted = {
        e: (len(found), [ncp for ncp in found if ncp is not None])
        for e, found in rounds.items()
    }
    said = tuple(wilson(e, len(some), runs) for e, (runs, some) in counted.items())
    true = tuple(
        wilson(e, sum(ncp <= THRESHOLD for ncp in some), runs)
        for e, (runs, some) in counted.items()
    )
    return Line("by noisy counts", said), Line("in truth", true)


def _panels(shares: tuple[Line, Line], lines: Sequence[Line]) -> Iterator[Panel]:
    yield Panel(
        title=f"A release of {ROUNDS} rounds of dp-anonym",
        x="ε",
        y=f"share of runs with NCP ≤ {THRESHOLD}",
        lines=shares,
        log_x=True,
    )
    yield Panel(
        title="Error of random counts",
        x="ε",
        y="median relative error",
        lines=tuple(lines),
        log_x=True,
    )


def _anonymous(groups: Sequence[int]) -> Finding:
    return Finding(
        "kuksina abstract, k-anonymity",
        judged([min(groups) >= K]),
        f"The smallest group of {len(groups)} releases with k = {K} has {min(groups)} "
        "rows.",
    )


def _finding(shares: Sequence[Line], lines: Sequence[Line]) -> Finding:
    said, true = shares
    anonymous, synthetic, _ = lines
    ends = [
        f"ε = {a.x:g}: {a.y:.2f} anonymized, {s.y:.2f} synthetic"
        for a, s in zip(anonymous.points, synthetic.points, strict=True)
    ]
    last = len(ends) - 1
    return Finding(
        "kuksina future work, synthetic",
        judged(
            [
                min(p.y for p in true.points) < 1,
                synthetic.points[last].y < anonymous.points[last].y,
            ]
        ),
        f"Answered by `dp-synthesis`. As ε grows, noisy counts accept a round of "
        f"`dp-anonym` in {_percent(said)} of the runs; its true NCP is at most "
        f"{THRESHOLD} in {_percent(true)}. Median relative error of counts at "
        f"{'; '.join(ends)}.",
    )


def _percent(line: Line) -> str:
    return ", ".join(f"{p.y:.0%}" for p in line.points)
