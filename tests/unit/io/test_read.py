"""Files are read as they stand, and faults are named without showing cells."""

from __future__ import annotations

import csv
import gzip
import io
from random import Random

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest

import sfumato as sf
import sfumato.io.read as reading
from sfumato.errors import DataError
from sfumato.io.csv_grammar import ALLOWED
from sfumato.io.read import BLOCK_BYTES, delimiter_of, encoding_of, read_source


@pytest.fixture
def write(tmp_path):
    def to_file(content, name="t.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return to_file


def fault(path, **options):
    with pytest.raises(DataError) as error:
        read_source(path, **options)
    assert error.value.hint
    assert error.value.exit_code == 2
    return error.value.message


def test_every_cell_is_text_and_none_is_null(write):
    table = read_source(write("a,b,c\n007,NA,\n1.50,?, x \n"))
    assert table.to_pydict() == {
        "a": ["007", "1.50"],
        "b": ["NA", "?"],
        "c": ["", " x "],
    }
    assert table["b"].null_count == 0


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_detected(write, delimiter):
    table = read_source(write(f"a{delimiter}b\n1{delimiter}2\n3{delimiter}4\n"))
    assert table.column_names == ["a", "b"]
    assert delimiter_of(table) == delimiter


def test_commas_within_semicolon_files_are_cells(write):
    table = read_source(write("a;b\n1,5;2\n3,5;4\n"))
    assert table["a"].to_pylist() == ["1,5", "3,5"]


def test_a_declared_delimiter_wins(write):
    assert read_source(write("a;b,c\n1;2,3\n"), delimiter=";").column_names == [
        "a",
        "b,c",
    ]


def test_one_column_needs_no_delimiter(write):
    assert read_source(write("a\n1\n2\n")).to_pydict() == {"a": ["1", "2"]}


@pytest.mark.parametrize(
    ("encoding", "taken"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8-sig"),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
        ("utf-32", "utf-32"),
    ],
)
def test_encodings_that_bytes_prove_are_taken(write, encoding, taken):
    table = read_source(write("straße,b\nMüller,x\n".encode(encoding)))
    assert table.to_pydict() == {"straße": ["Müller"], "b": ["x"]}
    assert encoding_of(table) == taken


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_one_byte_encodings_are_read_when_declared(write, encoding):
    path = write("name,b\nMüller,x\n".encode(encoding))
    assert read_source(path, encoding=encoding)["name"].to_pylist() == ["Müller"]


def test_one_byte_encodings_are_never_guessed(write):
    message = fault(write("name,b\nx,y\nMüller,x\n".encode("latin-1")))
    assert "line 3: the byte at offset 12 is not utf-8 text" in message
    assert "ller" not in message


def test_undecodable_bytes_in_the_header_are_named(write):
    assert "line 1: the byte at offset 1" in fault(write(b"a\xff,b\n1,2\n"))


def test_undecodable_bytes_of_a_declared_encoding_are_named(write):
    assert "line 2" in fault(write("a,b\né,1\n"), encoding="ascii")


def test_an_unknown_encoding_is_named(write):
    assert "'klingon' is no encoding" in fault(write("a\n1\n"), encoding="klingon")


def test_quoted_cells_keep_delimiters_quotes_and_line_ends(write):
    file = write('a,b\n"1,2","x ""y"" z"\n"l1\nl2","r1\r\nr2"\n')
    table = read_source(file, breaks=ALLOWED)
    assert table.to_pydict() == {"a": ["1,2", "l1\nl2"], "b": ['x "y" z', "r1\r\nr2"]}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_of_every_system_are_read(write, end):
    assert read_source(write(end.join(["a,b", "1,2", "3,4"]))).num_rows == 2


def test_blank_lines_are_skipped(write):
    assert read_source(write("a,b\n1,2\n\n3,4\n\n")).num_rows == 2


def test_a_row_longer_than_a_block_is_read(write):
    long = "x" * 3_000_000
    assert read_source(write(f'a,b\n"{long}",1\n2,3\n'))["a"][0].as_py() == long


def test_a_header_longer_than_the_sample_is_read(write):
    names = [f"column_{number:05}" for number in range(8_000)]
    content = ",".join(names) + "\n" + ",".join(["1"] * 8_000) + "\n"
    assert read_source(write(content)).column_names == names


def test_compressed_files_are_read(write):
    assert read_source(write(gzip.compress(b"a,b\n1,2\n"), "t.csv.gz")).num_rows == 1


def test_parquet_keeps_its_types(tmp_path):
    table = pa.table({"a": [1, None], "b": ["x", "NA"]})
    parquet.write_table(table, tmp_path / "t.parquet")
    assert read_source(tmp_path / "t.parquet").schema.equals(table.schema)


@pytest.mark.parametrize("ending", ["arrow", "feather"])
def test_arrow_files_keep_their_types(tmp_path, ending):
    table = pa.table({"a": [1, None]})
    feather.write_feather(table, tmp_path / f"t.{ending}")
    assert read_source(tmp_path / f"t.{ending}").equals(table)


def test_arrow_streams_are_read(tmp_path):
    table = pa.table({"a": [1, 2]})
    with pa.ipc.new_stream(str(tmp_path / "t.arrow"), table.schema) as stream:
        stream.write_table(table)
    assert read_source(tmp_path / "t.arrow").equals(table)


def test_a_wrong_path_is_named(tmp_path):
    assert "There is no file" in fault(tmp_path / "none.csv")


def test_a_directory_is_no_file(tmp_path):
    (tmp_path / "d.csv").mkdir()
    assert "is a directory" in fault(tmp_path / "d.csv")


def test_an_unknown_ending_lists_the_known_ones(write):
    with pytest.raises(DataError, match=r"no file ending that is known") as error:
        read_source(write("a\n1\n", "t.docx"))
    assert ".parquet" in error.value.hint


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_named(write, content):
    assert fault(write(content)).endswith("is empty.")


def test_a_header_alone_is_no_table(write):
    assert "a header of 2 columns and no rows" in fault(write("a,b\n"))


def test_a_parquet_file_without_rows_is_no_table(tmp_path):
    parquet.write_table(
        pa.table({"a": pa.array([], pa.int64())}), tmp_path / "t.parquet"
    )
    assert "a header of 1 columns and no rows" in fault(tmp_path / "t.parquet")


def test_a_ragged_row_is_named_by_line_and_counts(write):
    message = fault(write("a,b\n1,2\nsecret\n5,6\n"))
    assert "line 3: 1 cells where the header has 2" in message
    assert "secret" not in message


def test_the_line_of_a_ragged_row_counts_lines_within_cells(write):
    message = fault(write('a,b\n"x\ny\nz",2\n\n1,2,3\n'), breaks=ALLOWED)
    assert "line 6: 3 cells where the header has 2" in message


@pytest.mark.parametrize("content", ['a,b\na"b,c\n1\n', "a,b\r1,2\r \r\n"])
def test_the_line_of_a_ragged_row_is_found_after_odd_quotes_and_line_ends(
    write, content
):
    assert "1 cells where the header has 2" in fault(write(content), delimiter=",")


def test_a_ragged_row_far_down_is_found(write):
    rows = ["1,2"] * 400_000
    rows[345_678] = "1,2,3"
    message = fault(write("\n".join(["a,b", *rows])))
    assert "line 345680: 3 cells" in message


def test_column_names_that_repeat_are_named(write):
    assert "columns 1, 3 of 3 share a name" in fault(write("a,b,a\n1,2,3\n"))


def test_a_column_without_a_name_is_named_by_place(write):
    assert "column 2 of 3 has no name" in fault(write("a,,c\n1,2,3\n"))


def test_names_below_a_second_mark_that_are_no_text_are_named_by_line(write):
    twice = b"\xef\xbb\xbf" * 2
    message = fault(write(twice + b'\n"caf\xe9"\nx\n'), named=True)
    assert "line 2: the byte at offset 8 is not utf-8 text" in message
    assert "caf" not in message


def test_an_unclosed_quotation_mark_is_named_by_line(write):
    message = fault(write('a,b\n1,2\n3,"open\n5,6\n7,8\n'))
    assert "line 3, column 'b': a quotation mark is opened and never closed" in message


def test_an_inch_mark_in_a_plain_cell_is_no_fault(write):
    assert read_source(write('a,b\n5" pipe,2\n3,4\n'))["a"][0].as_py() == '5" pipe'


def test_a_file_that_is_not_parquet_is_named(write):
    assert "not a whole Parquet file" in fault(write("a,b\n", "t.parquet"))


def test_a_file_that_is_not_arrow_is_named(write):
    assert "not a whole Arrow file" in fault(write("a,b\n", "t.arrow"))


def test_a_broken_gzip_file_is_named(write):
    assert "not a whole gzip file" in fault(write(b"a,b\n1,2\n", "t.csv.gz"))


def test_parquet_under_the_name_of_csv_is_named(tmp_path):
    parquet.write_table(pa.table({"a": [1]}), tmp_path / "t.csv")
    assert "it is Parquet" in fault(tmp_path / "t.csv")


def test_an_unreadable_place_is_named(write, monkeypatch):
    def refuse(self, *_mode):
        raise PermissionError(13, "Permission denied")

    path = write("a\n1\n")
    monkeypatch.setattr("pathlib.Path.open", refuse)
    assert "cannot be read: Permission denied" in fault(path)


def test_real_tables_keep_na_and_leading_zeros(shared_data):
    census = read_source(shared_data / "census_income" / "census_income_test.csv.gz")
    assert "NA" in census["hispanic_origin"].unique().to_pylist()
    acs = read_source(shared_data / "ss13acs" / "ss13acs_5col.csv")
    assert "N/A" in acs["Education"].unique().to_pylist()
    cup = read_source(shared_data / "cup" / "cup.csv")
    assert any(code.startswith("0") for code in cup["ZIP"].unique().to_pylist())


def test_a_header_may_be_longer_than_a_block(write):
    names = [f"column{number:06}" for number in range(90_000)]
    line = ",".join(names)
    assert len(line) > BLOCK_BYTES
    table = read_source(write(f"{line}\n{line}\n"))
    assert table.column_names == names
    assert table.num_rows == 1


@pytest.mark.parametrize("signs", ["ab;, ", 'ab",', 'ab"\n', 'ab\r",'])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_quoted_cells_are_read_whole_wherever_a_block_ends(
    signs, end, write, monkeypatch
):
    monkeypatch.setattr(reading, "BLOCK_BYTES", 100)
    random = Random(1)
    for rows in range(1, 60):
        cells = [
            ["".join(random.choices(signs, k=random.randint(0, 9))) for _ in "abc"]
            for _ in range(rows)
        ]
        text = io.StringIO()
        writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator=end)
        writer.writerows([["x", "y", "z"], *cells])
        table = read_source(
            write(text.getvalue()), delimiter=",", named=True, breaks=ALLOWED
        )
        assert list(zip(*table.to_pydict().values(), strict=True)) == [
            tuple(row) for row in cells
        ]


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_second_byte_order_mark_is_refused_on_every_engine(tmp_path, engine):
    path = tmp_path / "marks.csv"
    path.write_bytes(b"\xef\xbb\xbf" * 2 + b"age,ill\n20,x\n20,y\n")
    with pytest.raises(DataError, match="cannot be read as 2 names"):
        sf.check(path, quasi="ill", k=1, engine=engine)
