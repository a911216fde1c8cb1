"""Pack rows into words, and collapse equal rows into weighted records.

Every code of a row is a bit field in one of a few 63-bit words, as wide as its column
needs: eight small columns are one word, a column of a million values takes 20 bits.
Records are sorted by their words, so that nothing depends on the order of the rows.

Cost: O(n × m) to pack n rows of m columns; sorting takes O(n log n) for one word, else
O(n × w × 6) radix passes for w words; splitting r records O(r × w); memory O(n × w).
Invariant: packed codes can be read again; records are the distinct rows, ascending;
`split` keeps the order of the records on both sides; words are never negative, so that
shifting them right brings in no sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Codes, Ints
from sfumato.kernels.compilation.decorators import both, inner

WORD_BITS = 63
TAG = 32
NUMBER = (1 << TAG) - 1
STACK = 128
DIGIT = 11


class Fields(NamedTuple):
    """Where the code of each column sits: words[word] >> shift & mask."""

    word: Ints
    shift: Ints
    mask: Ints
    used: Ints
    """Bits in use, per word."""


class Records(NamedTuple):
    """Weighted records; groups are ranges of them, and cutting moves them."""

    planes: Ints
    """(words + 1, records): the words; last the tag, weight << 32 | number."""
    spare: Ints
    """Room of the same shape."""


class Collapsed(NamedTuple):
    """Distinct records, and the rows behind each."""

    words: Ints
    starts: Ints
    """Rows order[starts[r]] … order[starts[r + 1] − 1] are record r."""
    order: Codes


def fields_for(sizes: Sequence[int]) -> Fields:
    """Give each column a bit field that does not cross the border of a word."""
    bits = [max(int(size) - 1, 0).bit_length() for size in sizes]
    word, shift, used = [], [], [0]
    for width in bits:
        if used[-1] + width > WORD_BITS:
            used.append(0)
        word.append(len(used) - 1)
        shift.append(used[-1])
        used[-1] += width
    masks = [(1 << width) - 1 for width in bits]
    return Fields(*(np.array(x, dtype=np.int64) for x in (word, shift, masks, used)))


def pack(columns: Sequence[Codes], fields: Fields) -> Ints:
    """Pack all rows into words; `columns` may be fewer than the fields."""
    rows = len(columns[0]) if columns else 0
    words = np.zeros((len(fields.used), rows), dtype=np.int64)
    for j, codes in enumerate(columns):
        contiguous = np.ascontiguousarray(codes, dtype=np.int32)
        put_field(words[fields.word[j]], contiguous, fields.shift[j])
    return words


def collapse(columns: Sequence[Codes], fields: Fields, *, merge: bool) -> Collapsed:
    """Sort rows by their words and, with `merge`, make equal ones one record."""
    words = pack(columns, fields)
    order = _sort(words, fields)
    starts = np.empty(len(order) + 1, dtype=np.int64)
    count = squeeze(words, starts, merge)
    return Collapsed(np.ascontiguousarray(words[:, :count]), starts[: count + 1], order)


def _sort(words: Ints, fields: Fields) -> Codes:
    """Sort the words in place; return the row that each came from."""
    rows = words.shape[1]
    row_bits = max(rows - 1, 0).bit_length()
    order = np.empty(rows, dtype=np.int32)
    # One word with bits to spare carries its row number: NumPy's sort of plain integers
    # is several times faster than sorting an index.
    if len(words) == 1 and fields.used[0] + row_bits <= WORD_BITS:
        add_rows(words[0], row_bits)
        words[0].sort()
        take_rows(words[0], order, row_bits)
        return order
    spare = np.empty(rows, dtype=np.int32)
    order[:] = np.arange(rows, dtype=np.int32)
    # Stable, from the last word to the first: the first one decides.
    for plane in range(len(words) - 1, -1, -1):
        order, spare = radix_order(words[plane], order, spare, fields.used[plane])
    words[:] = words[:, order]
    return order


@both
def put_field(plane: Ints, codes: Codes, shift: int) -> None:
    """Write a column's codes into their bit field."""
    for i in range(len(codes)):
        plane[i] |= np.int64(codes[i]) << shift


