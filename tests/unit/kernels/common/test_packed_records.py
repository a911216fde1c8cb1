"""Rows packed, sorted and collapsed, for narrow and wide keys."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.kernels.common.packed_records import (
    collapse,
    fields_for,
    make_records,
    pack,
    recode,
    split,
    spread,
)

SIZES = st.lists(
    st.sampled_from([1, 2, 7, 256, 2**20, 2**31 - 1]), min_size=1, max_size=6
)


@st.composite
def columns(draw: st.DrawFn) -> tuple[list[np.ndarray], list[int]]:
    sizes = draw(SIZES)
    rows = draw(st.integers(1, 12))
    cells = st.sampled_from
    found = [
        np.array(
            draw(
                st.lists(cells([0, size // 2, size - 1]), min_size=rows, max_size=rows)
            ),
            dtype=np.int32,
        )
        for size in sizes
    ]
    return found, sizes


@given(columns())
def test_packed_codes_can_be_read_again(
    case: tuple[list[np.ndarray], list[int]],
) -> None:
    found, sizes = case
    fields = fields_for(sizes)
    words = pack(found, fields)
    for j, codes in enumerate(found):
        read = (words[fields.word[j]] >> fields.shift[j]) & fields.mask[j]
        assert read.tolist() == codes.tolist()


@given(columns())
def test_records_are_the_distinct_rows_with_their_numbers(
    case: tuple[list[np.ndarray], list[int]],
) -> None:
    found, sizes = case
    rows = list(zip(*(c.tolist() for c in found), strict=True))
    collapsed = collapse(found, fields_for(sizes), merge=True)
    groups = [
        collapsed.order[a:b].tolist()
        for a, b in zip(collapsed.starts[:-1], collapsed.starts[1:], strict=True)
    ]
    assert sorted(i for group in groups for i in group) == list(range(len(rows)))
    assert all(len({rows[i] for i in group}) == 1 for group in groups)
    assert len(groups) == len(set(rows))


@given(columns(), st.randoms(use_true_random=False))
def test_records_do_not_depend_on_the_order_of_rows(
    case: tuple[list[np.ndarray], list[int]], random: object
) -> None:
    found, sizes = case
    order = list(range(len(found[0])))
    random.shuffle(order)  # type: ignore[attr-defined]
    fields = fields_for(sizes)
    one = collapse(found, fields, merge=True)
    two = collapse([codes[order] for codes in found], fields, merge=True)
    assert np.array_equal(one.words, two.words)


def test_without_merging_every_row_is_a_record() -> None:
    same = [np.zeros(5, dtype=np.int32)]
    assert collapse(same, fields_for([3]), merge=False).words.shape == (1, 5)


@pytest.mark.parametrize(("bits", "words"), [(63, 1), (64, 2)])
def test_a_field_never_crosses_the_border_of_a_word(bits: int, words: int) -> None:
    fields = fields_for([2**31, 2**31, 2 ** (bits - 62)])
    assert len(fields.used) == words
    assert all(used <= 63 for used in fields.used)


def test_split_keeps_the_order_on_both_sides() -> None:
    records = make_records(np.arange(10, 16)[np.newaxis], np.ones(6, dtype=np.int64))
    flags = np.array([[0, 1, 1, 0]], dtype=np.uint8)
    assert split(records.planes, records.spare, 1, 5, flags) == 3
    assert records.planes[0].tolist() == [10, 12, 13, 11, 14, 15]
    assert (records.planes[1] & 0xFFFFFFFF).tolist() == [0, 2, 3, 1, 4, 5]


def test_recode_touches_one_field() -> None:
    fields = fields_for([4, 4])
    words = pack([np.array([0, 3], np.int32), np.array([1, 2], np.int32)], fields)
    recode(words[0], fields.shift[0], fields.mask[0], np.array([3, 2, 1, 0]))
    assert (words[0] & 3).tolist() == [3, 0]
    assert (words[0] >> 2).tolist() == [1, 2]


def test_spread_gives_rows_the_group_of_their_record() -> None:
    rows = np.empty(4, dtype=np.int32)
    groups = np.array([7, -1], dtype=np.int32)
    spread(groups, np.array([0, 3, 4]), np.array([2, 0, 3, 1], dtype=np.int32), rows)
    assert rows.tolist() == [7, -1, 7, 7]
