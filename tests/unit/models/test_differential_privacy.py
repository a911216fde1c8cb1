"""The process model: its parameters, its shares, and what a ledger must say."""

from __future__ import annotations

import pytest

from sfumato.dp.cost import Cost, Relation
from sfumato.dp.ledger import Ledger
from sfumato.errors import PolicyError
from sfumato.models.differential_privacy import DifferentialPrivacy


def ledger_with(*costs: Cost) -> Ledger:
    ledger = Ledger(budget=Cost(9.0, 0.5), relation=Relation.ADD_REMOVE)
    for cost in costs:
        ledger.charge("a use", cost, rows="all rows")
    return ledger


def test_a_ledger_within_the_requirement_meets_it():
    verdict = DifferentialPrivacy(epsilon=1.0, delta=1e-6).certify(
        ledger_with(Cost(0.5), Cost(0.25, 1e-6))
    )
    assert verdict.holds
    assert verdict.measured == 0.75


@pytest.mark.parametrize("cost", [Cost(1.5), Cost(0.5, 1e-5)])
def test_a_ledger_beyond_the_requirement_does_not(cost):
    model = DifferentialPrivacy(epsilon=1.0, delta=1e-6)
    assert not model.certify(ledger_with(cost)).holds


@pytest.mark.parametrize("epsilon", [0.0, -1.0, float("nan"), 11.0])
def test_an_epsilon_that_promises_nothing_is_refused(epsilon):
    with pytest.raises(PolicyError, match="differential-privacy: epsilon is"):
        DifferentialPrivacy(epsilon=epsilon)


def test_a_delta_near_one_is_refused():
    with pytest.raises(PolicyError, match=r"delta is 0\.5"):
        DifferentialPrivacy(epsilon=1.0, delta=0.5)


def test_shares_add_up_to_one():
    model = DifferentialPrivacy(epsilon=1.0, budget={"count": 3, "selection": 1})
    assert model.shares({"selection": 0.5, "count": 0.5}) == {
        "selection": 0.25,
        "count": 0.75,
    }


def test_shares_left_out_are_the_algorithms():
    model = DifferentialPrivacy(epsilon=1.0)
    assert model.shares({"a": 0.2, "b": 0.8}) == {"a": 0.2, "b": 0.8}


@pytest.mark.parametrize("share", [-1, float("nan"), float("inf")])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(PolicyError, match=rf"budget\.count is {share}"):
        DifferentialPrivacy(epsilon=1.0, budget={"count": share})
