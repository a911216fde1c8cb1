"""Future work of Loukides and Shao 2008: the dominating set, and a mining task.

`sfumato compare` makes candidate releases and finds those that no other one beats, by
any pair of figures; here by disclosure of ranges, and by what a classifier trained on
the release still predicts.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

import sfumato as sf
from benchmarks.sources import directory
from experiments.results import (
    Finding,
    Line,
    Panel,
    Result,
    Scale,
    Verdict,
    exact,
)
from experiments.tgc_sources import all_or_first
from sfumato.io.read import read_source

QUASI = ("age", "workclass", "race", "sex", "native-country", "education")
SENSITIVE = "occupation"
TARGET = "salary-class"
CANDIDATES: dict[str, Any] = {
    "algorithms": ["mondrian", "k-member", "tgc"],
    "set": {"require.0.k": [5, 25], "algorithm.utility_weight": [0.2, 0.5, 1.0]},
}
AXES = {
    "tgc-front": ("s_diversity", "ncp"),
    "tgc-task": ("s_diversity", "learned_loss"),
}
WORDS = {
    "s_diversity": "S-diversity",
    "ncp": "NCP",
    "learned_loss": "accuracy that a classifier loses",
}
TITLES = {"tgc-front": "the dominating set", "tgc-task": "a mining task"}
CLAIMS = {
    "tgc-front": "tgc future work, dominating set",
    "tgc-task": "tgc future work, mining",
}


def policy() -> sf.Policy:
    """k-anonymity; the target of the task is published as it is."""
    columns = {name: {"role": "quasi"} for name in QUASI}
    columns |= {SENSITIVE: {"role": "sensitive"}, TARGET: {"role": "insensitive"}}
    return sf.Policy.model_validate(
        {
            "unlisted": "drop",
            "columns": columns,
            "require": [{"model": "k-anonymity", "k": 5}],
            "compare": CANDIDATES,
            "publish": {"max_loss": 1.0},
        }
    )


def source(rows: int | None) -> pa.Table:
    """Adult without missing values."""
    table = read_source(directory() / "adult" / "adult_clean_30162.csv.gz")
    return table.select([*QUASI, SENSITIVE, TARGET]).slice(0, rows)


def run(scale: Scale, name: str) -> Result:
    """Candidates and their front, by one pair of figures."""
    size: int | None = None
    rows = scale.of(size, 800)
    table = source(rows)
    risk, utility = AXES[name]
    found = sf.compare(
        table,
        policy(),
        risk=risk,
        utility=utility,
        workers=1,
        insecure_seed=1,
        target=TARGET if utility == "learned_loss" else None,
    )
    made = [each for each in found.candidates if each.figures]
    front = list(found.front)
    panel = Panel(
        title="Candidates and their front",
        x=f"{WORDS[risk]}, lower is safer",
        y=f"{WORDS[utility]}, lower is better",
        lines=(
            Line("front: beaten by none", _points(front, risk, utility)),
            Line(
                "beaten by another",
                _points([e for e in made if not e.on_front], risk, utility),
                joined=False,
            ),
        ),
        x_names=(),
    )
    names = ", ".join(str(each.name) for each in front)
    return Result(
        name=name,
        title=f"Loukides and Shao 2008, future work: {TITLES[name]}",
        source=f"Adult, {all_or_first(table.num_rows)}; one seed.",
        spread="No spread: each point is one release.",
        panels=(panel,),
        findings=(
            Finding(
                CLAIMS[name],
                Verdict.HOLDS if front else Verdict.FAILS,
                f"`sfumato compare --risk {risk} --utility {utility}`: {len(front)} of "
                f"{len(made)} candidates are beaten by none ({names}).",
            ),
        ),
    )


def _points(candidates: Any, risk: str, utility: str) -> Any:
    pairs = sorted(
        (float(e.figures[risk]), float(e.figures[utility])) for e in candidates
    )
    return tuple(exact(x, y) for x, y in pairs)
