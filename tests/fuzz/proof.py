"""A published table as requirements are proved on it again, row by row.

Groups are what a recipient sees: rows whose published quasi-identifiers are the same
texts (or, where cells do not show groups, those of the private record or of the
anatomy). Measures are the definitional ones of `sfumato.testing.model_oracles`. Shares no
code with the verifier, the models or the algorithms.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sfumato.testing import model_oracles as oracles
from sfumato.testing.model_oracles import OracleGroup, SensitiveDomain
from tests.fuzz.meaning import NUMERIC
from tests.fuzz.release import Release

GAP = "\0missing"
NOBODY = "\0nobody's"
"""A value that no row has."""
FILLINGS = 5000
"""So many ways to fill in the missing cells of one person are tried."""
Wanted = dict[str, Any]
Rows = Sequence[int]


class UnknownError(Exception):
    """A requirement that this oracle has no definition for."""


@dataclass(frozen=True)
class Proof:
    """The published rows of a release, and how requirements are judged on them."""

    release: Release
    closed: bool = False
    """Whether a missing cell is a value of its own, whatever the policy says."""

    @cached_property
    def keys(self) -> list[Hashable]:
        """What tells the groups of a recipient apart, for each row."""
        release = self.release
        if release.operator == "swap":
            return list(release.private_group)
        if release.operator == "anatomize":
            return [row["group"] for row in release.rows]
        names = [n for quasi in self.quasi for n in release.shown_as(quasi)]
        return [tuple(row[name] for name in names) for row in release.rows]

    @cached_property
    def quasi(self) -> list[str]:
        if "privacy" in self.release.manifest and "age" not in self.release.rows[0]:
            raise UnknownError("columns of a private release")
        return self.release.case.names("quasi")

    @cached_property
    def groups(self) -> list[list[int]]:
        return collected(self.keys)

    @cached_property
    def judged(self) -> list[list[int]]:
        """The sets of rows that a requirement is asked of.

        The groups; where a missing cell may be any value, the candidates of each person
        for every way of filling in the person's missing cells.
        """
        if not self.missing_any or self.release.operator in ("swap", "anatomize"):
            return self.groups
        return list(self.candidates(self.quasi))

    def candidates(self, names: Sequence[str]) -> Iterator[list[int]]:
        """The rows that may be a person, for every person and every filling."""
        cells = list(zip(*(self._cells(name) for name in names), strict=True))
        known = [
            sorted({c for c in column if c is not GAP}, key=str)
            for column in zip(*cells, strict=True)
        ]
        seen: set[Any] = set()
        for own in dict.fromkeys(cells):
            options = [
                [*known[at], NOBODY] if cell is GAP else [cell]
                for at, cell in enumerate(own)
            ]
            if math.prod(map(len, options)) > FILLINGS:
                raise UnknownError("more ways to fill in than can be tried")
            seen.update(itertools.product(*options))
        for filled in seen:
            yield [row for row, cell in enumerate(cells) if _agree(cell, filled)]

    def _cells(self, name: str) -> list[Hashable]:
        """One quasi-identifier of each row, two bounds as one; GAP if it is missing."""
        reader, shown = self.release.reader(name), self.release.shown_as(name)
        found = [tuple(row[each] for each in shown) for row in self.release.rows]
        return [GAP if all(map(reader.missing, cell)) else cell for cell in found]

    @cached_property
    def persons(self) -> list[Hashable]:
        """Who each published row belongs to."""
        release = self.release
        subject = release.case.names("subject")
        if not subject or release.operator == "anatomize":
            return list(range(len(release.rows)))
        cells = release.source(subject[0])
        marks = release.case.missing_marks()
        return [None if cells[r] in marks else cells[r] for r in release.source_row]

    def size(self, rows: Rows) -> int:
        return len({self.persons[row] for row in rows})

    @property
    def missing_any(self) -> bool:
        said = self.release.case.policy.get("data", {}).get("missing_as")
        return not self.closed and said == "any"

    @cached_property
    def anatomy(self) -> dict[str, list[dict[str, Any]]]:
        """The rows of an anatomy's second table, one for each person, by group."""
        found: dict[str, list[dict[str, Any]]] = {}
        for line in self.release.values:
            found.setdefault(line["group"], []).extend([line] * int(line["count"]))
        return found

    @cached_property
    def judged_rows(self) -> list[dict[str, Any]]:
        """The published rows as far as sensitive values go."""
        if self.release.operator != "anatomize":
            return self.release.rows
        lines: list[dict[str, Any]] = [{}] * len(self.keys)
        for rows in self.groups:
            listed = self.anatomy[str(self.keys[rows[0]])]
            for row, line in zip(rows, listed, strict=True):
                lines[row] = line
        return lines

    def values(self, column: str, level: int = 0) -> list[Hashable]:
        """The value of each row, at a level of the column's hierarchy."""
        return [self.at_level(column, row[column], level) for row in self.judged_rows]

    def at_level(self, column: str, text: str | None, level: int) -> Hashable:
        reader = self.release.reader(column)
        if reader.missing(text):
            return GAP if level == 0 or level < self._height(column) else "*"
        if level:
            return reader.path(str(text))[level]
        key = reader.key(text)
        assert isinstance(key, Hashable)
        return key

    def _height(self, column: str) -> int:
        """The level of the root."""
        paths = self.release.reader(column).paths
        return len(next(iter(paths.values()))) - 1 if paths else 1

    def _source(self, column: str) -> list[str | None]:
        """The source's cells, without the rows that a policy has dropped."""
        case, cells = self.release.case, self.release.source(column)
        if case.policy.get("data", {}).get("missing_as") != "drop":
            return cells
        names = [*case.names("quasi"), *case.names("sensitive")]
        gaps = [
            [self.release.reader(name).missing(t) for t in self.release.source(name)]
            for name in names
        ]
        return [
            c
            for c, gap in zip(cells, zip(*gaps, strict=True), strict=True)
            if not any(gap)
        ]

    def source_values(self, column: str, level: int) -> list[Hashable]:
        """The values of the source's rows, and with subjects each person's once."""
        cells = [self.at_level(column, t, level) for t in self._source(column)]
        subject = self.release.case.names("subject")
        who = self._source(subject[0]) if subject else range(len(cells))
        marks = self.release.case.missing_marks()
        pairs = {
            (None if w in marks else w, c) for w, c in zip(who, cells, strict=True)
        }
        return [value for _, value in pairs]

    def domain(self, column: str, level: int, distance: str | None) -> SensitiveDomain:
        reader = self.release.reader(column)
        present = {v for v in self.values(column, level) if v != GAP}
        source = [self.at_level(column, t, level) for t in self._source(column)]
        present |= {v for v in source if v != GAP}
        paths = None
        if reader.paths:
            paths = {
                reader.key(leaf) if level == 0 else path[level]: tuple(path[level:])
                for leaf, path in reader.paths.items()
            }
            paths = {v: (v, *path[1:]) for v, path in paths.items()}
            depth = len(next(iter(paths.values())))
            if depth > 1:
                gap = [(GAP, at) for at in range(1, depth - 1)]
                paths[GAP] = (GAP, *gap, "*")
        line = level == 0 and reader.kind in NUMERIC and self._in_order(column)
        return SensitiveDomain(
            order=(*self._ordered(column, present, paths, line, distance), GAP),
            paths=paths,
            numbers={v: v for v in present} if line else None,  # type: ignore[misc]
            missing=GAP,
        )

    def _ordered(
        self, column: str, present: set[Any], paths: Any, line: bool, distance: Any
    ) -> list[Any]:
        section = self.release.case.policy["columns"][column]
        if line:
            return sorted(present)
        if self.release.reader(column).kind == "ordered" and "order" in section:
            if paths is not None:
                raise UnknownError("an order of values under a hierarchy")
            return [v for v in section["order"] if v in present]
        if distance == "ordered" and paths is not None:
            raise UnknownError("an order of values under a hierarchy")
        return sorted(present, key=str)

    def _in_order(self, column: str) -> bool:
        """Whether a written hierarchy keeps neighboring numbers together."""
        reader = self.release.reader(column)
        if not reader.paths:
            return True
        ranked = sorted(reader.paths, key=lambda t: (reader.key(t), t))
        for level in range(1, len(reader.paths[ranked[0]])):
            labels = [reader.paths[leaf][level] for leaf in ranked]
            runs = [a for a, b in zip(labels, [None, *labels], strict=False) if a != b]
            if len(runs) != len(set(runs)):
                return False
        return True

    def views(self, wanted: Wanted) -> Iterator[View]:
        """The sensitive columns that a requirement judges, one by one."""
        on = wanted.get("on") or self.release.case.names("sensitive")
        for column in [on] if isinstance(on, str) else on:
            yield View(self, column, wanted)


