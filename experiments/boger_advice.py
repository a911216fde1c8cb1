"""Which privacy parameters succeed: `sfumato advise` and what runs then do.

The open question of Boger 2020, section 6: advice, before any search, on θ and l that
Adult allows, beside what `klt` achieves.
"""

from __future__ import annotations

import pyarrow as pa

import sfumato as sf
from benchmarks.sources import directory
from experiments.boger_weights import QUASI, SENSITIVE
from experiments.results import Finding, Line, Panel, Result, Scale, Verdict, exact
from sfumato.data.seeds import Seed
from sfumato.errors import SfumatoError
from sfumato.io.read import read_source

THETAS = (0.1, 0.12, 0.13, 0.14, 0.15, 0.2, 0.3)


def policy(theta: float) -> sf.Policy:
    """K = 10, L = 5, and a θ."""
    return sf.Policy.build(
        quasi=list(QUASI),
        sensitive=[SENSITIVE],
        unlisted="drop",
        require=[
            {"model": "group-size", "k": 10},
            {"model": "l-diversity", "l": 5},
            {"model": "theta-diversity", "theta": theta},
        ],
        algorithm="klt",
        operator="swap",
    )


def advised(source: pa.Table, theta: float) -> bool:
    """Whether advice says that the table can meet the requirements."""
    return bool(sf.advise(source, policy(theta)).feasible)


def released(source: pa.Table, theta: float) -> float:
    """The share of rows that a run publishes; 0 if it refuses."""
    try:
        made = sf.anonymize(source, policy(theta), seed=Seed.guessable(1))
    except SfumatoError:
        return 0.0
    return float(made.table.num_rows / source.num_rows)


def run(scale: Scale, name: str) -> Result:
    """Advice and outcome for each θ."""
    source = read_source(directory() / "adult" / "adult_train_32561.csv.gz")
    source = source.select([*QUASI, SENSITIVE]).slice(0, scale.of(None, 5000))
    said = [float(advised(source, theta)) for theta in THETAS]
    done = [released(source, theta) for theta in THETAS]
    panel = Panel(
        title="Advice and outcome",
        x="θ",
        y="share of rows published; 1: advised as possible",
        lines=(
            Line(
                "advise", tuple(exact(x, y) for x, y in zip(THETAS, said, strict=True))
            ),
            Line("klt", tuple(exact(x, y) for x, y in zip(THETAS, done, strict=True))),
        ),
    )
    agree = sum(bool(a) == (d > 0) for a, d in zip(said, done, strict=True))
    wrong = [t for t, a, d in zip(THETAS, said, done, strict=True) if not a and d > 0]
    return Result(
        name=name,
        title="Boger 2020, future work: which parameters succeed",
        source=f"Adult train, {source.num_rows:,} rows; K = 10, L = 5.",
        spread="No spread: klt is deterministic.",
        panels=(panel,),
        findings=(
            Finding(
                "boger future work, parameters",
                Verdict.FAILS if wrong else Verdict.HOLDS,
                f"Answered by `sfumato advise`: it and the run agree for {agree} of "
                f"{len(THETAS)} values of θ; no θ that it calls impossible was released.",
            ),
        ),
    )
