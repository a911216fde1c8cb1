"""Diversity constraints on the rows of a request: targets, ranges and overlaps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from types import MappingProxyType

import numpy as np

from sfumato.algorithms.request import Request
from sfumato.data.arrays import Flags, Ints
from sfumato.errors import InfeasibleError
from sfumato.models.common.targets import column_of, rows_of
from sfumato.models.diversity import Diversity

AT_A_TIME = 8_192
"""Rows whose flags are made numbers, which take eight times the room, at a time."""
ENDINGS: Mapping[int, str] = MappingProxyType({1: "st", 2: "nd", 3: "rd"})


@dataclass(frozen=True, eq=False, kw_only=True)
class Sigma:
    """The constraints of a request that groups decide: those on quasi-identifiers."""

    models: tuple[Diversity, ...]
    numbers: tuple[int, ...]
    """The place of each among all diversity requirements, from 1."""
    fits: Flags
    """(constraints, rows): rows that have the target's quasi-identifiers."""
    full: Flags
    """(constraints, rows): rows that have the whole target."""
    lower: Ints
    upper: Ints
    columns: tuple[frozenset[int], ...]
    """The quasi-identifiers that each target names, by place."""
    k: int
    """No group has fewer rows."""

    @classmethod
    def of(cls, request: Request, *, k: int) -> Sigma:
        """The constraints that name a quasi-identifier, on the rows of a request."""
        places = {coded.name: place for place, coded in enumerate(request.quasi)}
        asked = [m for m in request.models if isinstance(m, Diversity)]
        chosen = [
            (number, model)
            for number, model in enumerate(asked, start=1)
            if any(name in places for name in model.where)
        ]
        models = tuple(model for _, model in chosen)
        bounds = [model.bounds(request.rows) for model in models]
        return cls(
            models=models,
            numbers=tuple(number for number, _ in chosen),
            fits=_stacked([_rows(request, m, places) for m in models], request.rows),
            full=_stacked([_rows(request, m) for m in models], request.rows),
            lower=np.array([low for low, _ in bounds], dtype=np.int64),
            upper=np.array([high for _, high in bounds], dtype=np.int64),
            columns=tuple(
                frozenset(places[name] for name in model.where if name in places)
                for model in models
            ),
            k=k,
        )

    @property
    def count(self) -> int:
        return len(self.models)

    def name(self, number: int) -> str:
        """Name a constraint in messages by number and columns, never by its values."""
        listed = ", ".join(f"'{name}'" for name in self.models[number].where)
        return f"diversity (the {self._ordinal(number)}) on {listed}"

    def _ordinal(self, number: int) -> str:
        """The place of a constraint among all of them: 1st, 2nd, 3rd, 11th."""
        place = self.numbers[number]
        teen = place % 100 in (11, 12, 13)
        return f"{place}{'th' if teen else ENDINGS.get(place % 10, 'th')}"

    @cached_property
    def present(self) -> Ints:
        """How many rows have each target."""
        return np.asarray(self.full.sum(axis=1), dtype=np.int64)

    @cached_property
    def needed(self) -> Ints:
        """The fewest rows that clusters for each constraint can have."""
        return np.where(self.lower > 0, np.maximum(self.lower, self.k), 0)

    @cached_property
    def overlaps(self) -> Ints:
        """(constraints, constraints): rows that two targets have in common."""
        found = np.zeros((self.count, self.count))
        for start in range(0, self.fits.shape[1], AT_A_TIME):
            flags = self.fits[:, start : start + AT_A_TIME].astype(np.float64)
            found += flags @ flags.T
        return np.asarray(np.rint(found), dtype=np.int64)

    @cached_property
    def neighbors(self) -> tuple[frozenset[int], ...]:
        """The constraints that share target rows with each one."""
        return tuple(
            frozenset(np.flatnonzero(line).tolist()) - {number}
            for number, line in enumerate(self.overlaps)
        )

    @property
    def nodes(self) -> tuple[int, ...]:
        """The constraints that ask for rows at all."""
        return tuple(np.flatnonzero(self.lower > 0).tolist())

    def components(self) -> list[tuple[int, ...]]:
        """The nodes in parts that share no target row, directly or through others.

        Constraints without a lower bound connect too: their upper bounds are shared.
        """
        left, parts = set(range(self.count)), []
        while left:
            part, new = set[int](), {min(left)}
            while new:
                part |= new
                new = {n for each in new for n in self.neighbors[each]} - part
            left -= part
            nodes = tuple(number for number in self.nodes if number in part)
            parts += [nodes] if nodes else []
        return parts

    @property
    def conflict_rate(self) -> float:
        """The mean over pairs of the share of the smaller target that both have."""
        sizes = np.diag(self.overlaps)
        shares = [
            self.overlaps[a, b] / max(min(sizes[a], sizes[b]), 1)
            for a, b in combinations(range(self.count), 2)
        ]
        return float(np.mean(shares)) if shares else 0.0

    def refuse_impossible(self) -> None:
        """Refuse what arithmetic shows to be impossible, with the nearest fix."""
        for number in range(self.count):
            self._refuse_alone(number)
        for first, second in combinations(self.nodes, 2):
            self._refuse_without_room(first, second)
        for inner in self.nodes:
            for outer in range(self.count):
                self._refuse_implied(inner, outer)

    def _refuse_alone(self, number: int) -> None:
        low, high = int(self.lower[number]), int(self.upper[number])
        name = self.name(number)
        if low > high:
            raise InfeasibleError(
                f"{name} needs {low:,} rows and allows {high:,}.",
                hint=self._contradiction_hint(number),
            )
        if low == 0:
            return
        self._refuse_absent(number, low=low)
        fitting = int(self.fits[number].sum())
        if min(high, fitting) < self.k and self._whole(number):
            self._refuse_below_k(number, high, fitting)

    def _contradiction_hint(self, number: int) -> str:
        """How a constraint that needs more rows than it allows can be met."""
        low, high = int(self.lower[number]), int(self.upper[number])
        least = self.k if self._whole(number) else 1
        more = max(low, least)
        there = min(int(self.present[number]), int(self.fits[number].sum()))
        fewer = min(high, there)
        lowered = f"Lower at_least to {fewer if fewer >= least else 0}"
        enough = there >= more
        return f"{lowered}, or raise at_most to {more}." if enough else f"{lowered}."

    def refuse_absent(self, *, removable: int) -> None:
        """Refuse to show values more often than the source has them.

        A share asks for the fewest rows where all that may be left out are.
        """
        rows = self.fits.shape[1]
        for number, model in enumerate(self.models):
            kept = max(rows - removable, int(self.present[number]))
            self._refuse_absent(number, low=model.bounds(kept)[0])

    def _refuse_absent(self, number: int, *, low: int) -> None:
        found = int(self.present[number])
        if found < low:
            most = min(found, int(self.upper[number]))
            room = most if self._whole(number) else int(self.fits[number].sum())
            raise InfeasibleError(
                f"{self.name(number)} needs {low:,} rows that show its values; the source "
                f"has {found:,}.",
                hint=f"Lower at_least to {most if room >= self.k else 0}.",
            )

    def _whole(self, number: int) -> bool:
        """Whether all rows that a group shows count."""
        return bool((self.fits[number] == self.full[number]).all())

    def _refuse_below_k(self, number: int, high: int, found: int) -> None:
        name, low = self.name(number), int(self.lower[number])
        what = f"allows {high}" if high < self.k else f"has {found} in the source"
        way = f"Raise at_most to {self.k}, set" if high < self.k <= found else "Set"
        raise InfeasibleError(
            f"{name} needs {low:,} rows and {what}; a group shows a value for all of its "
            f"{self.k:,} or more rows, or for none.",
            hint=f"{way} at_least to 0, or lower k to {min(high, found):,}.",
        )

    def _refuse_without_room(self, first: int, second: int) -> None:
        """Two targets whose common rows are too few for a group that serves both."""
        shared = int(self.overlaps[first, second])
        sizes = np.diag(self.overlaps)
        room = int(sizes[first] + sizes[second] - shared)
        asked = int(self.needed[first] + self.needed[second])
        if shared >= self.k or asked <= room:
            return
        left = max(room - int(self.needed[second]), 0)
        raise InfeasibleError(
            f"{self.name(first)} needs {self.needed[first]} rows and "
            f"{self.name(second)} {self.needed[second]}; together {room:,} rows have "
            f"their values, and the {shared} rows they share are too few for a group "
            f"of {self.k:,} that serves both.",
            hint=f"Lower at_least of the {self._ordinal(first)} to "
            f"{left if left >= self.k else 0}, or drop one of the two.",
        )

    def _refuse_implied(self, inner: int, outer: int) -> None:
        """A target within another: what one needs, the other must allow."""
        asked = self.models[outer].where.items()
        if inner == outer or not asked <= self.models[inner].where.items():
            return
        # A group has k rows; where a sensitive value counts too, not all of them do.
        asks = self.needed if self._whole(outer) else self.lower
        need, most = int(asks[inner]), int(self.upper[outer])
        if need <= most:
            return
        raise InfeasibleError(
            f"{self.name(inner)} needs {need:,} rows, all of which count for "
            f"{self.name(outer)}, which allows {most:,}.",
            hint=f"Raise at_most of the {self._ordinal(outer)} to {need:,}, or lower "
            f"at_least of the {self._ordinal(inner)} to "
            f"{most if most >= self.k or not self._whole(outer) else 0}.",
        )


def _rows(
    request: Request, model: Diversity, places: dict[str, int] | None = None
) -> Flags:
    """Rows that have a target, or its part on quasi-identifiers."""
    columns = {coded.name: coded for coded in request.quasi} | dict(request.sensitive)
    for name in model.where:
        column_of(name, columns)
    part = tuple(
        (name, value)
        for name, value in model.target
        if places is None or name in places
    )
    return rows_of(part, columns, request.rows)


def _stacked(lines: list[Flags], rows: int) -> Flags:
    return np.array(lines, dtype=np.bool_).reshape(len(lines), rows)
