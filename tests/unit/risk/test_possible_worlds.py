"""What an attacker who knows the algorithm believes."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.grouping import Grouping
from sfumato.data.seeds import Seed
from sfumato.risk.possible_worlds import (
    Published,
    canonical,
    drawn_posteriors,
    exact_posteriors,
    guessed,
    same_groups,
)

SEED = Seed.guessable(1)
rows = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=6)


def published(pairs) -> Published:
    group, values = (
        np.array(part, dtype=np.int32) for part in zip(*pairs, strict=True)
    )
    return Published(Grouping.renumbered(group), values)


def grouped(*groups) -> Grouping:
    return Grouping.renumbered(np.array(groups))


def of_one_group(*values) -> Published:
    return Published(grouped(*[0] * len(values)), np.array(values, dtype=np.int32))


def dealt(seen: Published) -> set[tuple[int, ...]]:
    """Every world from its definition: permutations that keep each group's values."""
    rows = range(len(seen.values))
    found = set()
    for order in permutations(rows):
        if all(seen.group[order[row]] == seen.group[row] for row in rows):
            found.add(tuple(int(seen.values[order[row]]) for row in rows))
    return found


@given(rows)
def test_every_world_is_tried_once(pairs):
    seen = published(pairs)
    worlds = [tuple(world.tolist()) for world in seen.every_world()]
    assert len(worlds) == len(set(worlds)) == seen.worlds()
    assert set(worlds) == dealt(seen)


@given(rows, st.integers(0, 99))
def test_a_world_that_is_drawn_is_one_of_them(pairs, number):
    seen = published(pairs)
    assert tuple(seen.drawn(Seed.guessable(number)).tolist()) in dealt(seen)


def merge_if_alike(values, _seed):
    """Groups of two neighbors; four together where a pair shares its value."""
    if values[0] == values[1] or values[2] == values[3]:
        return grouped(0, 0, 0, 0)
    return grouped(0, 0, 1, 1)


def test_a_merge_that_was_needed_gives_values_away():
    """Of x, x, y, y, four together: one pair has both x. Two of six worlds are left."""
    seen = of_one_group(0, 0, 1, 1)
    found = exact_posteriors(seen, merge_if_alike, SEED)
    assert found.tolist() == [[0.5, 0.5]] * 4
    seen = of_one_group(0, 0, 0, 1)
    found = exact_posteriors(seen, merge_if_alike, SEED)
    assert found.tolist() == [[0.75, 0.25]] * 4


def first_pair_alike(values, _seed):
    """All together where the first two share a value."""
    return grouped(0, 0, 0, 0) if values[0] == values[1] else grouped(0, 0, 1, 1)


def test_the_attacker_believes_what_is_left():
    """Of x, x, x, y, the first two alike: the y is the third's or the fourth's."""
    seen = of_one_group(0, 0, 0, 1)
    found = exact_posteriors(seen, first_pair_alike, SEED)
    assert found.tolist() == [[1, 0], [1, 0], [0.5, 0.5], [0.5, 0.5]]
    assert guessed(found, seen.values).tolist() == [1, 1, 0.5, 0.5]
    many = drawn_posteriors(seen, first_pair_alike, SEED, worlds=2000)
    # The group's own shares weigh 20 of about 1,020 worlds.
    assert many[0, 0] == pytest.approx((15 + 1000) / 1020, abs=0.01)
    assert many[2, 0] == pytest.approx((15 + 500) / 1020, abs=0.05)


def test_where_nothing_is_made_again_the_group_is_believed():
    seen = of_one_group(0, 0, 1)
    found = exact_posteriors(seen, lambda values, seed: grouped(0, 1, 2), SEED)
    assert found == pytest.approx(seen.shares())


@given(st.lists(st.integers(-1, 3), min_size=1, max_size=8), st.permutations(range(4)))
def test_numbers_of_groups_do_not_matter(group, names):
    one = np.array(group, dtype=np.int32)
    other = np.array([g if g < 0 else names[g] for g in group], dtype=np.int32)
    assert canonical(one).tolist() == canonical(other).tolist()
    again = same_groups(grouped(*one), grouped(*other))
    assert again.tolist() == [g >= 0 for g in group]


def test_a_group_is_the_same_if_it_has_the_same_rows():
    one, other = grouped(0, 0, 1, 1, 2, -1), grouped(5, 5, 6, 7, 7, 8)
    assert same_groups(one, other).tolist() == [True, True, False, False, False, False]


def test_a_group_that_is_shown_otherwise_is_another():
    group = np.array([0, 0, 1], dtype=np.int32)
    one = Grouping(group, 2, np.array([[0], [1]], dtype=np.int16))
    other = Grouping(group, 2, np.array([[1], [1]], dtype=np.int16))
    assert same_groups(one, other).tolist() == [False, False, True]
