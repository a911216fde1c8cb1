"""The search for tight boxes and the climb of prices, compared with definitions."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.algorithms.best.row_prices import TupleLattice
from sfumato.kernels.best.price_ascent import KnownBoxes, climb, known_spare
from sfumato.kernels.best.tight_boxes import (
    FOUND,
    LOOKS,
    PricedTuples,
    find_tight_boxes,
    room_for_boxes,
)
from tests.unit.algorithms.lattice_cases import tree_axis
from tests.unit.algorithms.price_definition import (
    every_box,
    spare_of_box,
    spare_prices,
)

PATHS = [[f"{i}", f"{i // 2}-", f"{i // 4}+", "*"] for i in range(7)]
UNEVEN = [["x", "x", "*"], ["y", "z", "*"], ["w", "z", "*"]]
AXES = [tree_axis("a", PATHS), tree_axis("b", UNEVEN), tree_axis("c", PATHS[:3])]
MANY = 1_000_000


def drawn_table(seed: int):
    """Tuples in the order of their prices, with their rows."""
    numbers = np.random.default_rng(seed)
    sizes = [axis.size for axis in AXES]
    tuples = np.unique(numbers.integers(0, sizes, (25, 3)), axis=0).astype(np.int32)
    prices = np.sort(numbers.normal(0.5, 1.0, len(tuples)))[::-1].copy()
    return (
        tuples[numbers.permutation(len(tuples))],
        numbers.integers(1, 4, len(tuples)),
        prices,
    )


def searched(table, k: int, part: int = 0, parts: int = 1, looks=MANY, room=MANY):
    tuples, rows, prices = table
    lattice = TupleLattice.of(AXES, tuples, rows)
    spare, boxes = np.full(len(rows), np.inf), room_for_boxes(room, room, looks)
    priced = PricedTuples(lattice.nodes, rows, prices)
    find_tight_boxes(priced, lattice.costs, k, part, parts, spare, boxes)
    return spare, boxes


def known(boxes) -> KnownBoxes:
    count = boxes.numbers[FOUND]
    starts = boxes.starts[: count + 1]
    return KnownBoxes(boxes.costs[:count], starts, boxes.tuples[: starts[-1]].copy())


@pytest.mark.parametrize("k", [1, 2, 5, 12])
@pytest.mark.parametrize("seed", range(8))
def test_the_spare_of_each_tuple_is_the_least_of_all_boxes(seed, k):
    tuples, rows, prices = drawn_table(seed)
    spare, _ = searched((tuples, rows, prices), k)
    assert spare == pytest.approx(spare_prices(AXES, tuples, rows, prices, k))


@pytest.mark.parametrize("parts", [2, 3, 7])
def test_the_parts_of_a_search_make_up_the_whole(parts):
    table = drawn_table(3)
    found = [searched(table, 4, part, parts)[0] for part in range(parts)]
    assert np.min(found, axis=0).tolist() == searched(table, 4)[0].tolist()


@pytest.mark.parametrize("room", [0, 20])
def test_spares_do_not_depend_on_room_for_boxes(room):
    table = drawn_table(5)
    spare, boxes = searched(table, 4, room=room)
    assert spare.tolist() == searched(table, 4)[0].tolist()
    assert boxes.numbers[FOUND] <= room


def test_a_limit_ends_the_search():
    table = drawn_table(5)
    whole = int(searched(table, 4)[1].numbers[LOOKS])
    assert searched(table, 4, looks=whole)[1].numbers[LOOKS] == whole
    assert whole // 2 < searched(table, 4, looks=whole // 2)[1].numbers[LOOKS] < whole


@pytest.mark.parametrize("seed", range(5))
def test_every_box_that_is_kept_is_one_of_the_lattice(seed):
    """It has the cost of a box around its tuples, and among them the k highest prices."""
    tuples, rows, prices = drawn_table(seed)
    boxes = known(searched((tuples, rows, prices), 4)[1])
    every = list(every_box(AXES, tuples))
    for box, cost in enumerate(boxes.costs):
        inside = boxes.tuples[boxes.starts[box] : boxes.starts[box + 1]]
        spare = spare_of_box((cost, list(inside)), rows, prices, 4)
        assert any(
            cost == pytest.approx(other[0])
            and set(inside) <= set(other[1])
            and spare == pytest.approx(spare_of_box(other, rows, prices, 4))
            for other in every
        )


def spare_by_definition(boxes, rows, prices, k):
    result = np.full(len(rows), np.inf)
    for box, cost in enumerate(boxes.costs):
        inside = boxes.tuples[boxes.starts[box] : boxes.starts[box + 1]]
        spare = spare_of_box((cost, list(inside)), rows, prices, k)
        result[inside] = np.minimum(result[inside], spare)
    return result


@pytest.mark.parametrize("k", [1, 3, 8])
@pytest.mark.parametrize("seed", range(5))
def test_known_boxes_have_what_their_tuples_leave_to_spare(seed, k):
    table = drawn_table(seed)
    rows, boxes = table[1], known(searched(table, k)[1])
    before = sorted(boxes.tuples)
    for other in range(4):
        prices = np.random.default_rng(other).normal(0.0, 2.0, len(rows))
        spare = known_spare(boxes, rows, k, prices)
        assert spare == pytest.approx(spare_by_definition(boxes, rows, prices, k))
    assert sorted(boxes.tuples) == before


@pytest.mark.parametrize("k", [2, 6])
@pytest.mark.parametrize("seed", range(5))
def test_a_climb_ends_at_prices_that_are_fair_in_known_boxes(seed, k):
    table = drawn_table(seed)
    rows, (spare, found) = table[1], searched(table, k)
    boxes, start = known(found), table[2] + spare
    sums = []
    for steps in (1, 5, 40):
        prices = climb(boxes, rows, k, start, steps)
        assert spare_by_definition(boxes, rows, prices, k).min() >= -1e-12
        sums.append(prices @ rows)
    assert sums == sorted(sums)
    assert sums[0] >= start @ rows - 1e-12


def test_no_steps_change_nothing():
    table = drawn_table(1)
    boxes = known(searched(table, 3)[1])
    assert climb(boxes, table[1], 3, table[2], 0).tolist() == table[2].tolist()
