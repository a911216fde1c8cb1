"""Which model, algorithm and operator fit: recommendations and what they measured."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from statistics import median
from typing import Any

MEASURED = "measured_choices.json"
"""Written by `experiments/chooser.py`."""


@dataclass(frozen=True)
class Recommendation:
    """What to take in a situation, and the measured line that backs it."""

    topic: str
    case: str
    model: str
    algorithm: str
    operator: str
    measured: str

    @property
    def names(self) -> dict[str, str]:
        """What it names of the catalogue, by kind."""
        return {
            "models": self.model,
            "algorithms": self.algorithm,
            "operators": self.operator,
        }


RECIPIENT = "Who receives the data"
ATTACKER = "What an attacker knows or wants"
ANALYSIS = "What analysts do with it"
SIZE = "How many rows and columns there are"
RECOMMENDATIONS = (
    Recommendation(
        RECIPIENT,
        "known researchers, bound by an agreement",
        "k-anonymity (k = 5), l-diversity (l = 2)",
        "best",
        "generalize",
        "best",
    ),
    Recommendation(
        RECIPIENT,
        "the public, or anybody who asks",
        "k-anonymity (k = 20), l-diversity (l = 3)",
        "best",
        "generalize",
        "best, k = 20",
    ),
    Recommendation(
        RECIPIENT,
        "an opponent with unlimited knowledge",
        "differential-privacy (ε = 1)",
        "dp-synthesis",
        "generalize",
        "dp-synthesis, ε = 1",
    ),
    Recommendation(
        RECIPIENT,
        "the same, and rows must be true",
        "differential-privacy (ε = 1, δ = 1e-6)",
        "safepub",
        "generalize",
        "safepub, ε = 1",
    ),
    Recommendation(
        ATTACKER,
        "how common each sensitive value is, and wants a better guess",
        "k-anonymity (k = 5), t-closeness (t = 0.3)",
        "best",
        "generalize",
        "best, t = 0.3",
    ),
    Recommendation(
        ATTACKER,
        "the algorithm, and everybody's quasi-identifiers",
        "k-anonymity (k = 5), l-diversity (l = 2)",
        "simulatable",
        "generalize",
        "simulatable",
    ),
    Recommendation(
        ANALYSIS,
        "run their programs on exact columns, unchanged",
        "group-size (k = 5), theta-diversity (θ = 0.6)",
        "klt",
        "swap",
        "klt + swap",
    ),
    Recommendation(
        ANALYSIS,
        "count values per group, exactly",
        "group-size (k = 5), theta-diversity (θ = 0.6)",
        "klt",
        "anatomize",
        "klt + anatomize",
    ),
    Recommendation(
        ANALYSIS,
        "compute with numbers, and want numbers in the cells",
        "k-anonymity (k = 5), l-diversity (l = 2)",
        "mdav",
        "microaggregate",
        "mdav + microaggregate",
    ),
    Recommendation(
        ANALYSIS,
        "need one level per column, the same in all rows",
        "k-anonymity (k = 5), l-diversity (l = 2)",
        "optimal",
        "generalize",
        "optimal",
    ),
    Recommendation(
        SIZE,
        "a million rows, or a release every minute",
        "k-anonymity (k = 5), l-diversity (l = 2)",
        "mondrian",
        "generalize",
        "mondrian",
    ),
    Recommendation(
        SIZE,
        "up to some hundred thousand rows, and a minute does not matter",
        "k-anonymity (k = 5), l-diversity (l = 2)",
        "best",
        "generalize",
        "best",
    ),
    Recommendation(
        SIZE,
        "ten columns or more that others may know (then drop some: 'sfumato advise')",
        "k-anonymity (k = 5), l-diversity (l = 2)",
        "best",
        "generalize",
        "best, many columns",
    ),
)
Figures = Mapping[str, Mapping[str, Any]]
COLUMNS = {
    "ncp": "loss (NCP)",
    "query_error": "query error",
    "found": "person found",
    "guessed": "value guessed",
    "seconds": "CPU seconds",
}


def measured() -> dict[str, dict[str, dict[str, Any]]]:
    """The figures of each choice on each table."""
    text = resources.files(__package__).joinpath(MEASURED).read_text(encoding="utf-8")
    found: dict[str, dict[str, dict[str, Any]]] = json.loads(text)
    return found


def middle(figures: Figures, key: str) -> float | None:
    """The median over the tables of a figure; None where none has it."""
    known = [each[key] for each in figures.values() if each.get(key) is not None]
    return median(known) if known else None


def figure_text(value: float | None, key: str) -> str:
    """A figure for a table."""
    if value is None:
        return "–"
    return f"{value:.2g}" if key == "seconds" else f"{value:.1%}"


def lines() -> Iterator[str]:
    """The recommendations as text, with the median figures of each."""
    found, topic = measured(), None
    for each in RECOMMENDATIONS:
        if each.topic != topic:
            yield from ("", each.topic) if topic else (each.topic,)
            topic = each.topic
        yield f"  {each.case}"
        yield f"      {each.model}"
        yield f"      algorithm {each.algorithm}, operator {each.operator}"
        yield f"      measured: {_summary(found[each.measured])}"


def _summary(figures: Figures) -> str:
    parts = (f"{COLUMNS[k]} {figure_text(middle(figures, k), k)}" for k in COLUMNS)
    return ", ".join(parts)


def records() -> list[dict[str, Any]]:
    """The recommendations with the figures on each table."""
    found = measured()
    return [
        {**vars(each), "measured": found[each.measured]} for each in RECOMMENDATIONS
    ]
