"""Guess what each column is, with a reason that the data steward can review."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import pyarrow as pa

from sfumato.data.coding import code_column, infer_kind
from sfumato.data.parallel import each
from sfumato.data.profiling.column_names import (
    ends_like_a_number,
    names_a_person_number,
    names_an_area_code,
    role_of_name,
)
from sfumato.data.profiling.identifying_power import Power, identifying_power, power_of
from sfumato.data.profiling.value_patterns import giveaway
from sfumato.data.schema import Kind, Role
from sfumato.data.table import Column

NEARLY_UNIQUE = 0.9
"""The distinction from which text is taken to name its row."""
OFTEN_DIFFERENT = 0.05
"""The distinction from which a number in the name of a person may count persons."""
FEWEST_ROWS = 20
"""With fewer rows than this, unique values say nothing."""


@dataclass(frozen=True)
class Guess:
    """What a column seems to be, and why."""

    name: str
    kind: Kind
    kind_reason: str
    role: Role
    role_reason: str
    power: Power
    missing: int
    """How many cells have no value."""


@dataclass(frozen=True, eq=False)
class Inference:
    """What a table seems to hold."""

    rows: int
    guesses: tuple[Guess, ...]
    sets: tuple[Power, ...]
    """Sets of up to three columns that others may know, most identifying first."""
    columns: Mapping[str, Column]
    """The coded columns, used to propose hierarchies."""

    def __getitem__(self, name: str) -> Guess:
        return next(guess for guess in self.guesses if guess.name == name)

    def names(self, role: Role) -> tuple[str, ...]:
        """The columns that seem to have a role."""
        return tuple(guess.name for guess in self.guesses if guess.role is role)


def infer(source: pa.Table, *, missing: Sequence[str] = ("",)) -> Inference:
    """Guess the kind and role of every column of a table."""
    coded = each(lambda n: _coded(n, source.column(n), missing), source.column_names)
    guesses = _one_of_each(
        [_guess(column, reason, source.num_rows) for column, reason in coded]
    )
    columns = {column.name: column for column, _ in coded}
    known = [columns[guess.name] for guess in guesses if guess.role is Role.QUASI]
    return Inference(
        rows=source.num_rows,
        guesses=tuple(guesses),
        sets=identifying_power(known),
        columns=MappingProxyType(columns),
    )


def _coded(
    name: str, values: pa.ChunkedArray, missing: Sequence[str]
) -> tuple[Column, str]:
    kind, reason = infer_kind(values, missing=missing)
    column = code_column(name, values, kind=kind, missing=missing)
    if kind is Kind.INTEGER and names_an_area_code(name) and _same_length(column):
        kind, reason = Kind.CODE, "digits of one length under the name of a postal code"
        column = code_column(name, values, kind=kind, missing=missing)
    return column, reason


def _same_length(column: Column) -> bool:
    known = [label for at, label in enumerate(column.labels) if at != column.missing]
    return len({len(label) for label in known}) == 1


def _guess(column: Column, reason: str, rows: int) -> Guess:
    power = power_of([column])
    role, role_reason = _role(column, power, rows)
    empty = 0 if column.missing < 0 else int((column.codes == column.missing).sum())
    return Guess(column.name, column.kind, reason, role, role_reason, power, empty)


def _role(column: Column, power: Power, rows: int) -> tuple[Role, str]:
    if names_a_person_number(column.name) and power.distinction >= OFTEN_DIFFERENT:
        return _person_number(power, rows)
    what = _giveaway(column)
    if what:
        return Role.IDENTIFIER, f"its values are {what}"
    by_name = role_of_name(column.name)
    if by_name is not None:
        return _plausible(by_name, column, power)
    unique = _unique(column, power, rows)
    return (Role.IDENTIFIER, unique) if unique else _in_doubt(column, power)


def _giveaway(column: Column) -> str | None:
    known = [label for at, label in enumerate(column.labels) if at != column.missing]
    return giveaway(known) if not column.kind.numeric or _long(known) else None


def _unique(column: Column, power: Power, rows: int) -> str | None:
    """Explain why the nearly unique values identify the rows; None if they do not."""
    if rows < FEWEST_ROWS:
        return None
    nearly = power.distinction >= NEARLY_UNIQUE
    if column.kind in (Kind.CATEGORY, Kind.CODE) and nearly:
        return f"text with {power.distinct} different values in {rows} rows"
    if column.kind is not Kind.INTEGER:
        return None
    named = ends_like_a_number(column.name) and power.distinction >= OFTEN_DIFFERENT
    if named or power.distinct == rows:
        return f"{power.distinct} different numbers in {rows} rows"
    return None


def _long(labels: Sequence[str]) -> bool:
    return all(len(label) >= 13 for label in labels[:FEWEST_ROWS])


def _person_number(power: Power, rows: int) -> tuple[Role, str]:
    if power.distinct < rows:
        return (
            Role.SUBJECT,
            f"a person's number, {power.distinct} of them in {rows} rows",
        )
    return Role.IDENTIFIER, "a person's number, another in every row"


def _plausible(
    by_name: tuple[Role, str], column: Column, power: Power
) -> tuple[Role, str]:
    """Return the role that the name suggests, unless the values contradict it."""
    role, reason = by_name
    if role is Role.WEIGHT and not column.kind.numeric:
        return _in_doubt(column, power)
    if role in (Role.SENSITIVE, Role.QUASI) and power.distinct < 2:
        return Role.INSENSITIVE, f"{reason}, but one value only"
    return role, reason


def _in_doubt(column: Column, power: Power) -> tuple[Role, str]:
    if power.distinct < 2:
        return Role.INSENSITIVE, "one value only"
    return Role.QUASI, "in doubt: make it insensitive if nobody outside can know it"


def _one_of_each(guesses: list[Guess]) -> list[Guess]:
    """Keep one subject, the column with the most persons, and one weight."""
    subjects = [guess for guess in guesses if guess.role is Role.SUBJECT]
    subject = max(subjects, key=lambda guess: guess.power.distinct, default=None)
    weight = next((guess for guess in guesses if guess.role is Role.WEIGHT), None)
    return [_demoted(guess, subject, weight) for guess in guesses]


def _demoted(guess: Guess, subject: Guess | None, weight: Guess | None) -> Guess:
    if guess.role is Role.SUBJECT and guess is not subject:
        return replace(
            guess, role=Role.IDENTIFIER, role_reason="a further person's number"
        )
    if guess.role is Role.WEIGHT and guess is not weight:
        return replace(guess, role=Role.INSENSITIVE, role_reason="a further weight")
    return guess
