"""A plain file that is read as codes has the cells and faults that Arrow finds."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sfumato.data.source import coded_texts, delimiter_of, encoding_of, with_texts
from sfumato.errors import DataError
from sfumato.io import coded_csv, sniff
from sfumato.io.coded_csv import coded_table
from sfumato.io.read import read_source

DELIMITERS = ",;\t|"
TEXTS = (
    "",
    "a",
    "b",
    "12345678",
    "123456789",
    "12345678 and more than two words",
    "12345678 and more than two wordz",
    "é",
    "日本語のテキスト",
    " ",
    "\x00",
    "\x08",
    "\x0e",
    "\ufeff",
    "\ufffd",
)
ODD_TEXTS = ("a\nb", "a\r\nb", "a\rb", 'say ""hi""', "a,b", "a;b", "a\tb", "a|b")
ODD_CELLS = ('a"b', '"a"b', '"a" ', ' "a"', '"open', '"')
ODD_LINES = ("", " ", "a", "a,b,c,d,e", '"a"', ",")


@contextmanager
def read_as_codes(*, parts=1, few=1):
    """Small files are read as codes, in some parts; few columns are left as texts."""
    with ExitStack() as stack:
        least = {"LEAST_BYTES": 1, "PART_BYTES": 1, "TEXT_BYTES": 0}
        for name, value in {**least, "FEW": few}.items():
            stack.enter_context(patch.object(coded_csv, name, value))
        stack.enter_context(patch("os.cpu_count", lambda: parts))
        yield


def coded(content, delimiter=",", names=("x", "y"), **options):
    with read_as_codes(**options):
        plain = sniff.Utf8Content(pa.py_buffer(content), "utf-8")
        return coded_table(plain, delimiter, list(names))


def quoted(text, always):
    return f'"{text}"' if always else text


@st.composite
def plain_files(draw):
    """A delimiter, the columns of a plain file, and its bytes."""
    delimiter = draw(st.sampled_from(DELIMITERS))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    width = draw(st.integers(1, 4))
    cells = st.tuples(st.sampled_from([t for t in TEXTS if t]), st.booleans())
    rows = draw(st.lists(st.tuples(*[cells] * width), min_size=1, max_size=30))
    names = [f"c{i}" for i in range(width)]
    lines = [delimiter.join(names)]
    for row in rows:
        safe = [quoted(text, hard or text in "\x08\x0e") for text, hard in row]
        lines.append(delimiter.join(safe))
    last = draw(st.sampled_from(["", end]))
    columns = {n: [row[i][0] for row in rows] for i, n in enumerate(names)}
    return delimiter, columns, (end.join(lines) + last).encode()


@settings(max_examples=200)
@given(plain_files(), st.integers(1, 5), st.sampled_from([1, 2, 1000]))
def test_every_plain_file_is_read_as_it_stands(file, parts, few):
    delimiter, columns, content = file
    found = coded(content, delimiter, columns, parts=parts, few=few)
    if few == 1:
        assert coded_texts(found) == frozenset(columns)
    if found is not None:
        assert with_texts(found).to_pydict() == columns


@given(plain_files(), st.integers(2, 5))
def test_codes_do_not_depend_on_the_number_of_parts(file, parts):
    delimiter, columns, content = file
    one = coded(content, delimiter, columns)
    many = coded(content, delimiter, columns, parts=parts)
    assert many.equals(one)
    for name, cells in columns.items():
        (chunk,) = many.column(name).chunks
        assert chunk.dictionary.to_pylist() == list(dict.fromkeys(cells))


@st.composite
def any_files(draw):
    """A delimiter and the bytes of a file that may be wrong in any way."""
    delimiter = draw(st.sampled_from(DELIMITERS))
    width = draw(st.integers(1, 3))
    text = st.sampled_from(TEXTS) | st.sampled_from(ODD_TEXTS)
    cell = st.builds(quoted, text, st.booleans()) | st.sampled_from(ODD_CELLS)
    plain = st.builds(quoted, st.sampled_from(["a", "b", ""]), st.booleans())
    line = st.lists(plain, min_size=width, max_size=width).map(delimiter.join)
    odd = st.lists(cell, min_size=width, max_size=width).map(delimiter.join)
    lines = draw(st.lists(line, max_size=8))
    for strange in draw(st.lists(odd | st.sampled_from(ODD_LINES), max_size=2)):
        lines.insert(draw(st.integers(0, len(lines))), strange)
    names = draw(st.permutations(["name", "age", '"word"'][:width]))
    ends = st.sampled_from(["\n", "\r\n"]) | st.sampled_from(["\r", "\n\n"])
    end = draw(st.sampled_from(["\n", "\r\n"]) if draw(st.booleans()) else ends)
    head = draw(st.sampled_from(["", "", "", "\ufeff", "\ufeff\ufeff", "\n"]))
    whole = head + end.join([delimiter.join(names), *lines])
    content = (whole + draw(st.sampled_from(["", end, "\n"]))).encode()
    if draw(st.integers(0, 5)) == 0:
        at = draw(st.integers(0, len(content)))
        content = content[:at] + draw(st.binary(max_size=2)) + content[at:]
    return delimiter, content


def read(path, delimiter, **options):
    """What a file is read as: its cells and what is remembered of it, or the error."""
    try:
        table = read_source(path, delimiter=delimiter, named=True, **options)
    except DataError as error:
        return error.message, error.hint
    known = coded_texts(table)
    cells = with_texts(table).to_pydict()
    kinds = [str(each.type) for each in with_texts(table).schema]
    for name in known:
        assert table.column(name).null_count == 0
    return cells, kinds, delimiter_of(table), encoding_of(table)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("files") / "t.csv"


@settings(max_examples=500)
@example((",", b'x,y\n1,"a\n'), 2, 1)
@example((",", b'x,y\n"a\nb",2\n3,4\n'), 2, 1)
@example((",", b"x,y\n1,\xff\n"), 1, 1)
@example((",", b'x\n""\n'), 1, 1)
@example((",", b"x\n\n1\n"), 1, 1)
@example((",", b"x,y\n1,2\r3,4\n"), 1, 1)
@example((",", b"x,y\n1,2\r\r\n"), 1, 1)
@example((",", b'x,y\n1,"2"\r\r\n'), 1, 1)
@example((",", b'"x""y",z\n1,2\n'), 1, 1)
@example((",", b"x,y"), 1, 1)
@example((",", b"x,y\n"), 1, 1)
@given(any_files(), st.integers(1, 4), st.sampled_from([1, 2]))
def test_a_file_is_read_as_arrow_reads_it_or_with_the_same_error(
    place, file, parts, few
):
    delimiter, content = file
    place.write_bytes(content)
    with read_as_codes(parts=parts, few=few):
        found = read(place, delimiter, coded=True)
    assert found == read(place, delimiter)


@pytest.mark.parametrize(
    "lines",
    [
        '1,"a""b"',
        '1,a"b',
        '1,"a"b',
        '1,"a',
        '1,"a\nb"',
        '1,"a\rb"',
        "1,a\rb",
        "1",
        "1,2,3",
        "",
        "\n1,2",
        "1,a\tb",
    ],
)
def test_what_is_not_plain_is_left_to_arrow(lines):
    assert coded(f"x,y\n1,2\n{lines}\n1,2\n".encode()) is None


def test_bytes_that_are_no_text_are_left_to_arrow():
    assert coded(b"x,y\n1,2\n1,\xff\n") is None
    assert coded(b"x,y\n1,2\n1,\xff\n" + b"1,2\n" * 9, few=5) is None


def test_a_header_that_says_something_else_is_left_to_arrow():
    assert coded(b"x,z\n1,2\n") is None
    assert coded("\ufeffx,y\n1,2\n".encode(), names=("\ufeffx", "y")) is None


def test_small_files_are_left_to_arrow():
    plain = sniff.Utf8Content(pa.py_buffer(b"x,y\n1,2\n"), "utf-8")
    assert coded_table(plain, ",", ["x", "y"]) is None


def test_files_for_which_there_is_too_little_memory_are_left_to_arrow():
    with patch.object(coded_csv, "_empty_tables", side_effect=MemoryError):
        assert coded(b"x,y\n1,2\n") is None
    assert coded(b"x,y\n1,2\n") is not None


def test_columns_whose_texts_hardly_repeat_come_as_texts():
    lines = "".join(f"{i},{i % 2}\n" for i in range(100))
    found = coded(f"x,y\n{lines}".encode(), parts=3, few=8)
    assert coded_texts(found) == {"y"}
    assert found.schema.field("x").type == pa.string()
    assert found["x"].to_pylist() == [str(i) for i in range(100)]
    assert coded(f"x,y\n{lines}".encode(), few=1000) is None


def test_texts_that_become_too_many_after_the_sample_are_left_to_arrow():
    lines = "a\n" * 100 + "".join(f"{i}\n" for i in range(20))
    with patch.multiple(coded_csv, MOST_TEXTS=16, SAMPLE_BYTES=20):
        assert coded(f"x\n{lines}".encode(), names=["x"], few=8) is None
    assert coded(f"x\n{lines}".encode(), names=["x"], few=1) is not None


def test_texts_with_the_same_hash_have_their_own_codes():
    """As many texts as half of the slots, so that some have to share."""
    cells = [f"value {i % 16}" for i in range(200)]
    with patch.object(coded_csv, "MOST_TEXTS", 16):
        found = coded("\n".join(["x", *cells]).encode(), names=["x"])
    assert with_texts(found)["x"].to_pylist() == cells


def test_commas_as_decimal_marks_are_left_to_arrow(place):
    place.write_text("x;y\n1,5;a\n2,5;b\n")
    with read_as_codes():
        table = read_source(place, decimal=",", coded=True)
    assert coded_texts(table) == frozenset()
    assert table.to_pydict() == {"x": ["1.5", "2.5"], "y": ["a", "b"]}


def test_other_encodings_are_read_as_codes(place):
    place.write_bytes("x,y\né,1\né,2\n".encode("cp1252"))
    with read_as_codes():
        table = read_source(place, encoding="cp1252", coded=True)
    assert coded_texts(table) == {"x", "y"}
    assert with_texts(table)["x"].to_pylist() == ["é", "é"]


def test_many_columns_share_the_room_for_texts():
    names = [f"c{i}" for i in range(40)]
    rows = [[f"{row % 2}"] * 40 for row in range(30)]
    content = "".join(",".join(line) + "\n" for line in [names, *rows]).encode()
    with patch.object(coded_csv, "ROOM", 100):
        found = coded(content, names=names)
    assert with_texts(found).to_pylist() == [
        dict(zip(names, row, strict=True)) for row in rows
    ]


def bytes_of_tables(content, names):
    """What the tables take: of the header, of the sample and of each part."""
    made, taken = coded_csv._empty_tables, []

    def counted(*sizes):
        tables = made(*sizes)
        taken.append(sum(array.nbytes for array in tables))
        return tables

    plain = sniff.Utf8Content(pa.py_buffer(content), "utf-8")
    with (
        patch("os.cpu_count", lambda: 64),
        patch.object(coded_csv, "_empty_tables", counted),
    ):
        assert coded_table(plain, ",", names) is not None
    return taken


def test_tables_take_no_more_room_than_the_file_and_one_part_do():
    names = [f"c{i}" for i in range(100)]
    lines = [",".join(names), *[",".join(["town"] * 100)] * 30_000]
    content = "\n".join(lines).encode()
    _, _, *parts = bytes_of_tables(content, names)
    assert sum(parts) < len(content) + 24 * coded_csv.ROOM


def test_tables_have_room_for_no_more_texts_than_twice_the_rows():
    names = [f"c{i}" for i in range(100)]
    lines = [",".join(names), *[",".join(["town"] * 100)] * 3_000]
    taken = bytes_of_tables("\n".join(lines).encode(), names)
    of_columns = 100 * 8
    most = [24 * 100 * 2 * rows + of_columns for rows in (1, 3_000, 3_000)]
    assert all(each <= limit for each, limit in zip(taken, most, strict=True))
