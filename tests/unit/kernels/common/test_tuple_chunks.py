"""Distinct tuples and their tables against plain sets and counts of rows."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest

from sfumato.kernels.common import tuple_chunks
from sfumato.kernels.common.tuple_chunks import (
    Chunks,
    build_chunks,
    chunk_weights,
    tuples_of_rows,
)
from tests.unit.algorithms.lattice_cases import random_axis


def random_table(random, *, columns, rows):
    axes = [random_axis(random, f"q{j}") for j in range(columns)]
    codes = [random.integers(0, a.size, rows).astype(np.int32) for a in axes]
    return axes, codes


def group_of(chunks: Chunks, levels, tuple_: int) -> tuple[int, ...]:
    """The group of a tuple on each chunk, read from the tables."""
    found = []
    for c in range(len(chunks.width)):
        at = chunks.start[c] + chunks.step[c] @ np.array(levels) * chunks.width[c]
        found.append(int(chunks.groups[at + chunks.ids[c, tuple_]]))
    return tuple(found)


@pytest.fixture(params=[1 << 22, 8], ids=["wide chunks", "narrow chunks"])
def table_limit(request, monkeypatch):
    monkeypatch.setattr(tuple_chunks, "TABLE_LIMIT", request.param)


@pytest.mark.usefixtures("table_limit")
@pytest.mark.parametrize("seed", range(12))
def test_tuples_are_the_distinct_rows_and_their_counts(seed):
    random = np.random.default_rng(seed)
    columns, rows = int(random.integers(1, 6)), int(random.integers(1, 40))
    people = int(random.integers(0, 10))
    axes, codes = random_table(random, columns=columns, rows=rows + people)
    chunks, layout = build_chunks(codes, [a.levels for a in axes], population=people)
    shown = list(zip(*(c.tolist() for c in codes), strict=True))
    of_row = tuples_of_rows(layout, rows).tolist()
    behind: dict[int, set[tuple[int, ...]]] = {}
    for row in range(rows):
        behind.setdefault(of_row[row], set()).add(shown[row])
    assert all(len(rows_of_one) == 1 for rows_of_one in behind.values())
    assert len(behind) == len(set(shown[:rows]))
    own, others = Counter(shown[:rows]), Counter(shown[rows:])
    assert len(chunks.counts) == len(set(shown))
    assert sorted(zip(chunks.counts, chunks.population, strict=True)) == sorted(
        (own[cells], others[cells]) for cells in set(shown)
    )


@pytest.mark.usefixtures("table_limit")
@pytest.mark.parametrize("seed", range(12))
def test_two_tuples_share_a_group_exactly_if_their_nodes_are_equal(seed):
    random = np.random.default_rng(seed)
    columns, rows = int(random.integers(1, 6)), int(random.integers(1, 20))
    axes, codes = random_table(random, columns=columns, rows=rows)
    chunks, layout = build_chunks(codes, [axis.levels for axis in axes])
    of_row = tuples_of_rows(layout, rows)
    nodes = list(product(*(range(axis.height) for axis in axes)))
    for at in random.choice(len(nodes), size=min(20, len(nodes)), replace=False):
        levels = nodes[at]
        shown = [
            tuple(
                int(a.levels[v, c[row]])
                for a, v, c in zip(axes, levels, codes, strict=True)
            )
            for row in range(rows)
        ]
        groups = [group_of(chunks, levels, int(t)) for t in of_row]
        assert len(set(zip(shown, groups, strict=True))) == len(set(shown))
        assert len(set(groups)) == len(set(shown))


@pytest.mark.parametrize("seed", range(8))
def test_weights_are_sums_over_the_columns_of_a_chunk(seed):
    random = np.random.default_rng(seed)
    axes, codes = random_table(random, columns=int(random.integers(1, 6)), rows=15)
    chunks, layout = build_chunks(codes, [axis.levels for axis in axes])
    cells = [random.random((axis.height, axis.size)) for axis in axes]
    weights = chunk_weights(chunks, layout, cells)
    of_row = tuples_of_rows(layout, 15)
    for levels in product(*(range(axis.height) for axis in axes)):
        places = chunks.start + (chunks.step @ np.array(levels)) * chunks.width
        for row in range(15):
            ids = chunks.ids[:, of_row[row]].astype(np.int64)
            expected = sum(
                cell[v, c[row]] for cell, v, c in zip(cells, levels, codes, strict=True)
            )
            assert weights[places + ids].sum() == pytest.approx(expected)


def test_more_columns_than_fit_one_number_are_renumbered():
    random = np.random.default_rng(5)
    codes = [random.integers(0, 2**20, 50).astype(np.int32) for _ in range(5)]
    levels = [np.array([range(2**20), [2**20] * 2**20], dtype=np.int32) for _ in codes]
    chunks, layout = build_chunks(codes, levels)
    assert len(chunks.counts) == 50
    assert len(set(tuples_of_rows(layout, 50).tolist())) == 50
