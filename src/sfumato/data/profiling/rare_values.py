"""Keep rare values, and values that undo k, out of columns that are published exactly.

A column that is neither quasi-identifier nor sensitive may leave exactly only if k persons
hold each of its values, and if such columns together make few rows unique beside the
groups of a quick grouping. Otherwise its numbers get bands and tails, or it becomes a
quasi-identifier, or it is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from sfumato.data.arrays import Flags, Ints
from sfumato.data.profiling.band_choice import codings, holders
from sfumato.data.profiling.column_roles import MOST_QUASI, Decision
from sfumato.data.profiling.quick_grouping import QuickGroups, quick_groups
from sfumato.data.schema import Role
from sfumato.data.table import Column
from sfumato.data.unique_rows import MOST_TOGETHER

EXACT = (Role.INSENSITIVE, Role.WEIGHT)


def without_giveaways(
    columns: Mapping[str, Column], decisions: Mapping[str, Decision], *, k: int
) -> dict[str, Decision]:
    """Change the decisions about columns that would give rows away, with the reason."""
    exact = [name for name, one in decisions.items() if _is_exact(one)]
    if not exact or not len(columns[exact[0]].codes):
        return dict(decisions)
    subject = next((n for n, d in decisions.items() if d.role is Role.SUBJECT), None)
    persons = None if subject is None else columns[subject].codes.astype(np.int64)
    people = len(columns[exact[0]].codes if persons is None else np.unique(persons))
    review = _Review(columns, dict(decisions), persons=persons, k=min(k, people))
    for name in sorted(exact, key=lambda name: columns[name].size):
        review.look_at(name)
    return review.decisions


def _is_exact(decision: Decision) -> bool:
    return decision.role in EXACT and not decision.drop


MARGIN = 0.9
"""How much of the share that a run allows a proposal may use up: the groups of a release
are smaller than those of the quick grouping."""


@dataclass(eq=False)
class _Review:
    """Looks at one column after the other, and remembers those that stay."""

    columns: Mapping[str, Column]
    decisions: dict[str, Decision]
    persons: Ints | None
    k: int
    staying: list[Ints] = field(default_factory=list)
    groups: QuickGroups = field(init=False)

    def __post_init__(self) -> None:
        self.groups = self._grouped()

    def _grouped(self) -> QuickGroups:
        quasi = [n for n, d in self.decisions.items() if _is_quasi(d)]
        rows = len(next(iter(self.columns.values())).codes)
        return quick_groups([self.columns[n] for n in quasi], rows, k=self.k)

    def look_at(self, name: str) -> None:
        """Let a column stay as it is, or change the decision about it."""
        column = self.columns[name]
        codes = _codes(column)
        fault = self._rare(codes) or self._telling(codes)
        if fault is None:
            self.staying.append(codes)
            return
        decision = self.decisions[name]
        told = replace(decision, reason=f"{decision.reason}; but {fault}")
        self.decisions[name] = self._banded(column, told) or self._last_resort(told)
        if _is_quasi(self.decisions[name]):
            self.groups = self._grouped()

    def _rare(self, codes: Ints) -> str | None:
        held = holders(codes[codes >= 0], _of(self.persons, codes >= 0))
        occurring = held[held > 0]
        rare = int((occurring < self.k).sum())
        if not rare:
            return None
        unit = "rows" if self.persons is None else "persons"
        return f"{rare:,} of {len(occurring):,} values have fewer than {self.k} {unit}"

    def _telling(self, codes: Ints) -> str | None:
        share = self.groups.made_unique([*self.staying, codes])
        if share <= MARGIN * MOST_TOGETHER:
            return None
        others = " with the other exact columns" if self.staying else ""
        return (
            f"{share:.1%} of rows would be unique by it{others} in groups of {self.k}"
        )

    def _banded(self, column: Column, decision: Decision) -> Decision | None:
        """The finest bands that give no row away, where there are any."""
        for coded in codings(column, self.persons, k=self.k):
            if self._rare(coded.codes) is None and self._telling(coded.codes) is None:
                self.staying.append(coded.codes)
                return replace(decision, coding=coded.coding)
        return None

    def _last_resort(self, decision: Decision) -> Decision:
        quasi = sum(map(_is_quasi, self.decisions.values()))
        if decision.role is Role.INSENSITIVE and quasi < MOST_QUASI:
            return replace(decision, role=Role.QUASI)
        return replace(decision, drop=True)


def _is_quasi(decision: Decision) -> bool:
    return decision.role is Role.QUASI and not decision.drop


def _codes(column: Column) -> Ints:
    """The codes of a column, −1 for the missing value."""
    codes = column.codes.astype(np.int64)
    return np.where(codes == column.missing, -1, codes)


def _of(persons: Ints | None, rows: Flags) -> Ints | None:
    return None if persons is None else persons[rows]
