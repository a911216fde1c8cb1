"""Decide what each column is, with a reason that the data steward can review."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import pyarrow as pa

from sfumato.data.coding import code_column, infer_kind
from sfumato.data.parallel import each
from sfumato.data.profiling.band_choice import BandCoding
from sfumato.data.profiling.column_names import names_an_area_code
from sfumato.data.profiling.column_roles import Decision, decide
from sfumato.data.profiling.column_signs import Sign, Signs, known_labels, signs_of
from sfumato.data.profiling.identifying_power import Power, identifying_power
from sfumato.data.profiling.name_words import Concept
from sfumato.data.profiling.rare_values import without_giveaways
from sfumato.data.schema import Kind, Role
from sfumato.data.table import Column
from sfumato.data.vocabularies import order_of

K = 5


@dataclass(frozen=True)
class Guess:
    """What a column seems to be, and why."""

    name: str
    kind: Kind
    kind_reason: str
    role: Role
    role_reason: str
    drop: bool
    """Whether it is left out of the release."""
    concept: Concept | None
    understood: bool
    """Whether its name or its values say what it is about."""
    power: Power
    missing: int
    """How many cells have no value."""
    coding: BandCoding | None = None
    """The bands and tails that it is published with."""


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
        """The published columns that seem to have a role."""
        return tuple(
            guess.name
            for guess in self.guesses
            if guess.role is role and not guess.drop
        )


def infer(
    source: pa.Table,
    *,
    missing: Sequence[str] = ("",),
    k: int = K,
    given: Mapping[str, Decision] = MappingProxyType({}),
    leaves_out: Callable[[Signs], str | None] = lambda _: None,
) -> Inference:
    """Decide the kind and role of every column of a table.

    Some roles may be given; `leaves_out` says why a column must not be published.
    """
    coded = each(lambda n: _coded(n, source.column(n), missing), source.column_names)
    found = each(lambda pair: signs_of(*pair), coded)
    decisions = decide(found, k=k, given=_forbidden(found, leaves_out) | dict(given))
    columns = {column.name: column for column, _ in coded}
    decisions = without_giveaways(columns, decisions, k=k)
    guesses = tuple(_guess(one, decisions[one.name]) for one in found)
    quasi = [g.name for g in guesses if g.role is Role.QUASI and not g.drop]
    return Inference(
        rows=source.num_rows,
        guesses=guesses,
        sets=identifying_power([columns[name] for name in quasi]),
        columns=MappingProxyType(columns),
    )


def _forbidden(
    found: Sequence[Signs], leaves_out: Callable[[Signs], str | None]
) -> dict[str, Decision]:
    reasons = {one.name: leaves_out(one) for one in found if one.sign > Sign.SUBJECT}
    return {
        name: Decision(Role.INSENSITIVE, reason, drop=True)
        for name, reason in reasons.items()
        if reason is not None
    }


def _coded(
    name: str, values: pa.ChunkedArray, missing: Sequence[str]
) -> tuple[Column, str]:
    kind, reason = infer_kind(values, missing=missing)
    column = code_column(name, values, kind=kind, missing=missing)
    if kind is Kind.INTEGER and names_an_area_code(name) and _same_length(column):
        kind, reason = Kind.CODE, "digits of one length under the name of a postal code"
        column = code_column(name, values, kind=kind, missing=missing)
    order = order_of(known_labels(column)) if kind is Kind.CATEGORY else None
    if order is not None:
        kind, reason = Kind.ORDERED, "words that have an order"
        column = code_column(name, values, kind=kind, missing=missing, order=order)
    return column, reason


def _same_length(column: Column) -> bool:
    return len(set(map(len, known_labels(column)))) == 1


def _guess(found: Signs, decision: Decision) -> Guess:
    return Guess(
        name=found.name,
        kind=found.column.kind,
        kind_reason=found.kind_reason,
        role=decision.role,
        role_reason=decision.reason,
        drop=decision.drop,
        concept=found.concept,
        understood=found.sign is not Sign.UNKNOWN,
        power=found.power,
        missing=found.missing,
        coding=decision.coding,
    )
