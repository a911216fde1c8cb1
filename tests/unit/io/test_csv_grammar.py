"""What a quotation mark may do in a CSV file, and what is refused with its place."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sfumato.data.source import coded_texts, has_line_breaks, has_row_numbers
from sfumato.errors import Caller, DataError, hints_for
from sfumato.io.batch_files import batch_source
from sfumato.io.csv_grammar import ALLOWED, UNLIKE_ROWS, LineBreaks
from sfumato.io.read import read_source

HEADER = "name,age,ill\n"
CELL = 9_000_000
"""Bytes of a cell that is longer than the blocks in which files are read."""


def in_memory(path, **options):
    return read_source(path, **options)


def in_batches(path, **options):
    source = batch_source(path, **options)
    return pa.Table.from_batches(list(source.read(source.names)), source.schema)


@pytest.fixture(params=[in_memory, in_batches])
def read(request, tmp_path):
    def reader(content, **options):
        path = tmp_path / "t.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return request.param(path, **options)

    return reader


@pytest.fixture
def refusal(read):
    def refused(content, **options):
        with pytest.raises(DataError) as error:
            read(content, **options)
        return error.value

    return refused


def people(**rows):
    """Forty people, of whom some rows are written otherwise."""
    lines = [f"Ann{i:02d},{20 + i % 4},x{i % 3}" for i in range(40)]
    for number, line in rows.items():
        lines[int(number[1:])] = line
    return HEADER + "\n".join(lines) + "\n"


def test_a_mark_that_is_never_closed_is_named_by_line_and_column(refusal):
    message = refusal(people(r30='Bob,22,"x1')).message
    assert "line 32, column 'ill': a quotation mark is opened and never" in message


def test_text_behind_a_closing_mark_is_named_with_the_line_that_opened(refusal):
    message = refusal(people(r10='Ann,22,"x1', r20='Ann,22,"x2')).message
    assert "line 22, column 'ill': text follows a closing quotation mark" in message
    assert "of a cell that began on line 12" in message


def test_a_blank_behind_a_closing_mark_has_a_hint_of_its_own(refusal):
    assert "Remove the blanks" in refusal('a,b\n"x" ,y\n').hint


def test_marks_behind_backslashes_have_a_hint_of_their_own(refusal):
    assert "backslashes" in refusal('a,b\n"say \\"hi\\"",y\n').hint


def test_rows_joined_by_two_marks_are_refused_where_the_column_is_published(refusal):
    error = refusal(people(r10='Ann,22,"x1', r20='Ann,22,x2"'))
    assert "line 12: the cell of column 'ill' has a line break" in error.message
    assert "multiline = true under [data]" in error.hint


def test_rows_joined_in_a_column_that_is_left_out_are_refused_as_rows(refusal):
    joined = people(r10='"Ann,22,x1', r20='Ann",22,x2')
    breaks = LineBreaks(lambda names: ["age", "ill"])
    message = refusal(joined, breaks=breaks).message
    assert "line 12: the cell of column 'name' has lines that look like" in message


def dropped_name(**rows):
    """Forty people whose name, in the middle, is left out, as is a note."""
    lines = [f"{20 + i % 4},Ann{i:02d},x{i % 3},n" for i in range(40)]
    for number, line in rows.items():
        lines[int(number[1:])] = line
    return "age,name,ill,note\n" + "\n".join(lines) + "\n"


NAME_OUT = LineBreaks(lambda names: ["age", "ill"])


@pytest.mark.parametrize(
    "rows",
    [
        {"r11": '21,""Ann, 11"",x1,n'},
        {"r11": f"21,Ann11,x1,{'n' * 140_000}"},
        {"r11": '21,Ann11,""x, 1"",n'},
    ],
    ids=["doubled", "long", "doubled and published"],
)
def test_a_row_between_two_marks_is_recognized(refusal, rows):
    joined = dropped_name(r10='20,"Ann10,x1,n', **rows, r12='22,Ann12",x2,n')
    message = refusal(joined, breaks=NAME_OUT).message
    assert "line 12: the cell of column 'name' has lines that look like" in message


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ('20,"Ann10,x1,n', '21,Ann11",x2,n'),
        ('20,"Ann10,"", x"",n', '21,Ann11",x2,n'),
        ('20,Ann10,x1,"n', '21,Ann11,x2,n"'),
        ('"",Ann10,x1,"n', '21,Ann11,x2,n"'),
    ],
)
def test_two_adjacent_rows_that_marks_join_are_recognized(refusal, first, last):
    joined = dropped_name(r10=first, r11=last)
    message = refusal(joined, breaks=NAME_OUT).message
    assert "has lines that look like rows of the table" in message


@pytest.mark.parametrize(
    "row",
    [
        '20,"12 Main St\nSpringfield",x1,n',
        '20,"12 Main St, Apt 3, left\nSpringfield, IL, USA",x1,n',
        '20,Ann,x1,"felt well,\nuntil Monday, then not"',
        '20,Ann,x1,"one\ntwo\n\nthree, four"',
    ],
)
def test_addresses_and_remarks_of_several_lines_are_accepted(read, row):
    assert read(dropped_name(r10=row), breaks=NAME_OUT).num_rows == 40


def test_a_name_of_a_column_may_be_longer_than_python_reads(read):
    name = "n" * 140_000
    assert read(f"age,{name}\n20,x\n").column_names == ["age", name]


def test_lines_of_another_kind_than_the_columns_are_text(read):
    note = people(r10='"Ann, dear, friend\nsaid, twice, no",22,x1')
    assert read(note, breaks=UNLIKE_ROWS).num_rows == 40


def test_line_breaks_that_were_declared_are_read(read):
    table = read('a,b\n"1\n2",3\n', breaks=ALLOWED)
    assert table.to_pydict() == {"a": ["1\n2"], "b": ["3"]}
    assert has_line_breaks(table)


def test_a_header_that_swallows_rows_is_refused_and_not_quoted(refusal):
    message = refusal(
        'name,"age\nAnn,22\nBob,23"\nCid,24\n', breaks=UNLIKE_ROWS
    ).message
    assert "line 1: the cell of column 2 has a line break" in message
    assert "Bob" not in message


def test_a_fault_in_a_header_that_swallows_rows_quotes_no_cell(refusal):
    message = refusal('age,"note\n""23","Ann,"cold"\n20,x,y\n').message
    assert "line 2, column 3: text follows a closing quotation mark" in message
    assert "Ann" not in message


def test_a_cell_longer_than_a_block_is_read_in_the_middle_of_a_file(read):
    rows = ["x,y"] * 1000
    content = "\n".join(["a,b", *rows, f"{'z' * CELL},y", *rows]) + "\n"
    table = read(content)
    assert table.num_rows == 2001
    assert len(table["a"][1000].as_py()) == CELL


def test_bytes_that_a_mark_splits_are_no_text(refusal):
    message = refusal(b'a,b\n"\xc3"\xa9",y\n').message
    assert "line 2: the byte at offset 5 is not utf-8 text" in message


def test_bytes_of_a_column_that_is_not_read_must_be_text(refusal):
    assert "line 2" in refusal(b",b\n\xc3,y\n").message


def test_a_first_column_without_a_name_is_left_out(read):
    table = read(",a,b\n0,x,y\n1,z,w\n")
    assert table.to_pydict() == {"a": ["x", "z"], "b": ["y", "w"]}
    assert has_row_numbers(table)


def test_a_quoted_first_name_that_is_empty_is_row_numbers_too(read):
    assert read('"","a"\n"1","x"\n').column_names == ["a"]


def test_row_names_that_the_header_leaves_out_are_named_by_who_writes_them(refusal):
    error = refusal("age,ill\n" + "".join(f"{i},{20 + i},x\n" for i in range(9)))
    assert "line 2: 3 cells where the header has 2" in error.message
    assert "R's write.table" in error.hint
    assert "col.names = NA" in error.hint


def test_one_row_with_a_cell_too_many_is_no_table_of_r(refusal):
    assert "Quote cells" in refusal("age,ill\n20,x\n20,x,y\n").hint


def test_other_columns_need_a_name(refusal):
    assert "column 3 of 3 has no name" in refusal(",a,\n0,x,y\n").message


@pytest.mark.parametrize(
    ("caller", "hint"),
    [
        (Caller.POLICY, 'set encoding = "cp1252" under [data] in the policy.'),
        (Caller.OPTION, "add --encoding cp1252."),
        (Caller.ARGUMENT, "pass encoding='cp1252'."),
        (Caller.PAGE, "set the field 'Encoding' to cp1252."),
    ],
)
def test_a_file_of_windows_gets_the_setting_where_it_can_be_changed(read, caller, hint):
    with pytest.raises(DataError) as error, hints_for(caller):
        read("a,b\nMüller,1\n".encode("cp1252"))
    assert error.value.hint == f"It is probably cp1252: if so, {hint}"


def test_a_line_that_a_carriage_return_ends_is_counted(refusal):
    lines = [b"20,x"] * 50 + [b"20,gr\xf6"] + [b"21,x"] * 50
    message = refusal(b"\r".join([b"age,d", *lines])).message
    assert "line 52: the byte" in message


@pytest.mark.parametrize("end", ["Ré", "R漢", "漢"])
def test_a_file_that_ends_in_a_character_is_called_cut_off(refusal, end):
    error = refusal(f"a,b\né,{end}".encode()[:-1])
    assert "ends in the middle of a character" in error.message
    assert "copy or export it again" in error.hint


def test_a_last_byte_of_windows_is_not_called_cut_off(refusal):
    assert "cp1252" in refusal("a,b\n1,caf\xe9".encode("cp1252")).hint


def test_bytes_that_cp1252_does_not_have_are_not_called_so(refusal):
    assert "latin-1" in refusal(b"a,b\n\x81,1\n").hint


def test_a_large_file_that_is_read_as_codes_is_refused_for_joined_rows(tmp_path):
    lines = [f"Ann{i:06d},{i % 90},x{i % 3}" for i in range(100_000)]
    path = tmp_path / "t.csv"
    path.write_text(HEADER + "\n".join(lines) + "\n", encoding="utf-8")
    assert coded_texts(read_source(path, coded=True)) == {"age", "ill"}
    lines[300], lines[99_000] = 'Ann,22,"x1', 'Ann,22,x2"'
    path.write_text(HEADER + "\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match="line 302: the cell of column 'ill'"):
        read_source(path, coded=True)
