"""Look one person up in a published table: which groups may be theirs, and what follows.

The person's values are read as a table of one row, and every published
cell is read against the axes of that row, so that the original is not needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.data.arrays import Codes, Flags, Ints
from sfumato.data.cell_text import as_text
from sfumato.data.safe_repr import SafeRepr, counted
from sfumato.data.schema import Role
from sfumato.errors import DataError
from sfumato.pipeline.pair import PairFiles
from sfumato.policy import Policy
from sfumato.publish.anatomize import COUNT, GROUP
from sfumato.publish.base import Form
from sfumato.risk.attacks.matching_rows import ShownTuples

SWAPPED = (
    "Values were swapped within groups that the table does not show: the value beside a "
    "person's row is no evidence of the person's own."
)
BY_GROUP = "Values are known by group: shares are those of the candidates' groups."


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LookedUp(SafeRepr):
    """What a published table says about a person; private, as it is about one.

    Example:
        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> people = pa.table({"age": [23, 25, 31, 34], "ill": list("abab")})
        >>> release = sf.anonymize(people, quasi="age", sensitive="ill", k=2)
        >>> answer = sf.look_up(release, pa.table({"age": [23]}))
        >>> answer.rows, answer.values["ill"]
        (2, (('a', 0.5, 0.5), ('b', 0.5, 0.5)))
    """

    rows: int
    """Published rows that may be the person's."""
    groups: tuple[Mapping[str, Any], ...]
    """Each group that may hold the person: its cells, and its number of rows."""
    values: Mapping[str, tuple[tuple[str, float, float], ...]]
    """For each sensitive column: values of the candidates, the share of the candidates
    that has each, and its share of the table; the likeliest first. Empty where values
    were swapped and nobody knows the groups."""
    note: str = ""
    """How to read the values, where they are not those of the candidates."""

    def _summary(self) -> str:
        return (
            f"{counted(self.rows, 'candidate')} in {counted(len(self.groups), 'group')}"
        )

    def record(self) -> dict[str, Any]:
        """The answer as one JSON object."""
        return {
            "rows": self.rows,
            "note": self.note,
            "groups": [dict(group) for group in self.groups],
            "values": {
                name: [
                    {"value": value, "share": share, "share_of_table": whole}
                    for value, share, whole in each
                ]
                for name, each in self.values.items()
            },
        }


def look_up(
    person: pa.Table,
    table: pa.Table,
    beside: Mapping[str, pa.Table],
    *,
    policy: Policy,
    base: Path | None,
    swap_groups: Codes | None = None,
) -> LookedUp:
    """What a published table says about a person of whom some values are known.

    `swap_groups` are the groups of a swapped table, where they are known: a swapped
    value says something about its group, and nothing about its row.
    """
    if person.num_rows != 1:
        raise DataError(
            f"The record has {person.num_rows:,} rows; it must have one.",
            hint="Write a header and one line with the person's values.",
        )
    known = [n for n in policy.names(Role.QUASI) if n in person.column_names]
    if not known:
        raise DataError(
            "The record has none of the policy's quasi-identifiers.",
            hint=f"Give some of: {', '.join(policy.names(Role.QUASI))}.",
        )
    asked = _restricted(policy, known)
    pair = PairFiles(
        policy=asked, original=person.select(known), published=table, base=base
    ).pair()
    shown = ShownTuples(pair, tuple(known))
    leaves = np.column_stack([pair.original[name].codes for name in known])
    fits = np.concatenate([flags for _, flags in shown.matches(leaves)])[0]
    rows = np.flatnonzero(fits[shown.owner])
    swapped = policy.operator_instance().form is Form.SWAPPED
    told = _told_by(rows, table.num_rows, swap_groups if swapped else None)
    unknown = swapped and swap_groups is None
    return LookedUp(
        rows=len(rows),
        groups=tuple(_groups(shown, fits, table, known)),
        values={
            name: _values(name, rows, told, table, beside)
            for name in policy.names(Role.SENSITIVE)
            if not unknown and (name in table.column_names or _in_second(name, beside))
        },
        note=_note(beside, swapped=swapped, unknown=unknown),
    )


