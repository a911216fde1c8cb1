"""What `init` then `anonymize` published, before and after, as a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from statistics import fmean

from benchmarks.unedited_outcome import Outcome
from sfumato.data.safe_repr import counted

MOST_UNIQUE = 0.2
"""Exact columns that make a larger share of the rows unique undo the groups."""
MORE_LEFT_OUT = 1
"""How many more columns of a table may be left out than before."""
ROUNDING = 1e-9
Figures = Mapping[str, Callable[[Outcome], str]]


def page(outcomes: Mapping[str, Outcome], before: Mapping[str, Outcome]) -> str:
    """The results as Markdown; a cell that changed says "before → after"."""
    return "\n".join(
        [
            "# `init` then `anonymize`, unedited",
            "",
            *LEGEND,
            "",
            "## What falls short",
            "",
            *(_bullets(shortfalls(outcomes, before)) or ["Nothing."]),
            "",
            "## What is refused",
            "",
            *(_bullets(_refused(outcomes)) or ["Nothing."]),
            "",
            "## What is published",
            "",
            *_table(outcomes, before, FIGURES),
            "",
            "## What is judged and who is known",
            "",
            *_table(outcomes, before, NAMES),
            "",
            *_left_out(outcomes, before),
        ]
    )


def shortfalls(
    outcomes: Mapping[str, Outcome], before: Mapping[str, Outcome]
) -> list[str]:
    """What must not be, each in one sentence."""
    alone = [line for name in outcomes for line in _of_a_table(name, outcomes[name])]
    both = [name for name in outcomes if name in before]
    compared = [
        line for name in both for line in _worse(name, before[name], outcomes[name])
    ]
    for kind, mean in RECALLS.items():
        earlier, later = (
            mean([part[name] for name in both]) for part in (before, outcomes)
        )
        if later < earlier - ROUNDING:
            compared.append(f"The mean {kind} falls from {earlier:.1%} to {later:.1%}.")
    return [*alone, *compared]


def _of_a_table(name: str, outcome: Outcome) -> Iterator[str]:
    k = outcome.proposed.k
    if k and outcome.rarest_rows is not None and outcome.rarest_rows < k:
        yield (
            f"{name}: '{outcome.rarest_column}' shows a value of "
            f"{counted(outcome.rarest_rows, 'row')}; k is {k}."
        )
    if (outcome.unique_with_exact or 0.0) > MOST_UNIQUE:
        yield f"{name}: {outcome.unique_with_exact:.1%} of rows are unique."


def _worse(name: str, before: Outcome, after: Outcome) -> Iterator[str]:
    if after.failure and not before.failure:
        yield f"{name}: {after.failure}"
    if before.rows != after.rows:
        yield f"{name}: {before.rows:,} rows before and {after.rows:,} after."
    more = len(after.proposed.left_out) - len(before.proposed.left_out)
    if more > MORE_LEFT_OUT:
        yield f"{name}: {more} more columns are left out than before."


def _refused(outcomes: Mapping[str, Outcome]) -> list[str]:
    return [
        f"{name}: {outcome.failure}"
        for name, outcome in outcomes.items()
        if outcome.failure
    ]


def _recall(outcomes: list[Outcome]) -> float:
    shares = [
        outcome.recall_as_quasi
        for outcome in outcomes
        if outcome.recall_as_quasi is not None
    ]
    return fmean(shares) if shares else 0.0


def _protected(outcomes: list[Outcome]) -> float:
    shares = [
        outcome.recall_protected
        for outcome in outcomes
        if outcome.recall_protected is not None
    ]
    return fmean(shares) if shares else 0.0


RECALLS = {"recall as quasi": _recall, "recall protected": _protected}
LEGEND = (
    "By `python -m benchmarks.unedited`; samples are drawn with a fixed seed.",
    "*Beside* are the published columns that are neither quasi-identifiers nor "
    "sensitive: *exact* as they are, *banded* in bands. *Rarest* is the fewest rows "
    "that show one text in such a column (a mark of a missing value is a text), "
    "*unique* the share of rows that no other row equals in the published "
    "quasi-identifiers and these columns.",
    "*Recall* is about the columns of `outsider_knowledge.toml`: the share that is "
    "proposed as quasi-identifiers, and the share that is not published exactly "
    "(quasi-identifier, banded or left out).",
)


def _text(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, form)


def _names(columns: tuple[str, ...]) -> str:
    return ", ".join(columns).replace("|", "\\|") or "–"


def _rarest(outcome: Outcome) -> str:
    if outcome.rarest_rows is None:
        return "–"
    return f"{outcome.rarest_rows:,} ({outcome.rarest_column})"


FIGURES: Figures = {
    "rows": lambda outcome: f"{outcome.rows:,} of {outcome.rows_in_file:,}",
    "columns": lambda outcome: str(outcome.columns),
    "quasi": lambda outcome: str(len(outcome.proposed.quasi)),
    "sensitive": lambda outcome: str(len(outcome.proposed.sensitive)),
    "exact": lambda outcome: str(len(outcome.proposed.exact)),
    "banded": lambda outcome: str(len(outcome.proposed.banded)),
    "left out": lambda outcome: str(len(outcome.proposed.left_out)),
    "NCP": lambda outcome: _text(outcome.ncp, ".3f"),
    "rarest": _rarest,
    "unique": lambda outcome: _text(outcome.unique_with_exact, ".1%"),
    "recall as quasi": lambda outcome: _text(outcome.recall_as_quasi, ".0%"),
    "recall protected": lambda outcome: _text(outcome.recall_protected, ".0%"),
}
NAMES: Figures = {
    "judged beside k": lambda outcome: _names(outcome.proposed.judged),
    "quasi-identifiers": lambda outcome: _names(outcome.proposed.quasi),
    "sensitive": lambda outcome: _names(outcome.proposed.sensitive),
    "exact": lambda outcome: _names(outcome.proposed.exact),
    "banded": lambda outcome: _names(outcome.proposed.banded),
    "left out": lambda outcome: _names(tuple(outcome.proposed.left_out)),
}


def _table(
    outcomes: Mapping[str, Outcome], before: Mapping[str, Outcome], figures: Figures
) -> Iterator[str]:
    yield f"| table | {' | '.join(figures)} |"
    yield f"|---{'|---' * len(figures)}|"
    for name, outcome in outcomes.items():
        earlier = before.get(name, outcome)
        cells = (_change(of(earlier), of(outcome)) for of in figures.values())
        yield f"| {name} | {' | '.join(cells)} |"
    if figures is FIGURES:
        yield _means(outcomes, before)


def _means(outcomes: Mapping[str, Outcome], before: Mapping[str, Outcome]) -> str:
    earlier = [before.get(name, outcome) for name, outcome in outcomes.items()]
    later = list(outcomes.values())
    cells = (
        _change(f"{mean(earlier):.1%}", f"{mean(later):.1%}")
        for mean in RECALLS.values()
    )
    return f"| mean of tables{' | ' * (len(FIGURES) - 1)}{' | '.join(cells)} |"


def _change(before: str, after: str) -> str:
    return after if before == after else f"{before} → {after}"


def _left_out(
    outcomes: Mapping[str, Outcome], before: Mapping[str, Outcome]
) -> list[str]:
    """Every column that is left out with its reason; new ones are marked."""
    lines = ["## Why columns are left out", ""]
    for name, outcome in outcomes.items():
        earlier = before.get(name, outcome).proposed.left_out
        for column, reason in outcome.proposed.left_out.items():
            new = "" if column in earlier else " (new)"
            lines.append(f"- {name}, `{column}`{new}: {reason}")
    return [*lines, ""]


def _bullets(sentences: list[str]) -> list[str]:
    return [f"- {sentence}" for sentence in sentences]
