"""What the columns that are published exactly tell together, and by their rarest values."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.data.arrays import Ints
from sfumato.data.profiling.band_choice import holders
from sfumato.data.schema import Role
from sfumato.data.unique_rows import MOST_TOGETHER, alone, joined, value_places
from sfumato.engines.base import Engine
from sfumato.models.base import OutputModel
from sfumato.pipeline.expand_requirements import smallest_group
from sfumato.policy import Policy
from sfumato.report.exact_column_words import RARE, UNIQUE
from sfumato.report.number_text import listing
from sfumato.verify import Proof

EXACT = (Role.INSENSITIVE, Role.WEIGHT)
"""Roles that no requirement covers; what gives rows away needs `keep_as_is`."""
USUAL_K = 5
"""How many people are to hold each value, where no k is asked."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Holders:
    """Who has to hold each value: k persons, or k rows where nobody counts persons."""

    k: int
    persons: Ints | None = None

    @classmethod
    def asked(
        cls, models: Sequence[OutputModel], persons: Ints | None = None
    ) -> Holders:
        """As many as the requirements ask for; 5 if they ask for none."""
        k = smallest_group(models)
        return cls(k=k if k > 1 else USUAL_K, persons=persons)

    def fewest(self, places: Ints) -> int | None:
        """How few hold any of a column's values; None if k or more hold each."""
        present = places >= 0
        persons = None if self.persons is None else self.persons[present]
        held = holders(places[present], persons)
        least = int(held[held > 0].min(initial=self.k))
        return least if least < self.k else None

    def record(self, fewest: Mapping[str, int]) -> dict[str, Any]:
        """The part of the risk that lists columns with rare values."""
        if not fewest:
            return {}
        unit = "rows" if self.persons is None else "persons"
        return {RARE: {"below": self.k, "unit": unit, "columns": dict(fewest)}}


def persons_of(proof: Proof) -> Ints | None:
    """The person of each published row, as a proof counted them."""
    subject = None if proof.evidence is None else proof.evidence.subject
    return None if subject is None else subject.astype(np.int64)


def exact_names(roles: Mapping[str, Role]) -> list[str]:
    """The published columns that are neither quasi-identifiers nor sensitive."""
    return [name for name, role in roles.items() if role in EXACT]


def unasked(
    policy: Policy, names: Sequence[str], *, but: Collection[str] = ()
) -> list[str]:
    """The exact columns that the policy does not keep as they are on purpose."""
    exact = [name for name in names if policy.role(name) in EXACT and name not in but]
    return [name for name in exact if not policy.column(name).keep_as_is]


def exact_risk(
    policy: Policy,
    table: pa.Table,
    *,
    names: Sequence[str],
    known: Ints,
    held: Holders,
) -> dict[str, Any]:
    """The share of rows that are unique with the exact columns, and their rare values.

    `known` numbers the combinations of the published quasi-identifiers.
    """
    if not names:
        return {}
    fewest: dict[str, int] = {}

    def places() -> Iterator[Ints]:
        for name in names:
            values = value_places(table.column(name), policy.data.missing)
            least = held.fewest(values)
            if least is not None:
                fewest[name] = least
            yield values

    unique = alone(_together(known, places()))
    return {UNIQUE: unique / max(table.num_rows, 1)} | held.record(fewest)


def _together(known: Ints, columns: Iterator[Ints]) -> Ints:
    """A number for each row's combination of quasi-identifiers and exact columns."""
    return joined((part for parts in ([known], columns) for part in parts), len(known))


def engine_exact_risk(
    policy: Policy,
    engine: Engine,
    *,
    quasi: Sequence[str],
    single: Mapping[str, int],
    rows: int,
    models: Sequence[OutputModel],
) -> dict[str, Any]:
    """The same by counts of an engine.

    `single` has for each exact column the rows with a value that occurs once.
    """
    if not single:
        return {}
    held = Holders.asked(models)
    least = {
        name: 1 if count else _fewest_rows(engine, name, policy.data.missing)
        for name, count in single.items()
    }
    fewest = {name: rows for name, rows in least.items() if rows < held.k}
    first, *others = single
    unique = engine.alone(first, [*quasi, *others], None)
    return {UNIQUE: unique / max(rows, 1)} | held.record(fewest)


def _fewest_rows(engine: Engine, name: str, missing: Sequence[str]) -> int:
    """How few rows have any one value of a column."""
    counted = engine.profile(name)
    present = value_places(counted.lines.column(0), missing) >= 0
    return int(counted.times[present].min(initial=counted.rows))


def engine_unique(engine: Engine, quasi: Sequence[str], names: Sequence[str]) -> int:
    """Count the rows that are unique with exact columns, and not without them."""
    together = engine.alone(names[0], [*quasi, *names[1:]], None)
    return together - (engine.alone(quasi[0], quasi[1:], None) if quasi else 0)


def refuse_unique_rows(
    policy: Policy, table: pa.Table, *, known: Ints, but: Collection[str] = ()
) -> None:
    """Refuse a table of which exact columns make too many rows unique.

    Rows that are unique by the quasi-identifiers alone are not their fault.
    """
    names = unasked(policy, table.column_names, but=but)
    if names:
        missing = policy.data.missing
        places = (value_places(table.column(name), missing) for name in names)
        unique = alone(_together(known, places)) - alone(known)
        refuse_unique(policy, names, unique, len(known))


def refuse_unique(policy: Policy, names: Sequence[str], unique: int, rows: int) -> None:
    """Refuse columns that together make more than a fifth of the rows unique."""
    if unique > MOST_TOGETHER * rows:
        listed = listing([f"'{name}'" for name in names])
        raise policy.fault(
            ("columns", names[0]),
            f"would be published so that {unique:,} of {rows:,} rows "
            f"({unique / rows:.1%}) are unique by {listed} beside the published "
            f"quasi-identifiers; more than {MOST_TOGETHER:.0%} undo the grouping.",
            hint="Give them bands, or wider ones, make one a quasi-identifier, ask for a "
            "larger k, say drop = true, or say keep_as_is = true if nobody outside can "
            "know their values.",
        )
