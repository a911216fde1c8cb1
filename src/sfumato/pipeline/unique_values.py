"""Columns published as they are, and the rows that their unique values single out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pyarrow as pa

from sfumato.data.arrays import Ints
from sfumato.data.parallel import each
from sfumato.data.schema import Role
from sfumato.data.unique_rows import MOST, alone, alone_together, joined, value_places
from sfumato.policy import Policy

UNTOUCHED = (Role.SENSITIVE, Role.INSENSITIVE, Role.WEIGHT)
ASKED_FOR = (Role.INSENSITIVE, Role.WEIGHT)
"""Roles that no requirement covers; publishing unique values needs `keep_as_is`."""


def refuse_giveaways(
    policy: Policy, table: pa.Table, *, but: Collection[str] = ()
) -> None:
    """Refuse to publish a column that tells rows apart, unless the policy says so.

    `but` lists the columns that the operator added.
    """
    asked = unasked(policy, [name for name in table.column_names if name not in but])
    counts = each(lambda name: rows_alone(table, name, policy.data.missing), asked)
    for name, count in zip(asked, counts, strict=True):
        refuse_alone(policy, name, count, table.num_rows)


def unasked(policy: Policy, names: Sequence[str]) -> list[str]:
    """The columns published as they are without the policy having said so."""
    kept = [name for name in names if policy.role(name) in ASKED_FOR]
    return [name for name in kept if not policy.column(name).keep_as_is]


def refuse_alone(policy: Policy, name: str, count: int, rows: int) -> None:
    """Refuse a column if too many of its values occur once."""
    if count > MOST * rows:
        raise policy.fault(
            ("columns", name),
            f"would be published as it is, and {count:,} of {rows:,} rows "
            f"({count / rows:.1%}) have a value that occurs once: "
            "whoever knows it finds the row.",
            hint="Say drop = true, make it a quasi-identifier, or say "
            "keep_as_is = true if nobody outside can know its values.",
        )


def rows_alone(table: pa.Table, name: str, missing: Sequence[str]) -> int:
    """Count the rows with a value of a column that occurs once."""
    return alone(value_places(table.column(name), missing))


def giveaways(
    table: pa.Table,
    roles: Mapping[str, Role],
    *,
    quasi: Sequence[str],
    missing: Sequence[str],
    known: Ints | None = None,
) -> dict[str, dict[str, Any]]:
    """Per column, the share of rows with a unique value: alone, and combined with the
    published quasi-identifiers.

    `known` numbers the combinations of the quasi-identifiers, where that was done.
    """
    rows = table.num_rows
    if known is None:
        known = joined((value_places(table.column(name)) for name in quasi), rows)

    def share(name: str) -> dict[str, Any]:
        places = value_places(table.column(name), missing)
        together = alone_together(known, places)
        return alone_shares(roles[name], alone(places), together, rows=rows)

    return dict(zip(roles, each(share, roles), strict=True))


def alone_shares(
    role: Role, alone: int, with_quasi: int, *, rows: int
) -> dict[str, Any]:
    """The shares of rows with a unique value: alone, and with the quasi-identifiers."""
    return {
        "role": str(role),
        "unique": alone / rows,
        "unique_with_quasi": with_quasi / rows,
    }


def released_giveaways(
    policy: Policy,
    table: pa.Table,
    *,
    quasi: Sequence[str],
    but: Collection[str] = (),
    known: Ints | None = None,
) -> dict[str, Any]:
    """The giveaways of a published table, as a part of its risk.

    Pseudonyms are left out: nobody outside knows them. `known` numbers the
    combinations of the quasi-identifiers, where that was done.
    """
    left_out = {*quasi, *but}
    names = [name for name in table.column_names if name not in left_out]
    roles = {name: policy.role(name) or Role.INSENSITIVE for name in names}
    kept = {name: role for name, role in roles.items() if role in UNTOUCHED}
    found = giveaways(
        table, kept, quasi=quasi, missing=policy.data.missing, known=known
    )
    return {"columns": found} if found else {}


def warnings(risk: Mapping[str, Any]) -> list[str]:
    """One warning for each column in which more than 5% of rows have a unique value."""
    return [
        f"{each['unique']:.1%} of rows have a value of '{name}' ({each['role']}) that "
        "occurs once: whoever knows it finds the row."
        for name, each in risk.get("columns", {}).items()
        if each["unique"] > MOST
    ]
