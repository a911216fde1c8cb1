"""Diversity constraints: how many rows must and may show a value."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from sfumato.data.option_examples import ParameterExamples, twentieths
from sfumato.data.rules import Rule
from sfumato.models.base import (
    TOLERANCE,
    AttackBound,
    Feasibility,
    Groups,
    OutputModel,
    Scope,
    Target,
    Verdict,
)
from sfumato.models.common.generated_constraints import CLASSES, KEYS, ranges

Amount = int | float | None


@dataclass(frozen=True, kw_only=True)
class Diversity(OutputModel):
    """The rows whose cells show certain values are neither too few nor too many.

    Guarantee: between `at_least` and `at_most` published rows show exactly the values
    of `where`. A whole number counts rows, a number with a decimal point is a share of
    the published rows.
    Method: a group shows a quasi-identifier's value for all of its rows or for none;
    a sensitive value is shown as it is, so that the data alone decide. `generate` stands
    for one constraint on every value of a column, in one of three classes.
    Limits: says nothing about privacy; require k-anonymity as well. A missing cell
    shows no value.
    Reference: Milani, Huang and Chiang, Preserving Diversity in Anonymized Data, EDBT
    2021, definition 2.3; the classes are those of Stoyanovich, Yang and Jagadish 2018.
    """

    name: ClassVar[str] = "diversity"
    sentence: ClassVar[str] = (
        "The rows that show certain values are neither too few nor too many."
    )
    blind_spot: ClassVar[str] = (
        "It keeps groups of people visible; it protects nobody from being found."
    )
    examples: ClassVar[ParameterExamples] = (
        {
            "where": tuple({"q0": text} for text in ("a", "b", "1", "0010")),
            "at_least": range(3),
            "at_most": range(2, 6),
        },
        {
            "where": ({"q0": "a"},),
            "at_least": twentieths(0, 0.3),
            "at_most": twentieths(0.3, 1),
        },
    )
    scope: ClassVar[Scope] = Scope.TABLE
    needs_cells: ClassVar[bool] = True
    counts_values: ClassVar[bool] = True
    monotone_generalization: ClassVar[bool] = False

    where: Mapping[str, str | int | float] = field(default_factory=dict)
    """The columns, and the value that each has to show."""
    at_least: Amount = None
    """The fewest published rows that show the values: a whole number of rows, or a
    share with a decimal point."""
    at_most: Amount = None
    """The most published rows that may show the values: a whole number of rows, or
    a share with a decimal point."""
    generate: Mapping[str, Any] | None = None
    """A constraint on every value of a column: `column`, `class`, `tolerance`, `keep`,
    `at_least`."""

    def __post_init__(self) -> None:
        self._require(
            isinstance(self.where, Mapping),
            "where is not a table.",
            'Write where = { column = "value" }.',
        )
        self._require_bound("at_least", self.at_least)
        self._require_bound("at_most", self.at_most)
        if self.generate is not None:
            self._require_generator(self.generate)
            return
        self._require(
            bool(self.where),
            "where is missing.",
            'Write where = { column = "value" }, or generate = { column = … }.',
        )
        texts = {str(name): _text(value) for name, value in self.where.items()}
        object.__setattr__(self, "where", texts)
        self._require_range()

    def __hash__(self) -> int:
        return hash((tuple(sorted(self.where.items())), self.at_least, self.at_most))

    def parameters(self) -> dict[str, Any]:
        return {
            key: value for key, value in super().parameters().items() if value != {}
        }

    @property
    def target(self) -> Target:
        """The columns and values, in the order of columns."""
        return tuple(sorted((name, str(value)) for name, value in self.where.items()))

    def targets(self) -> tuple[Target, ...]:
        self._require(
            self.generate is None,
            "generate makes one constraint per value of the source, which is not "
            "known here.",
            "Give the private record: --groups private/rows.parquet.",
        )
        return (self.target,)

    def expanded(
        self, counts: Callable[[str], Mapping[str, int]], *, k: int
    ) -> tuple[OutputModel, ...]:
        """One constraint for each value of the column that k rows or more have."""
        if self.generate is None:
            return (self,)
        column = str(self.generate["column"])
        return tuple(
            Diversity(where={column: value}, at_least=low, at_most=high)
            for value, low, high in ranges(self.generate, counts(column), k=k)
        )

    def bounds(self, rows: int) -> tuple[int, int]:
        """The fewest and the most rows allowed, of `rows` published ones."""
        low, high = _count(self.at_least, rows, math.ceil), rows
        if self.at_most is not None:
            high = min(rows, _count(self.at_most, rows, math.floor))
        return low, high

    def attack_bounds(
        self, quasi: Sequence[str], sensitive: Sequence[str]
    ) -> tuple[AttackBound, ...]:
        # None: it limits how often a value is shown, not what is learned.
        return ()

    def verify(self, groups: Groups) -> Verdict:
        found = groups.matching[self.targets()[0]]
        rows = int(groups.rows.sum()) if found.rows is None else found.rows
        shown = int(found.shown.sum())
        low, high = self.bounds(rows)
        return Verdict(low <= shown <= high, float(shown), 0, {"range": [low, high]})

    def rules(self, sensitive: Sequence[str], *, subjects: bool) -> tuple[Rule, ...]:
        """Return no rules: no group decides alone, and `diva` looks at all of them."""
        return ()

    def feasibility(self, whole: Groups, *, removable: int) -> Feasibility:
        present = whole.matching[self.targets()[0]].present
        found = 0 if present is None else int(present.sum())
        rows = int(whole.rows.sum())
        low, _ = self.bounds(max(rows - removable, found))
        decided = set(self.where) <= set(whole.sensitive)
        if found < low:
            return self._too_few(found, low, rows, decided=decided)
        if decided:
            return self._decided(found, rows, removable)
        return Feasibility(feasible=True, best=found)

    def _too_few(
        self, found: int, low: int, rows: int, *, decided: bool
    ) -> Feasibility:
        """More rows are asked for than there are; the hint respects `at_most`."""
        _, high = self.bounds(rows)
        fewer = found if decided else min(found, high)
        also = f" and raise at_most to {found}" if fewer > high else ""
        return Feasibility(
            feasible=False,
            best=found,
            message=f"{self.name} on {_listed(self.where)} needs {low:,} rows that show "
            f"its values; the source has {found:,}.",
            hint=f"Lower at_least to {fewer}{also}.",
        )

    def _decided(self, found: int, rows: int, removable: int) -> Feasibility:
        """Judge sensitive values, which rows show as they are unless they are left out."""
        gone = min(removable, found)
        _, high = self.bounds(rows - gone)
        left_out = f"; {gone:,} may be left out" if gone else ""
        return Feasibility(
            feasible=found - gone <= high,
            best=found - gone,
            message=f"{self.name} on {_listed(self.where)} allows {high:,} rows that show "
            f"its values; the source has {found:,}, published as they are{left_out}.",
            hint=f"Raise at_most to {found - gone:,}.",
        )

    def _require_bound(self, name: str, value: Amount) -> None:
        if value is None:
            return
        if isinstance(value, float):
            self._require_share(name, value, zero=True)
        self._require(
            not isinstance(value, bool) and value >= 0,
            f"{name} is {value}.",
            f"{name} must be a number of rows, or a share from 0.0 to 1.0.",
        )

    def _require_range(self) -> None:
        self._require(
            self.at_least is not None or self.at_most is not None,
            "neither at_least nor at_most is given.",
            "Say how many rows must, or may, show the values of where.",
        )
        low, high = self.at_least, self.at_most
        if low is not None and high is not None and type(low) is type(high):
            self._require(
                low <= high,
                f"at_least is {low}, at_most is {high}.",
                f"Lower at_least to {high}, or raise at_most to {low}.",
            )

    def _require_generator(self, generate: Mapping[str, Any]) -> None:
        self._require(
            isinstance(generate.get("column"), str),
            "generate names no column.",
            'Write generate = { column = "ethnicity", class = "proportional" }.',
        )
        strange = [key for key in generate if key not in KEYS]
        self._require(
            not strange,
            f"generate has the key '{next(iter(strange), '')}'.",
            f"It may have: {', '.join(KEYS)}.",
        )
        self._require_choice(
            "class", str(generate.get("class", "proportional")), CLASSES
        )
        self._require_share("tolerance", generate.get("tolerance", 0.2), zero=True)
        self._require_share("keep", generate.get("keep", 1.0))
        least = generate.get("at_least", 1)
        self._require(
            type(least) is int and least >= 1,
            f"generate has at_least {least!r}.",
            "It must be a whole number of at least 1.",
        )
        self._require(
            not self.where and self.at_least is None and self.at_most is None,
            "where, at_least and at_most cannot be combined with generate.",
            "Write them in a requirement of their own.",
        )


def _count(amount: Amount, rows: int, whole: Callable[[float], int]) -> int:
    """An amount as a number of rows."""
    if amount is None:
        return 0
    if isinstance(amount, int):
        return amount
    slack = TOLERANCE if whole is math.floor else -TOLERANCE
    return whole(amount * rows + slack)


def _text(value: str | float) -> str:
    """A value as cells show it: a whole number without a point."""
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _listed(where: Mapping[str, Any]) -> str:
    return ", ".join(f"'{name}'" for name in where)
