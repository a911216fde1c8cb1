"""Written files read back cell by cell, and contain nothing else."""

from __future__ import annotations

import csv
import hashlib

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import DataError
from sfumato.io import write
from sfumato.io.csv_grammar import ALLOWED
from sfumato.io.read import read_source
from sfumato.io.write import format_of, hash_bytes, write_table

cells = st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.sampled_from(
    [
        "",
        '"',
        '""',
        ",",
        ";",
        "\n",
        "\r",
        "\r\n",
        " x ",
        "007",
        "NA",
        "\ufeff",
        "'",
        'a"b',
    ]
)


def written(table, tmp_path, name="t.csv", **options):
    write_table(table, tmp_path / name, **options)
    return (tmp_path / name).read_bytes()


@given(
    data=st.data(),
    columns=st.integers(1, 3),
    delimiter=st.sampled_from([",", ";", "\t"]),
    as_dictionary=st.booleans(),
)
def test_text_reads_back_exactly(
    tmp_path_factory, data, columns, delimiter, as_dictionary
):
    names = data.draw(
        st.lists(
            cells.filter(str.strip), min_size=columns, max_size=columns, unique=True
        )
    )
    rows = data.draw(st.integers(1, 6))
    table = pa.table(
        {
            name: pa.array(data.draw(st.lists(cells, min_size=rows, max_size=rows)))
            for name in names
        }
    )
    shaped = table
    if as_dictionary:
        shaped = pa.table({n: table[n].dictionary_encode() for n in names})
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    write_table(shaped, path, delimiter=delimiter)
    back = read_source(path, delimiter=delimiter, named=True, breaks=ALLOWED)
    assert back.to_pydict() == table.to_pydict()
    with path.open(encoding="utf-8", newline="") as file:
        python_rows = list(csv.reader(file, delimiter=delimiter))
    assert python_rows[1:] == [list(row.values()) for row in table.to_pylist()]


def test_quotation_marks_are_used_only_where_needed(tmp_path):
    table = pa.table({"a": ["x", "[1, 2]"], "b": ['q"q', "007"]})
    assert written(table, tmp_path) == b'a,b\nx,"q""q"\n"[1, 2]",007\n'


def test_a_table_without_special_characters_has_no_quotation_marks(tmp_path):
    assert written(pa.table({"a": ["x"], "b": [" y "]}), tmp_path) == b"a,b\nx, y \n"


def test_a_null_is_an_empty_cell(tmp_path):
    assert (
        written(pa.table({"a": ["x", None], "b": [1, None]}), tmp_path)
        == b"a,b\nx,1\n,\n"
    )


def test_an_empty_text_beside_nulls_is_quoted(tmp_path):
    table = pa.table({"a": ["", None], "b": ["1", "2"]})
    assert written(table, tmp_path) == b'a,b\n"",1\n,2\n'


def test_an_empty_text_beside_nulls_is_quoted_in_dictionaries_too(tmp_path):
    table = pa.table({"a": pa.array(["", None]).dictionary_encode(), "b": ["1", "2"]})
    assert written(table, tmp_path) == b'a,b\n"",1\n,2\n'


def test_a_single_column_has_no_blank_lines(tmp_path):
    assert written(pa.table({"a": ["x", "", None]}), tmp_path) == b'a\nx\n""\n""\n'


def test_a_declared_delimiter_is_used_and_quoted(tmp_path):
    table = pa.table({"a;b": ["1;2", "3,4"], "c": ["x", "y"]})
    assert written(table, tmp_path, delimiter=";") == b'"a;b";c\n"1;2";x\n3,4;y\n'


def test_typed_cells_are_written_as_they_are_coded(tmp_path):
    table = pa.table({"a": [1.0, float("nan")], "b": [True, False]})
    assert written(table, tmp_path) == b"a,b\n1,true\n,false\n"


def test_slices_write_their_own_rows_only(tmp_path):
    table = pa.table({"a": ["x,", "y", "z,"], "b": ["1", "2", "3"]}).slice(1, 1)
    assert written(table, tmp_path) == b"a,b\ny,2\n"


def test_many_batches_stay_in_order(tmp_path):
    table = pa.table({"a": [f"{n},{n}" for n in range(200_000)], "b": ["x"] * 200_000})
    write_table(table, tmp_path / "t.csv")
    assert read_source(tmp_path / "t.csv")["a"].to_pylist() == table["a"].to_pylist()


def test_a_nested_column_cannot_be_csv(tmp_path):
    with pytest.raises(DataError, match="'a' has the type list"):
        write_table(pa.table({"a": [[1]]}), tmp_path / "t.csv")


