"""Files that damage or chance made are read as Python reads them, or refused."""

from __future__ import annotations

from random import Random
from unittest.mock import patch

import pytest

from sfumato.data.source import coded_texts
from sfumato.io import coded_csv
from sfumato.io.csv_grammar import ALLOWED
from sfumato.io.read import read_source
from sfumato.pipeline import given_tables
from tests.fuzz.csv_files import CODES, differences, random_file, strict_rows
from tests.fuzz.damaged_files import leaked

BATCHES, FILES = 20, 5_000
LEAK_BATCHES, DAMAGED = 8, 300


@pytest.mark.parametrize("batch", range(BATCHES))
def test_both_readers_take_cells_as_python_does_in_its_strict_mode(batch):
    assert differences("ci", batch * FILES, FILES) == []


def test_many_random_files_are_well_formed_and_many_are_not():
    files = [random_file(Random(f"ci:{n}")) for n in range(1000)]
    accepted = [strict_rows(f.content, f.delimiter or ",") for f in files]
    assert 200 < sum(rows is not None for rows in accepted) < 800


def test_small_files_are_read_as_codes(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("p,q\na,1\na,1\n")
    with patch.multiple(coded_csv, **CODES):
        table = read_source(path, named=True, coded=True)
    assert coded_texts(table) == {"p", "q"}


@pytest.mark.parametrize("batch", range(LEAK_BATCHES))
def test_no_identifier_of_a_damaged_file_is_published(batch):
    first = batch * DAMAGED
    endings = {n: leaked("ci", n) for n in range(first, first + DAMAGED)}
    assert {number: ending for number, ending in endings.items() if ending} == {}
    published = sum(ending is None for ending in endings.values())
    assert published > DAMAGED / 20


def test_rows_that_a_reader_joins_are_noticed(monkeypatch):
    monkeypatch.setattr(given_tables, "source_breaks", lambda *_: ALLOWED)
    assert any(leaked("ci", number) for number in range(300))