@dataclass(frozen=True)
class View:
    """One sensitive column as one requirement looks at it."""

    proof: Proof
    column: str
    wanted: Wanted

    @cached_property
    def level(self) -> int:
        return int(self.wanted.get("level", 0))

    @cached_property
    def values(self) -> list[Hashable]:
        return self.proof.values(self.column, self.level)

    @cached_property
    def domain(self) -> SensitiveDomain:
        return self.proof.domain(self.column, self.level, self.wanted.get("distance"))

    @cached_property
    def reference(self) -> dict[Hashable, float]:
        """The distribution of the table: published, or of the source."""
        if self.wanted.get("reference") == "source":
            values = self.proof.source_values(self.column, self.level)
        else:
            values = self.pairs(range(len(self.values)))
        return self.shares(values)

    def shares(self, values: Sequence[Hashable]) -> dict[Hashable, float]:
        if self.proof.missing_any:
            values = [v for v in values if v != GAP] or values
        return {v: values.count(v) / len(values) for v in set(values)}

    def pairs(self, rows: Rows) -> list[Hashable]:
        """The values of some rows, each person's once."""
        return [
            value
            for _, value in {(self.proof.persons[r], self.values[r]) for r in rows}
        ]

    def group(
        self, rows: Rows, reference: dict[Hashable, float] | None = None
    ) -> OracleGroup:
        counts: dict[Hashable, int] = {}
        for value in self.pairs(rows):
            counts[value] = counts.get(value, 0) + 1
        known = self.reference if reference is None else reference
        return OracleGroup(self.proof.size(rows), counts, self.domain, known)

    def parts(self, sets: list[list[int]]) -> list[list[int]]:
        """Sets of rows, split by the other sensitive columns where those are known."""
        if not self.wanted.get("others_known"):
            return sets
        others = [
            n for n in self.proof.release.case.names("sensitive") if n != self.column
        ]
        known = [self.proof.values(name) for name in others]
        return [
            part
            for rows in sets
            for part in collected_of(rows, [tuple(v[r] for v in known) for r in rows])
        ]

    def readings(self, group: OracleGroup) -> list[OracleGroup]:
        return oracles.readings(group, missing_any=self.proof.missing_any)

    def all(self, test: Callable[[OracleGroup], bool]) -> bool:
        """Whether every group passes, whatever its gaps stand for."""
        return all(
            test(read)
            for rows in self.parts(self.proof.judged)
            for read in self.readings(self.group(rows))
        )


def collected(keys: Sequence[Hashable]) -> list[list[int]]:
    """The rows that share a key."""
    return collected_of(range(len(keys)), keys)


def collected_of(rows: Rows, keys: Sequence[Hashable]) -> list[list[int]]:
    found: dict[Hashable, list[int]] = {}
    for row, key in zip(rows, keys, strict=True):
        found.setdefault(key, []).append(row)
    return list(found.values())


def _agree(cells: Sequence[Hashable], filled: Sequence[Hashable]) -> bool:
    return all(c == f or c is GAP for c, f in zip(cells, filled, strict=True))