def _told_by(rows: Ints, number: int, groups: Codes | None) -> Ints:
    """How much each published row says about the person's values.

    Each candidate speaks for itself; where values were swapped, all rows of its group
    speak for it.
    """
    said = np.bincount(rows, minlength=number)
    if groups is None:
        return said
    found: Ints = np.bincount(groups, weights=said)[groups].astype(np.int64)
    return found


def _note(beside: Mapping[str, pa.Table], *, swapped: bool, unknown: bool) -> str:
    if unknown:
        return SWAPPED
    return BY_GROUP if swapped or "sensitive" in beside else ""


def _restricted(policy: Policy, known: list[str]) -> Policy:
    """The policy with the known columns as its only quasi-identifiers."""
    columns = {name: policy.columns[name] for name in known}
    return policy.model_copy(
        update={"columns": columns, "require": (), "unlisted": "drop"}
    )


def _groups(
    shown: ShownTuples, fits: Flags, table: pa.Table, known: list[str]
) -> list[dict[str, Any]]:
    """The cells of each group that may hold the person, and its rows."""
    first = np.full(len(fits), -1, dtype=np.int64)
    first[shown.owner[::-1]] = np.arange(len(shown.owner))[::-1]
    names = [n for n in table.column_names if n in known or _bound_of(n, known)]
    return [
        {
            "cells": {n: _text(table, n, int(first[at])) for n in names},
            "rows": int(shown.sizes[at]),
        }
        for at in np.flatnonzero(fits)
    ]


def _bound_of(name: str, known: list[str]) -> bool:
    return name.removesuffix("_from") in known or name.removesuffix("_to") in known


def _text(table: pa.Table, name: str, row: int) -> str | None:
    cell = as_text(table.column(name).slice(row, 1), name=name)
    found: str | None = cell.to_pylist()[0]
    return found


def _in_second(name: str, beside: Mapping[str, pa.Table]) -> bool:
    return "sensitive" in beside and name in beside["sensitive"].column_names


def _values(
    name: str,
    rows: Ints,
    told: Ints,
    table: pa.Table,
    beside: Mapping[str, pa.Table],
) -> tuple[tuple[str, float, float], ...]:
    """The values of the candidates, with their shares of them and of the table."""
    if name in table.column_names:
        whole, mine = _row_values(name, told, table)
    else:
        whole, mine = _anatomy_values(name, rows, table, beside["sensitive"])
    everybody = sum(whole.values())
    total = sum(mine.values())
    return tuple(
        (value, count / total, whole[value] / everybody)
        for value, count in sorted(mine.items(), key=lambda item: (-item[1], item[0]))
    )


def _row_values(
    name: str, told: Ints, table: pa.Table
) -> tuple[Counter[str], Counter[str]]:
    """How often the table has each value, and the rows that say something."""
    texts = as_text(table.column(name), name=name).combine_chunks()
    coded = texts.dictionary_encode(null_encoding="encode")
    values = [str(value) for value in coded.dictionary.to_pylist()]
    codes = coded.indices.to_numpy()
    counts = np.bincount(codes, minlength=len(values)).tolist()
    spoken = np.bincount(codes, weights=told, minlength=len(values)).astype(np.int64)
    whole = Counter(dict(zip(values, counts, strict=True)))
    return whole, +Counter(dict(zip(values, spoken.tolist(), strict=True)))


def _anatomy_values(
    name: str, rows: Ints, table: pa.Table, second: pa.Table
) -> tuple[Counter[str], Counter[str]]:
    """The values of an anatomy's groups, each as often as its group may be the one."""
    owners = as_text(table.column(GROUP), name=GROUP).to_pylist()
    often = Counter(owners[row] for row in rows)
    groups = as_text(second.column(GROUP), name=GROUP).to_pylist()
    values = as_text(second.column(name), name=name).to_pylist()
    counts = second.column(COUNT).to_pylist()
    whole: Counter[str] = Counter()
    mine: Counter[str] = Counter()
    for group, value, count in zip(groups, values, counts, strict=True):
        whole[str(value)] += int(count)
        mine[str(value)] += int(count) * often[group]
    return whole, +mine
