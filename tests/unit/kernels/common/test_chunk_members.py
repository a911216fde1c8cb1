"""Columns are split into chunks by joining the two cheapest, again and again."""

from __future__ import annotations

import random

import pytest

from sfumato.kernels.common.tuple_chunks import CHUNKS, TABLE_LIMIT, chunk_members


def joined_by_definition(costs: list[int]) -> list[list[int]]:
    chunks = [(cost, [column]) for column, cost in enumerate(costs)]
    while len(chunks) > CHUNKS:
        cheapest = sorted(range(len(chunks)), key=lambda at: (chunks[at][0], at))
        first, second = sorted(cheapest[:2])
        cost = chunks[first][0] * chunks[second][0]
        if cost > TABLE_LIMIT:
            break
        chunks[first] = (cost, chunks[first][1] + chunks[second][1])
        del chunks[second]
    return [sorted(columns) for _, columns in chunks]


@pytest.mark.parametrize("seed", range(200))
def test_chunks_are_those_of_the_definition(seed):
    draw = random.Random(seed)
    columns = draw.randint(1, 30)
    heights = [draw.randint(1, 5) for _ in range(columns)]
    sizes = [draw.choice([1, 2, 3, 7, 50, 4000]) for _ in range(columns)]
    costs = [height * size for height, size in zip(heights, sizes, strict=True)]
    assert chunk_members(heights, sizes) == joined_by_definition(costs)
