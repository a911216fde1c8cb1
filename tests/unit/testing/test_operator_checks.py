"""A faulty operator fails the check that names its fault."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from sfumato.data.grouping import Grouping
from sfumato.publish.anatomize import Anatomize
from sfumato.publish.generalize import Generalize
from sfumato.publish.swap import Swap
from sfumato.testing.checks import check_operator


class AddsARowNumber(Generalize):
    def publish(self, material):
        draft = super().publish(material)
        numbers = pa.array(material.rows)
        return replace(draft, table=draft.table.append_column("row", numbers))


class LosesTheLastRow(Generalize):
    def publish(self, material):
        draft = super().publish(material)
        return replace(draft, table=draft.table.slice(0, max(len(draft.rows) - 1, 0)))


class KeepsTheSourceOrder(Generalize):
    def publish(self, material):
        return super().publish(replace(material, rows=np.sort(material.rows)))


class ShowsSensitiveValuesAsText(Generalize):
    def publish(self, material):
        draft, names = super().publish(material), material.table.schema.sensitive
        table = draft.table
        for name in names:
            place = table.column_names.index(name)
            cells = table.column(name).dictionary_encode()
            table = table.set_column(place, name, cells)
        return replace(draft, table=table)


class ShowsEveryRowAlone(Generalize):
    def publish(self, material):
        draft = super().publish(material)
        raw = material.table.source.column(draft.quasi[0]).take(material.rows)
        place = draft.table.column_names.index(draft.quasi[0])
        return replace(draft, table=draft.table.set_column(place, draft.quasi[0], raw))


class ShowsTheFirstValue(Generalize):
    """Every group shows the lowest of its values, whatever the others are."""

    def show(self, material, index):
        first = np.zeros(material.grouping.count, dtype=np.int32)
        label = material.quasi[index].axis.labels[0]
        cells = pa.array([label] * len(first), pa.string())
        shown = super().show(material, index)
        return replace(shown, columns={material.quasi[index].name: cells}, leaves={})


class CountsLossTwice(Generalize):
    def show(self, material, index):
        shown = super().show(material, index)
        return replace(shown, ncp=2 * shown.ncp)


class MispricesCells(Generalize):
    def show(self, material, index):
        shown = super().show(material, index)
        return replace(shown, ncp=shown.ncp / 2)


class SwapsAcrossGroups(Swap):
    def publish(self, material):
        one = np.zeros(len(material.grouping.group_of), dtype=np.int32)
        one[~material.grouping.kept] = -1
        whole = Grouping(one, min(len(material.rows), 1))
        draft = super().publish(replace(material, grouping=whole))
        shape = (material.grouping.count, len(material.quasi))
        return replace(draft, ncp=np.zeros(shape), loss=np.zeros(shape))


class RoundsQuasiIdentifiers(Swap):
    def publish(self, material):
        draft = super().publish(material)
        name = draft.quasi[0]
        blank = pa.array(["x"] * draft.table.num_rows, pa.string())
        place = draft.table.column_names.index(name)
        return replace(draft, table=draft.table.set_column(place, name, blank))


class CountsOnceOnly(Anatomize):
    def publish(self, material):
        draft = super().publish(material)
        (table,) = draft.beside.values()
        ones = pa.array([1] * table.num_rows)
        place = table.column_names.index("count")
        counted = table.set_column(place, "count", ones)
        return replace(draft, beside={"sensitive": counted})


FAULTS = [
    (MispricesCells, "losses agree with their definition"),
    (SwapsAcrossGroups, "sensitive values stay in their group"),
    (RoundsQuasiIdentifiers, "quasi-identifiers leave as they came"),
    (CountsOnceOnly, "sensitive values are counted per group"),
    (AddsARowNumber, "no column is added"),
    (LosesTheLastRow, "the rows are those asked for, in that order"),
    (KeepsTheSourceOrder, "the rows are those asked for, in that order"),
    (ShowsSensitiveValuesAsText, "other columns leave as they came"),
    (ShowsEveryRowAlone, "all rows of a group show one tuple"),
    (ShowsTheFirstValue, "a cell contains the source value"),
    (CountsLossTwice, "losses are shares"),
]


@pytest.mark.parametrize(("faulty", "statement"), FAULTS)
def test_a_fault_is_found_by_the_check_that_names_it(faulty, statement):
    checks = [check for check in check_operator(faulty) if check.name == statement]
    with pytest.raises(AssertionError):
        checks[0]()
