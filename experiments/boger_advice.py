"""Which privacy parameters succeed: `sfumato advise` and what runs then do.

The open question of Boger 2020, section 6: advice, before any search, on θ and l that
Adult allows, beside what `klt` achieves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

import sfumato as sf
from benchmarks.sources import directory
from experiments.boger_weights import QUASI, SENSITIVE
from experiments.results import Finding, Line, Panel, Result, Scale, exact, judged
from sfumato.data.seeds import Seed
from sfumato.errors import SfumatoError
from sfumato.io.read import read_source

THETAS = (0.1, 0.12, 0.13, 0.15, 0.2, 0.3)
ALGORITHMS = ("klt", "mondrian")


def policy(theta: float, algorithm: str, *, left_out: float = 0.0) -> sf.Policy:
    """K = 10, L = 5, and a θ; up to a share of the rows may be left out."""
    return sf.Policy.build(
        quasi=list(QUASI),
        sensitive=[SENSITIVE],
        unlisted="drop",
        require=[
            {"model": "group-size", "k": 10},
            {"model": "l-diversity", "l": 5},
            {"model": "theta-diversity", "theta": theta},
        ],
        algorithm=algorithm,
        operator="swap",
        max_suppressed=left_out,
    )


def advised(source: pa.Table, theta: float) -> bool:
    """Whether advice says that every row can be published."""
    return bool(sf.advise(source, policy(theta, "klt")).feasible)


def released(source: pa.Table, theta: float, algorithm: str) -> float:
    """The share of rows that a run publishes; 0 if it refuses."""
    try:
        made = sf.anonymize(
            source, policy(theta, algorithm, left_out=0.9), seed=Seed.guessable(1)
        )
    except SfumatoError:
        return 0.0
    return float(made.table.num_rows / source.num_rows)


def run(scale: Scale, name: str) -> Result:
    """Advice and outcome for each θ."""
    source = read_source(directory() / "adult" / "adult_train_32561.csv.gz")
    source = source.select([*QUASI, SENSITIVE]).slice(0, scale.of(None, 3000))
    thetas = scale.of(THETAS, (0.1, 0.3))
    said = [advised(source, theta) for theta in thetas]
    done = {
        algorithm: [released(source, theta, algorithm) for theta in thetas]
        for algorithm in ALGORITHMS
    }
    lines = {"advise (1: possible)": [float(yes) for yes in said], **done}
    panel = Panel(
        title="Advice and outcome",
        x="θ",
        y="share of rows published",
        lines=tuple(
            Line(who, tuple(exact(x, y) for x, y in zip(thetas, values, strict=True)))
            for who, values in lines.items()
        ),
    )
    return Result(
        name=name,
        title="Boger 2020, future work: which parameters succeed",
        source=f"Adult train, {source.num_rows:,} rows; K = 10, L = 5.",
        spread="No spread: both algorithms are deterministic.",
        panels=(panel,),
        findings=(_finding(said, done),),
    )


def _finding(said: Sequence[bool], done: Mapping[str, Sequence[float]]) -> Finding:
    best = [max(shares) for shares in zip(*done.values(), strict=True)]
    wrong = [d for a, d in zip(said, best, strict=True) if not a and d == 1]
    kept = [d == 1 for a, d in zip(said, best, strict=True) if a]
    alone = [d == 1 for a, d in zip(said, done["klt"], strict=True) if a]
    least = min(d for a, d in zip(said, best, strict=True) if a)
    return Finding(
        "boger future work, parameters",
        judged([not wrong, all(kept)]),
        f"Answered by `sfumato advise`: of {len(said)} values of θ it calls "
        f"{sum(said)} possible. At {sum(kept)} of these a run publishes every row (klt "
        f"alone at {sum(alone)}), and at all of them at least {least:.0%} of the rows. Of "
        f"the {len(said) - sum(said)} values that it calls impossible, every row is "
        f"published at {len(wrong)}.",
    )
