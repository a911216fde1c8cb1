"""Read the cells of plain CSV lines as codes, one per distinct text of a column.

A line is plain if it has as many cells as there are columns and each cell is quoted
without a quotation mark in it, or has none at all. No cell has a line end in it. Every
line ends with a line feed, which may follow a carriage return. At any other line the
reading ends: a general parser has to say what it means.

Bytes are read eight at a time, as one word. A text is found by its hash, and then
compared byte for byte, so that texts with the same hash keep codes of their own.

Paper: none; the first byte of a kind in a word is found as by Mycroft 1987.
Cost: O(bytes) time; 8 bytes for each place of a table, of which untouched ones are
never loaded.
Invariant: codes count from 0 in the order in which texts first occur; a text is
`content[start : start + size]`; whatever is not plain is refused, never guessed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.data.arrays import Bytes, Codes, Ints, Words
from sfumato.kernels.common.borrowed_arrays import borrow
from sfumato.kernels.compilation.decorators import door, inlined, inner

QUOTE, LINE_END, RETURN = 34, 10, 13
BYTES = 8
BITS = np.uint64(8)
ONE = np.uint64(1)
ONES = np.uint64(0x0101010101010101)
HIGH_BITS = np.uint64(0x8080808080808080)
CONTROLS = np.uint64(0xF8F8F8F8F8F8F8F8)
"""The bits in which all bytes from 8 to 15 are the same: both line ends are there."""
FIRST_CONTROL = np.uint64(0x0808080808080808)
QUOTES = ONES * np.uint64(QUOTE)
LINE_ENDS = ONES * np.uint64(LINE_END)
LOW_BITS = ~HIGH_BITS
SEVEN, TOP = np.uint64(7), np.uint64(56)
HALF = np.uint64(32)
SPREAD = np.uint64(0x9E3779B97F4A7C15)


class TextTables(NamedTuple):
    """The distinct texts of columns: a table for each column."""

    slots: Codes
    """(columns, a power of 2): 1 more than the code of the text there; 0 for none."""
    starts: Codes
    """(columns, texts): where each text first occurs."""
    sizes: Codes
    """Its bytes."""
    words: Words
    """Its first 8 bytes."""
    counts: Ints
    """How many texts each column has."""


class CellSpans(NamedTuple):
    """Where the cells are of columns whose texts hardly repeat."""

    starts: Codes
    """(columns, rows)"""
    sizes: Codes


@door
def count_lines(content: Bytes) -> int:
    """Count the line feeds."""
    content = borrow(content)
    count = 0
    for at in range(0, len(content), BYTES):
        word = _word(content, at) ^ LINE_ENDS
        # Here each byte counts by itself: no carry from one reaches the next.
        others = ((word & LOW_BITS) + LOW_BITS) | word
        count += np.int64((((~others & HIGH_BITS) >> SEVEN) * ONES) >> TOP)
    return count


@door
def line_after(content: Bytes, at: int) -> int:
    """Find the start of the first line that starts after a place."""
    while at < len(content) and content[at] != LINE_END:
        at += 1
    return min(at + 1, len(content))


@door
def read_lines(
    content: Bytes,
    delimiter: int,
    place_of: Ints,
    codes: Codes,
    tables: TextTables,
    spans: CellSpans,
    row: int,
    last_row: int,
) -> bool:
    """Read lines as the rows up to `last_row`; return whether all of them are plain.

    The last line ends with a line feed, too. `place_of` has the place of each column in
    `codes` and `tables`; −1 − its place in `spans` if only its spans are wanted.
    """
    content, tables = borrow(content), borrow(tables)
    codes, spans = borrow(codes), borrow(spans)
    width, end, at = len(place_of), len(content), 0
    while at < end:
        if row == last_row or content[at] == LINE_END or content[at] == RETURN:
            return False
        for column in range(width):
            if at == end:
                return False
            quoted = content[at] == QUOTE
            first = at + 1 if quoted else at
            size, word, hashed = _cell(content, first, quoted, delimiter)
            at = first + size + 1 if quoted else first + size
            at = _after_cell(content, at, delimiter, column == width - 1)
            if size < 0 or at < 0:
                return False
            place = place_of[column]
            if place < 0:
                spans.starts[-1 - place, row] = first
                spans.sizes[-1 - place, row] = size
                continue
            slot = _slot(content, first, size, word, hashed, place, tables)
            if tables.slots[place, slot] == 0:
                if not _add(content, first, size, word, slot, place, tables):
                    return False
            codes[place, row] = tables.slots[place, slot] - 1
        row += 1
    return row == last_row


@door
def copy_texts(content: Bytes, starts: Codes, ends: Codes, texts: Bytes) -> bool:
    """Copy texts one after the other; return whether all of them are plain.

    The text at `starts[i]` goes to `texts[ends[i] : ends[i + 1]]`.
    """
    for i in range(len(starts)):
        first = starts[i]
        size = ends[i + 1] - ends[i]
        if not _is_plain(content, first, size):
            return False
        for at in range(size):
            texts[ends[i] + at] = content[first + at]
    return True


@inner
def _cell(
    content: Bytes, first: int, quoted: bool, delimiter: int
) -> tuple[int, np.uint64, np.uint64]:
    """The size, the first word and the hash of a cell; −1 for one that never ends."""
    delimiters = ONES * np.uint64(delimiter)
    hashed, word = np.uint64(0), np.uint64(0)
    at = first
    while at < len(content):
        found = _word(content, at)
        if quoted:
            stops = _zeros(found ^ QUOTES)
        else:
            ends = _zeros((found & CONTROLS) ^ FIRST_CONTROL)
            stops = _zeros(found ^ delimiters) | ends
        if stops:
            before = _bytes_before(stops)
            found &= (ONE << (BITS * np.uint64(before))) - ONE
            word = found if at == first else word
            size = at + before - first
            return size, word, _mixed(hashed ^ np.uint64(size), found)
        word = found if at == first else word
        hashed = _mixed(hashed, found)
        at += BYTES
    return -1, word, hashed


@inner
def _after_cell(content: Bytes, at: int, delimiter: int, last: bool) -> int:
    """The place after what ends a cell; −1 where that is not what it has to be."""
    end = len(content)
    if not last:
        return at + 1 if at < end and content[at] == delimiter else -1
    if at < end and content[at] == RETURN:
        at += 1
    return at + 1 if at < end and content[at] == LINE_END else -1


@inlined
def _slot(
    content: Bytes,
    first: int,
    size: int,
    word: np.uint64,
    hashed: np.uint64,
    place: int,
    tables: TextTables,
) -> int:
    """The slot of a text, or a free one where it belongs."""
    slots, starts, sizes, words, _ = tables
    last = slots.shape[1] - 1
    slot = np.int64(hashed >> HALF) & last
    while slots[place, slot]:
        code = slots[place, slot] - 1
        if sizes[place, code] == size and words[place, code] == word:
            if _same(content, starts[place, code], first, size):
                break
        slot = (slot + 1) & last
    return slot


@inner
def _add(
    content: Bytes,
    first: int,
    size: int,
    word: np.uint64,
    slot: int,
    place: int,
    tables: TextTables,
) -> bool:
    """Give a text the next code; return whether there is room and the text is plain."""
    slots, starts, sizes, words, counts = tables
    code = counts[place]
    if code == starts.shape[1] or not _is_plain(content, first, size):
        return False
    starts[place, code] = first
    sizes[place, code] = size
    words[place, code] = word
    counts[place] = code + 1
    slots[place, slot] = code + 1
    return True


@inner
def _same(content: Bytes, one: int, other: int, size: int) -> bool:
    """Whether two texts of the same first word are the same."""
    at = BYTES
    while at < size:
        differ = _word(content, one + at) ^ _word(content, other + at)
        if size - at < BYTES:
            differ &= (ONE << (BITS * np.uint64(size - at))) - ONE
        if differ:
            return False
        at += BYTES
    return True


@inner
def _is_plain(content: Bytes, first: int, size: int) -> bool:
    """Whether a text has no quotation mark and no line end in it."""
    for at in range(first, first + size):
        byte = content[at]
        if byte == QUOTE or byte == LINE_END or byte == RETURN:
            return False
    return True


@inner
def _word(content: Bytes, at: int) -> np.uint64:
    """Eight bytes from a place on, the first one lowest; zeros after the last."""
    word = np.uint64(0)
    if at + BYTES <= len(content):
        # Of unsigned places, so that this becomes a single load.
        start = np.uint64(at)
        for i in range(BYTES):
            shift = np.uint64(i)
            word |= np.uint64(content[start + shift]) << (BITS * shift)
        return word
    for i in range(len(content) - at):
        word |= np.uint64(content[at + i]) << (BITS * np.uint64(i))
    return word


@inner
def _zeros(word: np.uint64) -> np.uint64:
    """The high bit of the lowest byte that is 0; perhaps some of higher bytes, too."""
    return (word - ONES) & ~word & HIGH_BITS


@inner
def _bytes_before(flags: np.uint64) -> int:
    """How many bytes are below the lowest high bit."""
    below = ((flags - ONE) & ~flags) >> SEVEN
    return np.int64(((below & ONES) * ONES) >> TOP)


@inner
def _mixed(hashed: np.uint64, word: np.uint64) -> np.uint64:
    """The hash of what came before and another word."""
    product = (hashed ^ word) * SPREAD
    return product ^ (product >> HALF)
