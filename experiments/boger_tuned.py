"""Does fitting weights to a workload help queries that were not seen?

The open question of Boger 2020, section 6. Adult by `klt` and `swap`, K = 10, L = 5,
θ = 0.3, weights 1. Workloads of random histograms of occupation, each selective in
one quasi-identifier. `sfumato tune` fits the weights on half of the queries.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

import sfumato as sf
from benchmarks.sources import directory
from experiments.boger_weights import DEFAULT, QUASI, SENSITIVE, policy
from experiments.results import (
    Finding,
    Line,
    Listing,
    Panel,
    Point,
    Result,
    Scale,
    judged,
)
from sfumato.data.seeds import Seed
from sfumato.io.read import read_source
from sfumato.workload.answer_errors import Estimate
from sfumato.workload.queries import RandomQueries, Share, Workload

NARROW: dict[str, Share] = {"race": 1, "education": 1, "sex": 1, "age": 5}
QUOTE = '"'


def tuned(source: pa.Table, column: str, queries: int, trials: int) -> Any:
    """Weights fitted to queries that are selective in one column."""
    part = RandomQueries(
        count=queries,
        selectivity={**DEFAULT, column: NARROW[column]},
        histogram=SENSITIVE,
        seed=11,
    )
    return sf.tune(
        source,
        policy(None, variant="text"),
        Workload(random=(part,)),
        trials=trials,
        keep=("variant", "categories"),
        seed=Seed.guessable(5),
    )


def run(scale: Scale, name: str) -> Result:
    """A workload per column."""
    size: tuple[int, int, int | None] = (100, 12, None)
    queries, trials, rows = scale.of(size, (40, 4, 4000))
    columns = scale.of(QUASI, ("sex",))
    source = read_source(directory() / "adult" / "adult_train_32561.csv.gz")
    source = source.select([*QUASI, SENSITIVE]).slice(0, rows)
    found = {column: tuned(source, column, queries, trials) for column in columns}
    seen = {c: each.train_ratio for c, each in found.items()}
    unseen = {c: each.held_out_ratio for c, each in found.items()}
    panel = Panel(
        title="Error with fitted weights",
        x="workload is selective in",
        y="error, % of that with equal weights",
        lines=(_line("queries seen", seen), _line("queries not seen", unseen)),
        x_names=tuple(found),
    )
    return Result(
        name=name,
        title="Boger 2020, future work: what fitting the distance is worth",
        source=f"Adult train, {source.num_rows:,} rows; {queries} queries, {trials} "
        "trials.",
        spread="Whiskers: 95 % intervals over queries, each over 5 draws of swap.",
        panels=(panel,),
        listings=(_weights(found),),
        findings=_findings(unseen),
    )


def _line(name: str, estimates: Mapping[str, Estimate]) -> Line:
    return Line(
        name,
        tuple(
            Point(i, e.value, e.low, e.high) for i, e in enumerate(estimates.values())
        ),
    )


def _weights(found: Mapping[str, Any]) -> Listing:
    rows = tuple(
        (
            column,
            ", ".join(f"{s.split(QUOTE)[1]} {v:g}" for s, v in each.changes.items())
            or "none better",
        )
        for column, each in found.items()
    )
    return Listing("Weights found", ("selective in", "weights"), rows)


def _findings(unseen: Mapping[str, Estimate]) -> tuple[Finding, ...]:
    told = ", ".join(
        f"{c} {e.value:.0f} % [{e.low:.0f}, {e.high:.0f}]" for c, e in unseen.items()
    )
    gains = [e.high < 100 for e in unseen.values()]
    return (
        Finding(
            "boger abstract, quantity",
            judged(gains),
            "With weights fitted by `sfumato tune`, the error of queries not seen is "
            f"{told} of that with equal weights (by the column in which they are narrow).",
        ),
        Finding(
            "boger future work, distance",
            judged(gains),
            "Answered by `sfumato tune`: with fitted weights, queries not seen have "
            f"{told} of the error with equal weights.",
        ),
    )
