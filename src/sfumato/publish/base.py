"""What a publication operator is, and the parts that operators share."""

from __future__ import annotations

import hashlib
import hmac
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.data.arrays import Codes, Floats
from sfumato.data.cell_text import as_text, distinct
from sfumato.data.disk_arrays import IN_MEMORY, MemoryArrays
from sfumato.data.grouping import Grouping
from sfumato.data.option_examples import OptionExamples
from sfumato.data.schema import Attribute, Role
from sfumato.data.seeds import Seed
from sfumato.data.table import Column, Table
from sfumato.errors import PolicyError, RefusedError
from sfumato.hierarchies.axis import STAR, CodedAxis
from sfumato.publish.group_spans import Extent


class Form(StrEnum):
    """What a published table shows about its groups; decides how it is verified."""

    CELLS = "cells"
    """Rows of a group share their published cells."""
    SWAPPED = "swapped"
    """Only the private record knows the groups."""
    ANATOMIZED = "anatomized"
    """A published number names the group; sensitive values are in a second table."""

    @property
    def promise(self) -> str:
        """What a release in this form promises, and what it does not."""
        return f"{_PROMISES[self]} That somebody is in the table is not hidden."


_PROMISES = {
    Form.CELLS: (
        "Whoever knows a person's quasi-identifiers finds a group of rows that show "
        "the same, and learns what the group has in common and no more."
    ),
    Form.SWAPPED: (
        "Everything but the sensitive values is exact, and a person's row can be "
        "found. The promise is about the sensitive values: they changed places at "
        "random within groups, so that even whoever learns the groups, which are not "
        "published, knows only how often each value occurs in a person's group, and "
        "not which of them is whose."
    ),
    Form.ANATOMIZED: (
        "Everything but the sensitive values is exact, and a person's row can be "
        "found. The promise is about the sensitive values: they stand in a table of "
        "their own, which says how often each value occurs in a person's group, and "
        "nothing says which of them is whose."
    ),
}


