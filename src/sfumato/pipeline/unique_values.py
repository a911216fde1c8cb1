"""Columns published as they are, and the rows that their unique values single out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pyarrow as pa

from sfumato.data.arrays import Ints
from sfumato.data.parallel import each
from sfumato.data.schema import Role
from sfumato.data.unique_rows import (
    MOST,
    MOST_TOGETHER,
    alone,
    alone_together,
    joined,
    value_places,
)
from sfumato.pipeline.exact_columns import (
    EXACT,
    Holders,
    exact_names,
    exact_risk,
    unasked,
)
from sfumato.policy import Policy
from sfumato.report.exact_column_words import UNIQUE, rare_sentence, unique_sentence

UNTOUCHED = (Role.SENSITIVE, *EXACT)


def refuse_giveaways(
    policy: Policy, table: pa.Table, *, but: Collection[str] = ()
) -> None:
    """Refuse to publish a column that tells rows apart, unless the policy says so.

    `but` lists the columns that the operator added.
    """
    asked = unasked(policy, table.column_names, but=but)
    counts = each(lambda name: rows_alone(table, name, policy.data.missing), asked)
    refuse_alone(policy, dict(zip(asked, counts, strict=True)), table.num_rows)


def refuse_alone(policy: Policy, counts: Mapping[str, int], rows: int) -> None:
    """Refuse columns of which too many values occur once, all in one message."""
    shares = {
        name: f"{count:,} of {rows:,} rows ({count / rows:.1%})"
        for name, count in counts.items()
        if count > MOST * rows
    }
    if not shares:
        return
    (first, share), *others = shares.items()
    more = "".join(f" So would '{name}': {text}." for name, text in others)
    raise policy.fault(
        ("columns", first),
        f"would be published as it is, and {share} have a value that occurs once: "
        f"whoever knows it finds the row.{more}",
        hint="Give numbers bands, say drop = true, make it a quasi-identifier, or say "
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
        known = quasi_places(table, quasi)

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
    held: Holders,
    but: Collection[str] = (),
    known: Ints | None = None,
) -> dict[str, Any]:
    """The giveaways of a published table, as a part of its risk.

    Pseudonyms are left out: nobody outside knows them. `known` numbers the
    combinations of the quasi-identifiers, where that was done; `held` says how many
    have to hold each value.
    """
    if known is None:
        known = quasi_places(table, quasi)
    left_out = {*quasi, *but}
    names = [name for name in table.column_names if name not in left_out]
    roles = {name: policy.role(name) or Role.INSENSITIVE for name in names}
    kept = {name: role for name, role in roles.items() if role in UNTOUCHED}
    found = giveaways(
        table, kept, quasi=quasi, missing=policy.data.missing, known=known
    )
    if not found:
        return {}
    return exact_risk(
        policy, table, names=exact_names(kept), known=known, held=held
    ) | {"columns": found}


def quasi_places(table: pa.Table, quasi: Sequence[str]) -> Ints:
    """A number for each row's combination of quasi-identifiers."""
    parts = (value_places(table.column(name)) for name in quasi)
    return joined(parts, table.num_rows)


def warnings(risk: Mapping[str, Any]) -> list[str]:
    """What exact columns give away: together, by rare values, by unique ones."""
    found = [unique_sentence(risk)] if risk.get(UNIQUE, 0.0) > MOST_TOGETHER else []
    found.append(rare_sentence(risk))
    return [text for text in found if text is not None] + [
        f"{each['unique']:.1%} of rows have a value of '{name}' ({each['role']}) that "
        "occurs once: whoever knows it finds the row."
        for name, each in risk.get("columns", {}).items()
        if each["unique"] > MOST
    ]