def test_compressed_files_have_no_name_and_no_time(tmp_path):
    table = pa.table({"a": ["x"]})
    first, second = (
        written(table, tmp_path, "one.csv.gz"),
        written(table, tmp_path, "two.csv.gz"),
    )
    assert first == second
    assert read_source(tmp_path / "one.csv.gz").num_rows == 1


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_binary_formats_keep_types_and_nulls(tmp_path, ending):
    table = pa.table({"a": [1, None], "b": ["", None], "c": [1.5, float("nan")]})
    write_table(table, tmp_path / f"t.{ending}")
    back = read_source(tmp_path / f"t.{ending}")
    assert back.schema.equals(table.schema)
    assert back["b"].to_pylist() == ["", None]


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv"])
def test_values_that_do_not_occur_are_not_in_the_file(tmp_path, ending):
    column = pa.array(["secret", "shown", "secret"]).dictionary_encode()
    table = pa.table({"a": column, "b": ["1", "2", "3"]}).slice(1, 1)
    assert b"secret" not in written(table, tmp_path, f"t.{ending}")


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_dictionaries_do_not_tell_the_order_of_the_source(tmp_path, ending):
    table = pa.table({"a": pa.array(["z", "m", "a"]).dictionary_encode()})
    write_table(table, tmp_path / f"t.{ending}")
    back = read_source(tmp_path / f"t.{ending}")["a"]
    assert back.to_pylist() == ["z", "m", "a"]
    assert back.chunk(0).dictionary.to_pylist() == ["a", "m", "z"]


def test_an_ordered_dictionary_keeps_its_order(tmp_path):
    column = pa.DictionaryArray.from_arrays(
        pa.array([1, 0]), ["low", "high"], ordered=True
    )
    write_table(pa.table({"a": column}), tmp_path / "t.arrow")
    back = read_source(tmp_path / "t.arrow")["a"]
    assert back.type.ordered
    assert back.chunk(0).dictionary.to_pylist() == ["low", "high"]


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_metadata_of_the_source_does_not_travel(tmp_path, ending):
    field = pa.field("a", pa.string(), metadata={"origin": "ward-seven"})
    schema = pa.schema([field], metadata={"pandas": "ward-nine"})
    content = written(pa.table({"a": ["x"]}, schema=schema), tmp_path, f"t.{ending}")
    assert b"ward" not in content


def test_the_same_table_gives_the_same_bytes(tmp_path):
    table = pa.table({"a": ["x", "y"], "b": [1, 2]})
    assert written(table, tmp_path, "1.parquet") == written(
        table, tmp_path, "2.parquet"
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.csv", "csv"),
        ("a.CSV.GZ", "csv"),
        ("a.tsv", "csv"),
        ("b.c.pq", "parquet"),
        ("a.feather", "arrow"),
    ],
)
def test_formats_are_told_by_name(name, expected):
    assert format_of(name) == expected


def test_only_text_is_compressed_with_gzip():
    with pytest.raises(DataError, match="no file ending that is known"):
        format_of("a.parquet.gz")


def test_the_hash_is_that_of_the_bytes():
    assert hash_bytes(pa.py_buffer(b"abc")) == hashlib.sha256(b"abc").hexdigest()


def dictionary(indices, values, kind=None):
    return pa.DictionaryArray.from_arrays(pa.array(indices, kind), pa.array(values))


def test_a_null_that_no_row_has_leaves_no_trace(tmp_path):
    table = pa.table({"a": dictionary([0, 0], ["", None]), "b": ["1", "x"]})
    assert written(table, tmp_path) == b"a,b\n,1\n,x\n"


def test_a_null_in_a_dictionary_is_an_empty_cell(tmp_path):
    table = pa.table({"a": dictionary([0, 1], ["", None]), "b": ["1", "x"]})
    assert written(table, tmp_path) == b'a,b\n"",1\n,x\n'


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_dictionaries_that_hold_nulls_are_united(tmp_path, ending):
    chunks = [dictionary([0, 1], ["u", None]), dictionary([1, 0], [None, "v"])]
    path = tmp_path / f"t.{ending}"
    write_table(pa.table({"a": pa.chunked_array(chunks), "b": list("1234")}), path)
    back = read_source(path).column("a").cast(pa.string()).to_pylist()
    assert [cell or None for cell in back] == ["u", None, "v", None]


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_unsigned_dictionaries_may_have_nulls(tmp_path, ending):
    column = dictionary([None, 0, 1], ["u", "v"], pa.uint32())
    path = tmp_path / f"t.{ending}"
    write_table(pa.table({"a": column, "b": list("123")}), path)
    back = read_source(path).column("a").cast(pa.string()).to_pylist()
    assert [cell or None for cell in back] == [None, "u", "v"]


