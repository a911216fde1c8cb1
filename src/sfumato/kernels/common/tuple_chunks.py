"""Lay out distinct tuples of a table so that any lattice node is a few look-ups.

The quasi-identifiers are split into a few *chunks*, each with few combinations of
values that occur. A tuple is one id per chunk. For each chunk and each combination of
its levels, a table gives the group of each id. The groups of a lattice node are
then found with one look-up per chunk and tuple, whatever the number of columns.

Paper: the frequency set of all leaves, from which Incognito rolls up every other one
(LeFevre, DeWitt and Ramakrishnan 2005).
Cost: O(n log n) to collapse n rows into t tuples; tables take O(w × L) for w ids and L
combinations of levels per chunk, at most `TABLE_LIMIT` entries unless a single column
needs more.
Invariant: tuples are distinct and sorted; counts and population sum to the rows of the
two tables; two ids of a chunk have the same group at a combination of levels exactly if
their nodes agree on every column of the chunk.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from math import prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Codes, Floats, Hashes, Ints
from sfumato.kernels.compilation.decorators import both, inner

CHUNKS = 3
"""No fewer chunks than this are made of more columns than this."""
TABLE_LIMIT = 1 << 22
"""Entries in one chunk's tables, at most (a single column may need more)."""
KEY_LIMIT = 1 << 62
"""Packed keys stay below this."""


class Chunks(NamedTuple):
    """All distinct tuples, and the tables that generalize them.

    Chunk c's tables for the c-th combination of levels start at
    `start[c] + combination * width[c]` in `groups`.
    """

    ids: Hashes
    """(chunks, tuples); unsigned, so that compiled look-ups need no test of the sign."""
    counts: Codes
    """Rows with each tuple; 0 for a tuple that only the population has."""
    population: Ints
    """Rows of the population table with each tuple."""
    step: Ints
    """(chunks, columns): what a level of a column adds to the combination's number."""
    width: Ints
    start: Ints
    groups: Codes
    range_start: Ints
    ranges: Ints
    """How many groups a chunk has at a combination: ranges[range_start[c] + number]."""


class Layout(NamedTuple):
    """How rows were turned into tuples; kept to find a row's tuple again."""

    members: tuple[tuple[int, ...], ...]
    """The columns of each chunk."""
    leaves: tuple[Codes, ...]
    """(columns of the chunk, width): the codes behind each id of a chunk."""
    keys: Ints
    """Sorted packed key of each tuple."""
    row_keys: Ints
    """Packed key of each row, population rows last."""


def chunk_members(heights: Sequence[int], sizes: Sequence[int]) -> list[list[int]]:
    """Split columns into chunks whose tables stay small."""
    costs = (height * size for height, size in zip(heights, sizes, strict=True))
    # Ties go to the chunk whose first column comes first.
    cheapest = [(cost, column) for column, cost in enumerate(costs)]
    heapify(cheapest)
    chunks = {column: [column] for column in range(len(heights))}
    # Join the two cheapest: the look-ups per tuple fall, the tables stay small.
    while len(chunks) > CHUNKS:
        (cost, one), (next_cost, other) = heappop(cheapest), heappop(cheapest)
        if cost * next_cost > TABLE_LIMIT:
            break
        first, second = sorted((one, other))
        chunks[first] += chunks.pop(second)
        heappush(cheapest, (cost * next_cost, first))
    return [sorted(chunks[first]) for first in sorted(chunks)]


def build_chunks(
    codes: Sequence[Codes], levels: Sequence[Codes], *, population: int = 0
) -> tuple[Chunks, Layout]:
    """Collapse rows to tuples; count the last `population` rows as population only."""
    heights = [table.shape[0] for table in levels]
    members = chunk_members(heights, [table.shape[1] for table in levels])
    parts = [_chunk_ids([codes[j] for j in m], [levels[j] for j in m]) for m in members]
    widths = [leaves.shape[1] for _, leaves in parts]
    row_keys = _packed([ids for ids, _ in parts], widths)
    keys, ids, counts = _collapse(row_keys, [ids for ids, _ in parts], widths)
    extra = np.zeros(len(keys), dtype=np.int64)
    if population:
        at = np.searchsorted(keys, row_keys[len(row_keys) - population :])
        extra = np.bincount(at, minlength=len(keys)).astype(np.int64)
    chunks = _with_tables(members, [leaves for _, leaves in parts], levels)._replace(
        ids=ids, counts=(counts - extra).astype(np.int32), population=extra
    )
    leaves = tuple(leaves for _, leaves in parts)
    return chunks, Layout(tuple(map(tuple, members)), leaves, keys, row_keys)


def chunk_weights(
    chunks: Chunks, layout: Layout, cells: Sequence[npt.NDArray[np.float64]]
) -> Floats:
    """Sum `cells[column][level, code]` per chunk, laid out like `chunks.groups`."""
    weights = np.zeros(len(chunks.groups))
    for c, (members, leaves) in enumerate(
        zip(layout.members, layout.leaves, strict=True)
    ):
        for number, combination in enumerate(_combinations(members, cells)):
            at = chunks.start[c] + number * chunks.width[c]
            part = weights[at : at + chunks.width[c]]
            for level, column, codes in zip(combination, members, leaves, strict=True):
                part += cells[column][level][codes]
    return weights


