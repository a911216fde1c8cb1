"""Cells of plain lines against those that a split at every delimiter gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.kernels.files.csv_cells import (
    CellSpans,
    TextTables,
    copy_texts,
    count_lines,
    line_after,
    read_lines,
)

MOST = 40
texts = st.text(st.sampled_from("abé ;"), max_size=20)
tables = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[texts] * width), min_size=1, max_size=30)
)


def as_bytes(text):
    return np.frombuffer(text.encode(), dtype=np.uint8)


def empty(width, rows):
    found = TextTables(
        np.zeros((width, 64), dtype=np.int32),
        np.zeros((width, MOST), dtype=np.int32),
        np.zeros((width, MOST), dtype=np.int32),
        np.zeros((width, MOST), dtype=np.uint64),
        np.zeros(width, dtype=np.int64),
    )
    return np.full((width, rows), -1, dtype=np.int32), found


def spans(width, rows):
    return CellSpans(*(np.zeros((width, rows), dtype=np.int32) for _ in range(2)))


def read(text, width, rows):
    codes, found = empty(width, rows)
    places = np.arange(width)
    content = as_bytes(text)
    done = read_lines(content, ord(","), places, codes, found, spans(0, rows), 0, rows)
    return done, codes, found


def text_at(content, start, size):
    return content[start : start + size].tobytes().decode()


@given(tables, st.booleans(), st.sampled_from(["\n", "\r\n"]))
def test_codes_are_those_of_texts_in_the_order_of_their_first_rows(table, quoted, end):
    cells = [[f'"{t}"' if quoted else f"{t}_" for t in row] for row in table]
    text = "".join(",".join(row) + end for row in cells)
    width, rows = len(table[0]), len(table)
    done, codes, found = read(text, width, rows)
    assert done
    for place in range(width):
        column = [row[place].strip('"') for row in cells]
        order = list(dict.fromkeys(column))
        assert codes[place].tolist() == [order.index(each) for each in column]
        count = int(found.counts[place])
        starts, sizes = found.starts[place, :count], found.sizes[place, :count]
        known = [
            text_at(as_bytes(text), *span) for span in zip(starts, sizes, strict=True)
        ]
        assert known == order


@given(st.lists(texts, min_size=1, max_size=30))
def test_spans_are_where_cells_are(column):
    text = "".join(f'x,"{cell}"\n' for cell in column)
    content, rows = as_bytes(text), len(column)
    codes, found = empty(1, rows)
    where = spans(1, rows)
    places = np.array([0, -1])
    assert read_lines(content, ord(","), places, codes, found, where, 0, rows)
    starts, sizes = where.starts[0], where.sizes[0]
    ends = np.append(0, np.cumsum(sizes)).astype(np.int32)
    copied = np.zeros(int(ends[-1]), dtype=np.uint8)
    assert copy_texts(content, starts, ends, copied)
    assert copied.tobytes().decode() == "".join(column)


@pytest.mark.parametrize(
    "text",
    [
        "a\n",
        "a,b,c\n",
        "\n",
        "\r\n",
        'a,"b\n',
        'a,"b""c"\n',
        'a,"b"c\n',
        'a,b"c\n',
        "a,b\rc\n",
        'a,"b\rc"\n',
        "a,b\r\r\n",
        "a,b\tc\n",
        "a,",
        '"',
    ],
)
def test_a_line_that_is_not_plain_is_refused(text):
    done, _, _ = read(text, 2, max(count_lines(as_bytes(text)), 1))
    assert not done


def test_more_texts_than_there_is_room_for_are_refused():
    done, _, _ = read("".join(f"{i}\n" for i in range(MOST + 1)), 1, MOST + 1)
    assert not done


@given(st.text(st.sampled_from("a\n"), max_size=20), st.integers(0, 20))
def test_lines_are_counted_and_found_by_their_line_feeds(text, at):
    content = as_bytes(text)
    assert count_lines(content) == text.count("\n")
    end = text.find("\n", at)
    assert line_after(content, at) == (end + 1 if end >= 0 else len(text))