@dataclass(frozen=True, eq=False, kw_only=True)
class Material:
    """What an operator works on."""

    table: Table
    quasi: tuple[CodedAxis, ...]
    grouping: Grouping
    rows: npt.NDArray[np.int64]
    """The source row of each published row: kept rows only, in publishing order."""
    seed: Seed
    pseudonymized: frozenset[str] = frozenset()
    """Identifier and subject columns to be published under a keyed hash."""
    arrays: MemoryArrays = IN_MEMORY
    """Where columns of many rows are kept."""
    plain_texts: frozenset[str] = frozenset()
    """Columns of plain text that are dictionaries only because they are on disk, or
    were coded while a file was read."""
    declared: bool = False
    """Whether axes are declared, not from the data: a leaf may then stand for many
    values, and cells show its text, never the source's cell."""

    @cached_property
    def groups(self) -> Codes:
        """The group of each published row."""
        return self.arrays.keep(self.grouping.group_of[self.rows])

    @cached_property
    def quasi_by_name(self) -> Mapping[str, CodedAxis]:
        """The quasi-identifiers by their names."""
        return {coded.name: coded for coded in self.quasi}

    @cached_property
    def extents(self) -> tuple[Extent, ...]:
        """What each group covers on each quasi-identifier."""
        return tuple(
            Extent.of(coded, self.grouping, index)
            for index, coded in enumerate(self.quasi)
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Draft:
    """A table that is not yet proven, and its losses."""

    table: pa.Table
    rows: npt.NDArray[np.int64]
    quasi: tuple[str, ...]
    """The published columns that stand for quasi-identifiers."""
    ncp: Floats
    """(groups, quasi-identifiers): NCP of each group's cells."""
    loss: Floats
    """(groups, quasi-identifiers): generalized loss of each group's cells."""
    beside: Mapping[str, pa.Table] = field(default_factory=dict)
    """Further tables that belong to the release, by file name."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """Further texts that belong to the release, by file name."""


@dataclass(frozen=True, eq=False)
class Shown:
    """One quasi-identifier as published: a cell per group, and its losses."""

    columns: Mapping[str, pa.Array]
    """Published columns by name, with one cell per *group*."""
    ncp: npt.NDArray[np.float64]
    loss: npt.NDArray[np.float64]
    leaves: Mapping[str, npt.NDArray[np.int32]] = field(default_factory=dict)
    """For columns whose every cell is a value of the source: the leaf that each group
    shows, −1 for an empty cell. They keep the source's type."""


@dataclass(frozen=True, kw_only=True)
class Operator(ABC):
    """A named way of showing a grouping; its fields are its options."""

    name: ClassVar[str]
    sentence: ClassVar[str]
    examples: ClassVar[OptionExamples] = ()
    """Options that the conformance checks try, where types do not tell the choices."""
    form: ClassVar[Form] = Form.CELLS
    limits_loss: ClassVar[bool] = False
    """Whether NCP measures what its cells lose, so that `publish.max_loss` applies."""

    @property
    def shows_shared(self) -> bool:
        """Whether a cell shows a value exactly where all rows of its group share it."""
        return False

    @property
    def shows_covers(self) -> bool:
        """Whether a cell stands for all values of its group, as a node, interval or
        set, so that the people who match it can be counted."""
        return False

    @property
    def shows_steps(self) -> bool:
        """Whether numbers are shown as intervals, so that steps of a grid can stand for
        them."""
        return False

    @property
    def shows_smallest(self) -> bool:
        """Whether a cell stands for no more than the smallest of these."""
        return False

    @property
    def keeps_together(self) -> bool:
        """Return whether the sensitive values of a row stay together."""
        return True

    def own_names(
        self, roles: Mapping[str, Role], numeric: Callable[[str], bool]
    ) -> list[str]:
        """Return the columns in `roles` with a name that this operator needs itself.

        `numeric` says whether a quasi-identifier holds numbers or dates.
        """
        return []

    @abstractmethod
    def publish(self, material: Material) -> Draft:
        """Make the published table."""


@dataclass(frozen=True, kw_only=True)
class CellOperator(Operator):
    """An operator that gives all rows of a group the same published cells."""

    @abstractmethod
    def show(self, material: Material, index: int) -> Shown:
        """The cells of quasi-identifier `index`, one per group."""

    def looks(self, material: Material) -> npt.NDArray[np.int64]:
        """A number for each group, the same for groups whose cells are all the same."""
        columns = [
            _numbered(cells)
            for index in range(len(material.quasi))
            for cells in self.show(material, index).columns.values()
        ]
        tuples = np.column_stack(columns)
        return np.asarray(np.unique(tuples, axis=0, return_inverse=True)[1].ravel())

    def publish(self, material: Material) -> Draft:
        shown = [self.show(material, i) for i in range(len(material.quasi))]
        by_name = {q.name: s for q, s in zip(material.quasi, shown, strict=True)}
        columns: dict[str, pa.Array | pa.ChunkedArray] = {}
        for attribute in material.table.schema:
            made = _published(material, attribute, by_name.get(attribute.name))
            columns |= {n: material.arrays.keep_cells(c) for n, c in made.items()}
            material.arrays.release()
        return Draft(
            table=pa.table(columns),
            rows=material.rows,
            quasi=tuple(name for s in shown for name in s.columns),
            ncp=_side_by_side([s.ncp for s in shown], material.grouping.count),
            loss=_side_by_side([s.loss for s in shown], material.grouping.count),
        )


def _numbered(cells: pa.Array) -> npt.NDArray[np.int64]:
    """A number for each cell, the same for cells with the same text."""
    texts = cells.cast(pa.string()).dictionary_encode().indices
    return np.asarray(
        texts.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int64
    )


@dataclass(frozen=True, eq=False)
class Labels:
    """Texts for groups: `texts[index[g]]` is the cell of group g, None is missing."""

    texts: list[str | None] = field(default_factory=list)
    index: npt.NDArray[np.int32] = field(
        default_factory=lambda: np.zeros(0, dtype=np.int32)
    )

    def starred(self, hidden: npt.NDArray[np.bool_]) -> Labels:
        """The same, with `*` for some groups."""
        index = np.where(hidden, len(self.texts), self.index).astype(np.int32)
        return Labels([*self.texts, STAR], index)

    def array(self) -> pa.Array:
        """As an Arrow dictionary, one cell per group."""
        return pa.DictionaryArray.from_arrays(
            pa.array(self.index, pa.int32()), pa.array(self.texts, pa.string())
        )


def refuse_without_sensitive(operator: str, sensitive: Sequence[str]) -> None:
    """Refuse a table without sensitive columns: there is nothing to hide."""
    if not sensitive:
        raise RefusedError(
            f"'{operator}' hides whose the sensitive values are; no column is "
            "sensitive, and the table would be published as it is.",
            hint='Give role = "sensitive" to what nobody may learn, or publish by '
            "'generalize'.",
        )


def refuse_name_clash(
    operator: Operator, roles: Mapping[str, Role], numeric: Callable[[str], bool]
) -> None:
    """Refuse published columns whose names the operator needs itself."""
    taken = operator.own_names(roles, numeric)
    if taken:
        raise PolicyError(
            f"The table has a column '{taken[0]}', and '{operator.name}', as it is "
            "set, adds a column of that name.",
            hint="Rename the column in the source, or drop it.",
        )


def _side_by_side(parts: list[npt.NDArray[np.float64]], groups: int) -> Floats:
    return np.column_stack(parts) if parts else np.zeros((groups, 0))


def _published(
    material: Material, attribute: Attribute, shown: Shown | None
) -> Mapping[str, pa.Array | pa.ChunkedArray]:
    name, source = attribute.name, material.table.source
    if shown is None:
        return exact_column(material, attribute, material.rows)
    groups = material.groups
    columns: dict[str, pa.Array | pa.ChunkedArray] = {
        key: _spread(cells, groups) for key, cells in shown.columns.items()
    }
    typed = _typed(source.column(name)) and name not in material.plain_texts
    if typed and not material.declared:
        rows = _row_of_leaf(material, name)
        for key, leaves in shown.leaves.items():
            columns[key] = _cells_of(source.column(name), rows[leaves][groups])
    return columns


def _row_of_leaf(material: Material, name: str) -> npt.NDArray[np.int64]:
    """A source row that has each leaf, −1 for none; cells of one code are alike."""
    coded = material.quasi_by_name[name]
    # Index −1, an empty cell, finds the last place.
    rows = np.full(coded.axis.size + 1, -1, dtype=np.int64)
    rows[coded.codes] = np.arange(len(coded.codes))
    return rows


def _cells_of(
    column: pa.ChunkedArray, rows: npt.NDArray[np.int64]
) -> pa.Array | pa.ChunkedArray:
    return column.take(pa.array(rows, mask=rows < 0))


def _spread(cells: pa.Array, groups: npt.NDArray[np.int32]) -> pa.Array:
    """Return the cell of each row's group."""
    if not pa.types.is_dictionary(cells.type) or cells.null_count:
        return cells.take(pa.array(groups))
    index = cells.indices.to_numpy()[groups]
    return pa.DictionaryArray.from_arrays(index, cells.dictionary)


def exact_column(
    material: Material, attribute: Attribute, rows: npt.NDArray[np.int64]
) -> Mapping[str, pa.Array | pa.ChunkedArray]:
    """A source column in the order of `rows`; identifiers are dropped or hashed."""
    name, column = attribute.name, material.table.source.column(attribute.name)
    if attribute.role in (Role.IDENTIFIER, Role.SUBJECT):
        if name not in material.pseudonymized:
            return {}
        column = pseudonyms(column, material.seed.child("hash", name), name=name)
    elif name in material.table.told_by_codes:
        return {name: _texts_by_codes(material.table.columns[name], rows)}
    shown = column.take(rows)
    plain = name in material.plain_texts
    return {name: material.arrays.texts(shown) if plain else shown}


def _texts_by_codes(column: Column, rows: npt.NDArray[np.int64]) -> pa.ChunkedArray:
    """The texts of some rows: of few labels, which is faster than of many cells."""
    labels = pa.array(column.labels, pa.string())
    return pa.chunked_array([labels.take(pa.array(column.codes[rows]))])


def _typed(column: pa.ChunkedArray) -> bool:
    """Whether a column is more than text."""
    kind = column.type
    return not (pa.types.is_string(kind) or pa.types.is_large_string(kind))


def pseudonyms(
    column: pa.ChunkedArray, seed: Seed, *, name: str = ""
) -> pa.ChunkedArray:
    """Hash each value with HMAC-SHA-256; only the audit record can derive the key."""
    key = seed.words(4).tobytes()
    values, places = distinct(column, name=name)
    texts = as_text(values, name=name).to_pylist()
    hashed = [None if text is None else _keyed(key, text) for text in texts]
    cells = pa.DictionaryArray.from_arrays(
        pa.array(places, mask=places < 0), pa.array(hashed, pa.string())
    )
    return pa.chunked_array([cells])


def _keyed(key: bytes, text: str) -> str:
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()[:32]