def test_rows_too_long_for_one_batch_are_written_in_parts(tmp_path, monkeypatch):
    def narrow(batch, delimiter):
        if len(batch) > 1:
            raise pa.ArrowCapacityError("too much")
        return whole(batch, delimiter)

    whole = write._joined
    monkeypatch.setattr(write, "_joined", narrow)
    table = pa.table({"a": ["1", "2", "3"], "b": ["x", "y", "z"]})
    assert written(table, tmp_path) == b"a,b\n1,x\n2,y\n3,z\n"


@pytest.mark.parametrize(
    "cells",
    [
        pa.array([0, 10**12], pa.timestamp("s")),
        pa.array([0, 253_402_300_800], pa.timestamp("s")),
        pa.array([253_402_300_799], pa.timestamp("s", "Europe/Berlin")),
        pa.array([-719_163, 0], pa.int32()).cast(pa.date32()),
        pa.array([3_000_000], pa.int32()).cast(pa.date32()),
    ],
    ids=["no date at all", "year 10000", "10000 in its zone", "year 0", "year 10183"],
)
def test_dates_that_have_no_text_are_refused(tmp_path, cells):
    with pytest.raises(
        DataError, match="'seen' has dates outside of the years 1 to 99"
    ):
        write_table(pa.table({"seen": cells}), tmp_path / "data.csv")


def test_the_first_and_the_last_date_are_written(tmp_path):
    days = pa.array([-719_162, 2_932_896, None], pa.int32()).cast(pa.date32())
    write_table(pa.table({"seen": days}), tmp_path / "data.csv")
    text = (tmp_path / "data.csv").read_text()
    assert text.split()[:3] == ["seen", "0001-01-01", "9999-12-31"]


@pytest.mark.parametrize("seed", range(5))
def test_cells_that_rows_share_are_written_as_single_cells_are(seed, tmp_path):
    random = np.random.default_rng(seed)
    texts = ["a", 'b"', "c,d", "", None, "e\nf"]
    tuples = random.integers(0, len(texts), (6, 4))
    rows = tuples[random.integers(0, len(tuples), 300)]
    columns = {
        f"x{j}": pa.array([texts[code] for code in rows[:, j]]) for j in range(4)
    }
    plain = pa.table({**columns, "y": pa.array(random.integers(0, 9, 300))})
    encoded = pa.table(
        {
            name: column if name in ("y", "x3") else column.dictionary_encode()
            for name, column in zip(plain.column_names, plain.columns, strict=True)
        }
    )
    for name, table in (("plain.csv", plain), ("encoded.csv", encoded)):
        write_table(table, tmp_path / name)
    written = (tmp_path / "encoded.csv").read_bytes()
    assert written == (tmp_path / "plain.csv").read_bytes()


@pytest.mark.parametrize("seed", range(5))
def test_lines_of_repeated_cells_are_those_that_csv_writes(seed, tmp_path, monkeypatch):
    monkeypatch.setattr(write, "FEW_ROWS", 7)
    random = np.random.default_rng(seed)
    texts = ["a", 'b"', "c,d", "", "e\nf", "ü"]
    rows = [[texts[code] for code in random.integers(0, 6, 3)] for _ in range(200)]
    columns = {f"x{j}": [row[j] for row in rows] for j in range(3)}
    write_table(pa.table(columns), tmp_path / "ours.csv")
    with (tmp_path / "theirs.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([columns, *rows])
    ours, theirs = (tmp_path / f"{name}.csv" for name in ("ours", "theirs"))
    assert ours.read_bytes() == theirs.read_bytes()


def test_repeated_cells_beside_single_ones_stay_in_their_rows(tmp_path):
    table = pa.table({"a": [str(n) for n in range(50)], "b": ["x", "y,"] * 25})
    expected = "".join(f'{n},x\n{n + 1},"y,"\n' for n in range(0, 50, 2))
    assert written(table, tmp_path) == f"a,b\n{expected}".encode()


def test_a_single_column_of_repeated_cells_has_no_blank_lines(tmp_path):
    table = pa.table({"a": ["x", None, ""] * 8})
    assert written(table, tmp_path) == b"a\n" + b'x\n""\n""\n' * 8
