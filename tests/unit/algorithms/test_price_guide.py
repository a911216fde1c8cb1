"""What prices tell refinement: prices of rows, and boxes that cost hardly more."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.algorithms.best.loss_bound import lower_bound
from sfumato.algorithms.best.price_guide import NEAR, price_guide
from sfumato.algorithms.best.row_prices import TuplePrices, row_prices
from sfumato.algorithms.common.compiled_rules import compile_rules
from sfumato.algorithms.refinement.refinement_task import prepare
from sfumato.models.k_anonymity import KAnonymity
from tests.unit.algorithms.lattice_cases import random_request
from tests.unit.algorithms.price_definition import every_box, spare_of_box

K = 4


def guided(seed: int):
    random = np.random.default_rng(seed)
    request = random_request(random, [KAnonymity(k=K)], columns=3, rows=80, values=5)
    return request, lower_bound(request).guide


def tuples_of(request, guide):
    """The codes of each tuple, and its rows."""
    codes = np.column_stack([coded.codes for coded in request.quasi])
    tuples, first = np.unique(guide.tuple_of, return_index=True)
    assert tuples.tolist() == list(range(len(tuples)))
    assert (codes[first][guide.tuple_of] == codes).all()
    return codes[first], np.bincount(guide.tuple_of)


@pytest.mark.parametrize("seed", range(5))
def test_the_prices_of_all_rows_make_up_the_bound(seed):
    request, guide = guided(seed)
    weight = sum(coded.axis.weight for coded in request.quasi)
    assert guide.prices.mean() / weight == pytest.approx(lower_bound(request).loss)


@pytest.mark.parametrize("seed", range(5))
def test_boxes_are_boxes_of_the_lattice_that_cost_hardly_more_than_prices_ask(seed):
    request, guide = guided(seed)
    tuples, weights = tuples_of(request, guide)
    prices = np.zeros(len(tuples))
    prices[guide.tuple_of] = guide.prices
    axes = [coded.axis for coded in request.quasi]
    near: dict[float, list[set[int]]] = {}
    for cost, inside in every_box(axes, tuples):
        spare = spare_of_box((cost, inside), weights, prices, K)
        if spare <= NEAR * cost + 1e-9:
            near.setdefault(round(cost, 9), []).append(set(inside))
    assert len(guide.costs)
    for box, cost in enumerate(guide.costs):
        inside = guide.tuples[guide.starts[box] : guide.starts[box + 1]]
        assert weights[inside].sum() >= K
        assert any(set(inside.tolist()) <= other for other in near[round(cost, 9)])


def test_what_rows_lose_anyway_does_not_make_boxes_near():
    request, guide = guided(2)
    tuples, weights = tuples_of(request, guide)
    axes = [coded.axis for coded in request.quasi]
    found = row_prices(axes, tuples, weights, least=K)
    own, raised = np.zeros(len(tuples)), np.full(len(tuples), 7.0)
    dearer = found.boxes._replace(costs=found.boxes.costs + 7.0)
    more = TuplePrices(found.prices + 7.0, dearer)
    plain = price_guide(found, weights, guide.tuple_of, own=own, least=K)
    same = price_guide(more, weights, guide.tuple_of, own=raised, least=K)
    assert 0 < len(plain.costs) < len(found.boxes.costs)
    assert same.costs == pytest.approx(plain.costs + 7.0)


def test_some_of_the_rows_keep_their_prices_and_tuples():
    _, guide = guided(1)
    some = np.array([5, 3, 70])
    part = guide.only(some)
    assert part.prices.tolist() == guide.prices[some].tolist()
    assert part.own.tolist() == guide.own[some].tolist()
    assert part.tuple_of.tolist() == guide.tuple_of[some].tolist()


def test_refinement_finds_the_price_and_the_boxes_of_each_of_its_rows():
    """Its rows are sorted by what they hold, and some of the request's are left out."""
    request, guide = guided(3)
    tuples, _ = tuples_of(request, guide)
    kept = np.random.default_rng(3).permutation(80)[:60]
    part = request.only(kept)
    groups = (np.arange(60) % 10).astype(np.int32)
    task = prepare(part, compile_rules(part), groups, guide.only(kept))
    priced = task.priced
    boxes = [set(each) for each in np.split(guide.tuples, guide.starts[1:-1])]
    assert (tuples[priced.tuple_of] == task.space.points).all()
    assert priced.prices.tolist() == guide.prices[kept][task.order].tolist()
    for t in priced.tuple_of:
        found = priced.boxes[priced.starts[t] : priced.starts[t + 1]]
        assert set(found) == {b for b, inside in enumerate(boxes) if t in inside}
