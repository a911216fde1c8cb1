"""Out of core too, what does not meet its requirements is never put in place."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.algorithms.base import Algorithm, Solution
from sfumato.data.grouping import Grouping
from sfumato.errors import GuaranteeError
from sfumato.io.write import write_table
from sfumato.pipeline import release as release_files

AGES = [20, 20, 20, 20, 35, 35, 35, 35]


@pytest.fixture
def people(tmp_path):
    place = tmp_path / "people.parquet"
    pq.write_table(pa.table({"age": AGES}), place)
    return place


def one_stands_out(table: pa.Table) -> pa.Table:
    return table.set_column(0, "age", pa.array(["[0, 9]", *["[20, 50]"] * 7]))


def one_row_is_lost(table: pa.Table) -> pa.Table:
    return table.slice(1)


@pytest.mark.parametrize("damage", [one_stands_out, one_row_is_lost])
def test_a_file_that_reads_back_differently_is_never_in_place_out_of_core(
    people, monkeypatch, damage
):
    monkeypatch.setattr(
        release_files,
        "write_table",
        lambda table, place, **options: write_table(damage(table), place, **options),
    )
    release = sf.anonymize(people, quasi=["age"], k=2, engine="duckdb")
    with pytest.raises(GuaranteeError, match="does not match the draft"):
        release.save(people.parent / "out")
    assert list(people.parent.iterdir()) == [people]


def test_a_draft_that_fails_is_no_release_out_of_core(people, monkeypatch):
    def alone(_algorithm, request):
        groups = np.arange(request.rows, dtype=np.int32)
        return Solution(grouping=Grouping(groups, request.rows))

    monkeypatch.setattr(Algorithm, "solve", alone)
    with pytest.raises(GuaranteeError, match="The draft does not meet"):
        sf.anonymize(people, quasi=["age"], k=5, engine="duckdb")
