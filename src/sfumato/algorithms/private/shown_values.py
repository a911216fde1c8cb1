"""Diversity constraints under differential privacy: what is asked, and what is impossible.

All of this is decided by the policy, the declared hierarchies and the budget alone, before
any cell is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np

from sfumato.data.arrays import Codes, Flags
from sfumato.errors import PolicyError, RefusedError
from sfumato.hierarchies.axis import Axis, CodedAxis
from sfumato.models.base import OutputModel, Target


@dataclass(frozen=True, kw_only=True)
class ShownValue:
    """A target, and how many published rows must and may show it."""

    target: Target
    least_rows: int = 0
    least_share: float = 0.0
    """Of the published rows."""
    most_rows: int | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.target)

    @property
    def tested(self) -> bool:
        """Whether it has a lower bound."""
        return self.least_rows > 0 or self.least_share > 0

    def least(self, rows: int) -> int:
        """The fewest rows that must show it, of at most so many published ones."""
        # A share that is met exactly is met: the verifier allows for rounding too.
        return max(self.least_rows, int(np.ceil(self.least_share * rows)))

    def excludes(self, other: ShownValue) -> bool:
        """Whether no row shows both: they ask for different texts of one column."""
        mine, theirs = dict(self.target), dict(other.target)
        return any(mine[name] != theirs[name] for name in mine.keys() & theirs.keys())


def shown_values(models: Sequence[OutputModel]) -> tuple[ShownValue, ...]:
    """The constraints of a policy, one per target; ranges from the source are refused."""
    found: dict[Target, ShownValue] = {}
    for model in models:
        if not model.counts_values:
            continue
        if getattr(model, "generate", None) is not None:
            raise RefusedError(
                f"{model.name}: generated ranges follow from how often each value "
                "occurs in the source, which no budget pays for.",
                hint="Write where, with at_least or at_most, for each value.",
            )
        target = model.targets()[0]
        found[target] = _joined(found.get(target, ShownValue(target=target)), model)
    return tuple(found.values())


def _joined(known: ShownValue, model: OutputModel) -> ShownValue:
    least: Any = getattr(model, "at_least", None) or 0
    most: Any = getattr(model, "at_most", None)
    if isinstance(most, float):
        raise RefusedError(
            f"{model.name} on {listed(known)}: at_most is a share, and leaving rows "
            "out lowers the number of rows that it is a share of.",
            hint="Give at_most as a number of rows.",
        )
    limits = [each for each in (known.most_rows, most) if each is not None]
    share = least if isinstance(least, float) else 0.0
    return ShownValue(
        target=known.target,
        least_rows=max(known.least_rows, 0 if share else int(least)),
        least_share=max(known.least_share, share),
        most_rows=min(limits, default=None),
    )


def refuse_impossible(values: Sequence[ShownValue], *, k: int) -> None:
    """Refuse ranges that no release with groups of k rows can be sure to meet."""
    for value in values:
        _refuse_range(value, k)
    for one, other in product(values, values):
        hides = one.most_rows is not None and other.tested
        if hides and one is not other and not one.excludes(other):
            raise RefusedError(
                f"diversity: rows are left out to keep at_most on {listed(one)}, and "
                f"some of them may count for at_least on {listed(other)}.",
                hint="Remove one of the two, or name different values of one column.",
            )


def _refuse_range(value: ShownValue, k: int) -> None:
    most = value.most_rows
    if most is None or not value.tested:
        return
    if most < k:
        raise RefusedError(
            f"diversity on {listed(value)} allows {most:,} rows, and a group has {k:,} or "
            "more: groups show a value for all of their rows or for none.",
            hint=f"Raise at_most to {k:,} or more, or remove at_least.",
        )
    if value.least_share > 0:
        raise RefusedError(
            f"diversity on {listed(value)}: at_least is a share and at_most a number "
            "of rows; which is larger depends on how many rows are published.",
            hint="Give at_least as a number of rows, or remove at_most.",
        )
    if most - value.least_rows < k - 1:
        raise RefusedError(
            f"diversity on {listed(value)}: from {value.least_rows:,} to {most:,} rows is "
            f"narrower than a group of {k:,}, so that leaving rows out may miss it.",
            hint=f"Raise at_most to {value.least_rows + k - 1} or more.",
        )


def column_sets(values: Sequence[ShownValue]) -> int:
    """How many tested values one row can show at most: one per set of columns."""
    return len({value.columns for value in values if value.tested})


def levels_shown(
    axes: Sequence[CodedAxis], values: Sequence[ShownValue]
) -> list[list[int]]:
    """The levels of each axis at which every text that is asked for is shown."""
    asked: dict[str, set[str]] = {}
    for value in values:
        for name, text in value.target:
            asked.setdefault(name, set()).add(text)
    strange = sorted(set(asked) - {coded.name for coded in axes})
    if strange:
        raise PolicyError(
            f"diversity: 'where' names '{strange[0]}', which is not published.",
            hint=f"Published are: {', '.join(coded.name for coded in axes)}.",
        )
    return [_levels(coded.axis, asked.get(coded.name, set())) for coded in axes]


def _levels(axis: Axis, texts: set[str]) -> list[int]:
    every = range(axis.height)
    by_text = [{lv for lv in every if showing(axis, lv, text).any()} for text in texts]
    for found in by_text:
        if not found:
            raise RefusedError(
                f"diversity: 'where' asks for a value of '{axis.name}' that no level of "
                "its declared hierarchy shows.",
                hint="Correct the value, or add it to the hierarchy or domain.",
            )
    for one, other in combinations(by_text, 2):
        if not one & other:
            raise RefusedError(
                f"diversity: no level of '{axis.name}' shows all values that 'where' "
                "asks for; a release shows each column at one level.",
                hint="Ask for values of one level.",
            )
    return [level for level in every if all(level in found for found in by_text)]


def showing(axis: Axis, level: int, text: str) -> Flags:
    """Which leaves show a text at a level; a missing cell shows none."""
    nodes: Codes = axis.levels[level]
    named = [
        each == text and node != axis.missing
        for node, each in enumerate(axis.node_labels)
    ]
    return np.asarray(np.array(named, dtype=np.bool_)[nodes])


def rows_showing(
    axes: Sequence[CodedAxis], levels: Sequence[int], target: Target
) -> Flags:
    """Which rows show a target at these levels."""
    place = {coded.name: number for number, coded in enumerate(axes)}
    found = np.ones(len(axes[0].codes), dtype=np.bool_)
    for name, text in target:
        coded, level = axes[place[name]], levels[place[name]]
        found &= showing(coded.axis, level, text)[coded.codes]
    return found


def listed(value: ShownValue) -> str:
    """The columns of a target; values are not told in errors."""
    return ", ".join(f"'{name}'" for name in value.columns)