@both
def add_rows(plane: Ints, bits: int) -> None:
    """Append the row's number to each word, so that sorting carries it along."""
    for i in range(len(plane)):
        plane[i] = plane[i] << bits | i


@both
def take_rows(plane: Ints, order: Codes, bits: int) -> None:
    """Split the row's number off again."""
    mask = (1 << bits) - 1
    for i in range(len(plane)):
        order[i] = plane[i] & mask
        plane[i] >>= bits


@both
def radix_order(
    plane: Ints, order: Codes, spare: Codes, bits: int
) -> tuple[Codes, Codes]:
    """Reorder `order` by one word, stably; the two arrays may change places.

    Counts are taken over the plane itself: every row is counted once in any order.
    """
    counts = np.empty(1 << DIGIT, dtype=np.int64)
    for shift in range(0, bits, DIGIT):
        for digit in range(len(counts)):
            counts[digit] = 0
        for i in range(len(order)):
            counts[(plane[i] >> shift) & ((1 << DIGIT) - 1)] += 1
        total = 0
        for digit in range(len(counts)):
            total, counts[digit] = total + counts[digit], total
        for i in range(len(order)):
            digit = (plane[order[i]] >> shift) & ((1 << DIGIT) - 1)
            spare[counts[digit]] = order[i]
            counts[digit] += 1
        order, spare = spare, order
    return order, spare


@both
def squeeze(words: Ints, starts: Ints, merge: bool) -> int:
    """Keep the first of each run of equal words; return how many there are."""
    planes, rows = words.shape
    count = 0
    for i in range(rows):
        new = i == 0 or not merge
        for w in range(planes):
            if not new:
                new = words[w, i] != words[w, count - 1]
        if new:
            for w in range(planes):
                words[w, count] = words[w, i]
            starts[count] = i
            count += 1
    starts[count] = rows
    return count


@both
def recode(plane: Ints, shift: int, mask: int, table: Ints) -> None:
    """Replace every code c of one field by table[c]."""
    for i in range(len(plane)):
        code = (plane[i] >> shift) & mask
        plane[i] += (table[code] - code) << shift


@both
def spread(
    group_of_record: Codes, starts: Ints, order: Codes, group_of_row: Codes
) -> None:
    """Give every row the group of its record."""
    for record in range(len(starts) - 1):
        for i in range(starts[record], starts[record + 1]):
            group_of_row[order[i]] = group_of_record[record]


def make_records(words: Ints, weights: Ints) -> Records:
    """Make records in their first order, numbered by it."""
    tags = (weights.astype(np.int64) << TAG) | np.arange(len(weights), dtype=np.int64)
    planes = np.concatenate([words, tags[np.newaxis]])
    return Records(planes, np.empty_like(planes))


@both
def split(
    planes: Ints, spare: Ints, low: int, high: int, flags: npt.NDArray[np.uint8]
) -> int:
    """Move the records flagged in row 0 to the front, stably; return the border."""
    left = np.uint64(0)
    for w in range(len(planes)):
        plane = planes[w, low:high]
        room = spare[w, low:high]
        left = np.uint64(0)
        right = np.uint64(0)
        # Both places are written every time: cheaper than an unpredictable branch.
        for i in range(len(plane)):
            value = plane[i]
            here = np.uint64(flags[0, i])
            plane[left] = value
            room[right] = value
            left += here
            right += np.uint64(1) - here
        for i in range(right):
            plane[left + i] = room[i]
    return low + np.int64(left)


@inner
def push_parts(stack: Ints, waiting: int, low: int, middle: int, high: int) -> int:
    """Stack the two parts of a range, the smaller on top; return how many wait.

    So the stack never holds more ranges than the logarithm of the size.
    """
    top = 1 if middle - low < high - middle else 0
    stack[0, waiting + top] = low
    stack[1, waiting + top] = middle
    stack[0, waiting + 1 - top] = middle
    stack[1, waiting + 1 - top] = high
    return waiting + 2