def tuples_of_rows(layout: Layout, rows: int) -> Ints:
    """Find the tuple of each of the first `rows` rows."""
    return _find(layout.keys, layout.row_keys[:rows])


def _chunk_ids(codes: Sequence[Codes], levels: Sequence[Codes]) -> tuple[Codes, Codes]:
    """Number the combinations that occur; return each row's, and the codes behind it."""
    sizes = [table.shape[1] for table in levels]
    key = _packed(codes, sizes)
    present = np.zeros(int(np.prod(sizes, dtype=np.int64)), dtype=np.bool_)
    present[key] = True
    occurring = np.flatnonzero(present)
    number = np.cumsum(present, dtype=np.int32) - np.int32(1)
    leaves = np.stack(np.unravel_index(occurring, sizes)).astype(np.int32)
    return number[key], leaves


def _packed(codes: Sequence[Codes], sizes: Sequence[int]) -> Ints:
    """Pack codes into one number per row, in their order; renumber before overflow."""
    key = codes[0].astype(np.int64)
    cells = sizes[0]
    for column, size in zip(codes[1:], sizes[1:], strict=True):
        if cells > KEY_LIMIT // size:
            present, key = np.unique(key, return_inverse=True)
            cells = len(present)
        key *= size
        key += column
        cells *= size
    return key


def _collapse(
    row_keys: Ints, ids: Sequence[Codes], widths: Sequence[int]
) -> tuple[Ints, Hashes, Ints]:
    """Return sorted distinct keys, their chunk ids and how many rows have each."""
    if prod(widths) >= KEY_LIMIT:
        keys, first, counts = np.unique(row_keys, return_index=True, return_counts=True)
        parts = np.stack([column[first] for column in ids]).astype(np.uint32)
        return keys, parts, counts
    # Keys that never overflowed hold the ids themselves: sorting values alone is faster
    # than `unique` with indexes, and the ids are unpacked again.
    ordered = np.sort(row_keys)
    new = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    keys = ordered[new]
    parts = np.stack(np.unravel_index(keys, widths)).astype(np.uint32)
    return keys, parts, np.diff(np.append(new, len(ordered)))


def _with_tables(
    members: Sequence[Sequence[int]], leaves: Sequence[Codes], levels: Sequence[Codes]
) -> Chunks:
    tables, ranges, starts, range_starts = [], [], [0], [0]
    step = np.zeros((len(members), len(levels)), dtype=np.int64)
    for c, (columns, codes) in enumerate(zip(members, leaves, strict=True)):
        steps = np.cumprod([1] + [levels[j].shape[0] for j in columns[:0:-1]])[::-1]
        step[c, list(columns)] = steps
        dense = [_dense(levels[j]) for j in columns]
        for combination in _combinations(columns, levels):
            picked = [
                nodes[level][leaf]
                for nodes, level, leaf in zip(dense, combination, codes, strict=True)
            ]
            sizes = [int(part.max()) + 1 for part in picked]
            key = _packed(picked, sizes)
            present = np.zeros(int(np.prod(sizes, dtype=np.int64)), dtype=np.bool_)
            present[key] = True
            number = np.cumsum(present, dtype=np.int32)
            tables.append(number[key] - np.int32(1))
            ranges.append(int(number[-1]))
        starts.append(sum(map(len, tables)))
        range_starts.append(len(ranges))
    return Chunks(
        ids=np.zeros((0, 0), dtype=np.uint32),
        counts=np.zeros(0, dtype=np.int32),
        population=np.zeros(0, dtype=np.int64),
        step=step,
        width=np.array([codes.shape[1] for codes in leaves], dtype=np.int64),
        start=np.array(starts[:-1], dtype=np.int64),
        groups=np.concatenate(tables).astype(np.int32),
        range_start=np.array(range_starts[:-1], dtype=np.int64),
        ranges=np.array(ranges, dtype=np.int64),
    )


def _combinations(
    columns: Sequence[int], levels: Sequence[npt.NDArray[np.generic]]
) -> list[tuple[int, ...]]:
    return list(np.ndindex(*(levels[j].shape[0] for j in columns)))


def _dense(nodes: Codes) -> list[Codes]:
    """Renumber the nodes of each level from 0 in the order of the codes."""
    return [
        np.unique(level, return_inverse=True)[1].astype(np.int32) for level in nodes
    ]


@inner
def hash_slot(key: int, mask: int) -> int:
    """Return where to look first for a key in a table of mask + 1 slots.

    Fibonacci hashing: the upper bits of a product with the golden ratio mix well.
    """
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return int(np.int64(mixed >> np.uint64(32)) & mask)


@both
def _find(keys: Ints, wanted: Ints) -> Ints:
    """Find the position of each wanted key, all of which occur in `keys`."""
    slots = 1024
    while slots < 2 * len(keys):
        slots *= 2
    table = np.full(slots, -1, dtype=np.int64)
    for i in range(len(keys)):
        slot = hash_slot(keys[i], slots - 1)
        while table[slot] >= 0:
            slot = (slot + 1) & (slots - 1)
        table[slot] = i
    found = np.empty(len(wanted), dtype=np.int64)
    for i in range(len(wanted)):
        slot = hash_slot(wanted[i], slots - 1)
        while keys[table[slot]] != wanted[i]:
            slot = (slot + 1) & (slots - 1)
        found[i] = table[slot]
    return found
