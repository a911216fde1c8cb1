"""The arithmetic of costs, worked by hand, and a budget that holds."""

from __future__ import annotations

from math import exp, log

import pytest

from sfumato.dp.amplification import Poisson, WithoutReplacement, WithReplacement
from sfumato.dp.cost import (
    Cost,
    Relation,
    advanced,
    group,
    parallel,
    per_row,
    sequential,
)
from sfumato.dp.ledger import Ledger
from sfumato.errors import BudgetError, PolicyError, RefusedError

ADD_REMOVE, SUBSTITUTION = Relation.ADD_REMOVE, Relation.SUBSTITUTION


def ledger(epsilon: float = 1.0, delta: float = 0.0, **options) -> Ledger:
    options.setdefault("relation", ADD_REMOVE)
    return Ledger(budget=Cost(epsilon, delta), **options)


def test_uses_of_the_same_rows_add_up():
    assert sequential([Cost(0.25, 1e-6), Cost(0.5), Cost(0.125, 3e-6)]) == Cost(
        0.875, 4e-6
    )


def test_uses_of_disjoint_rows_cost_the_highest_where_a_row_is_added():
    assert parallel([Cost(0.1), Cost(0.4, 1e-6)], relation=ADD_REMOVE) == Cost(
        0.4, 1e-6
    )


def test_uses_of_disjoint_rows_cost_the_two_highest_where_a_row_is_substituted():
    costs = [Cost(0.25), Cost(0.5), Cost(0.125)]
    assert parallel(costs, relation=SUBSTITUTION) == Cost(0.75)


@pytest.mark.parametrize(("relation", "factor"), [(ADD_REMOVE, 1), (SUBSTITUTION, 2)])
def test_a_tree_costs_its_depth_times_both_parts_doubled_under_substitution(
    relation, factor
):
    """Five levels of 16 cells; 0.0625 to choose an attribute, 0.125 for the counts."""
    account = ledger(10.0, relation=relation)
    for level in range(5):
        account.charge_parts(f"attribute, {level}", [Cost(0.0625)] * 16, rows="cells")
        account.charge_parts(f"counts, {level}", [Cost(0.125)] * 16, rows="cells")
    assert account.spent == Cost(factor * 5 * (0.0625 + 0.125))


def test_a_group_of_three_costs_three_times_epsilon_and_more_than_three_times_delta():
    """δ(e^0 + e^ε + e^2ε), the sum over the steps from one table to the other."""
    cost = group(Cost(0.5, 1e-6), size=3)
    assert cost.epsilon == 1.5
    assert cost.delta == pytest.approx(1e-6 * (1 + exp(0.5) + exp(1.0)))


def test_what_a_row_may_cost_undoes_group_privacy():
    back = group(per_row(Cost(1.0, 1e-6), size=4), size=4)
    assert (back.epsilon, back.delta) == pytest.approx((1.0, 1e-6))


def test_advanced_composition_equals_its_formula():
    """200 uses at 0.05: drift Σ ε(e^ε − 1)/(e^ε + 1), spread √(2·0.5·ln 1e6)."""
    drift = 200 * 0.05 * (exp(0.05) - 1) / (exp(0.05) + 1)
    spread = (2 * 200 * 0.05**2 * log(1e6)) ** 0.5
    total = advanced([Cost(0.05, 1e-9)] * 200, slack=1e-6)
    assert total.epsilon == pytest.approx(drift + spread)
    assert total.delta == pytest.approx(1 - (1 - 1e-6) * (1 - 1e-9) ** 200)


def test_advanced_composition_is_never_worse_than_the_sum():
    assert advanced([Cost(0.5)] * 3, slack=1e-6) == Cost(1.5)


def test_a_ledger_with_slack_takes_more_uses_than_one_without():
    account = ledger(3.0, 1e-5, slack=1e-6)
    for number in range(100):
        account.charge(f"count {number}", Cost(0.05), rows="all rows")
    assert account.spent.epsilon == pytest.approx(2.753, abs=1e-3)


def test_a_use_beyond_the_budget_is_refused_with_both_numbers():
    account = ledger(0.5)
    account.charge("a first count", Cost(0.375), rows="all rows")
    with pytest.raises(BudgetError, match=r"'a second count' .* epsilon 0\.625.*0\.5,"):
        account.charge("a second count", Cost(0.25), rows="all rows")


def test_a_refused_use_is_not_entered():
    account = ledger(0.5)
    with pytest.raises(BudgetError):
        account.charge("too much", Cost(0.75), rows="all rows")
    assert account.spent == Cost(0.0)


def test_a_delta_beyond_the_budget_is_refused():
    with pytest.raises(BudgetError, match=r"delta 1e-05.*delta 1e-06"):
        ledger(1.0, 1e-6).charge("noise", Cost(0.1, 1e-5), rows="all rows")


def test_a_budget_spent_in_ten_equal_parts_is_not_overdrawn_by_rounding():
    account = ledger(1.0)
    for number in range(10):
        account.charge(f"part {number}", Cost(0.1), rows="all rows")
    assert account.remaining.epsilon == pytest.approx(0.0)


def test_an_overdrawn_budget_ends_with_exit_code_4():
    with pytest.raises(BudgetError) as caught:
        ledger(0.5).charge("too much", Cost(1.0), rows="all rows")
    assert caught.value.exit_code == 4


def test_a_claim_about_other_neighbors_is_refused():
    text = "counts add-remove neighbors; a claim about substitution neighbors"
    with pytest.raises(RefusedError, match=text):
        ledger().charge("a count", Cost(0.1), rows="all rows", relation=SUBSTITUTION)


def test_a_sample_of_fixed_size_is_refused_under_added_rows():
    with pytest.raises(RefusedError, match="Poisson sampling goes with add-remove"):
        ledger().sample(WithoutReplacement(size=5, rows=10), share=Cost(1.0))


def test_what_a_sample_spends_is_entered_amplified():
    account = ledger(1.0)
    sampling = Poisson(0.25)
    inner = account.sample(sampling, share=Cost(1.0))
    inner.charge("counts", Cost(1.0), rows="the sample")
    account.settle("a sample", inner, sampling)
    assert account.spent.epsilon == pytest.approx(log(1 + 0.25 * (exp(1.0) - 1)))


def test_a_sample_may_spend_what_amplifies_to_its_share():
    inner = ledger(1.0).sample(Poisson(0.25), share=Cost(1.0))
    assert inner.budget.epsilon == pytest.approx(log(1 + (exp(1.0) - 1) / 0.25))


def test_a_sample_worth_more_than_is_left_is_refused_before_it_is_used():
    account = ledger(1.0)
    account.charge("a count", Cost(0.5), rows="all rows")
    with pytest.raises(BudgetError, match=r"a sample worth epsilon 0\.75"):
        account.sample(Poisson(0.5), share=Cost(0.75))


def test_rows_drawn_several_times_cost_what_they_could_afford():
    account = Ledger(budget=Cost(1.0), relation=SUBSTITUTION)
    sampling = WithReplacement(size=3, rows=8)
    inner = account.sample(sampling, share=Cost(1.0))
    inner.charge("counts", inner.budget, rows="the sample")
    account.settle("counts of a sample", inner, sampling)
    assert account.spent.epsilon == pytest.approx(1.0)
    assert account.spent.delta == 0


def test_subjects_of_two_rows_pay_twice():
    account = ledger(1.0)
    inner = ledger(0.5)
    inner.charge("counts", Cost(0.5), rows="all rows")
    account.settle_subjects("subjects", inner, size=2)
    assert account.spent == Cost(1.0)


def test_the_record_names_every_use_with_its_cost_and_rows():
    account = ledger()
    account.charge("a count", Cost(0.25), rows="all rows")
    assert account.record() == {
        "relation": "add-remove",
        "epsilon": 0.25,
        "delta": 0.0,
        "entries": [
            {"what": "a count", "epsilon": 0.25, "delta": 0.0, "rows": "all rows"}
        ],
    }


@pytest.mark.parametrize("epsilon", [-1.0, float("nan"), float("inf")])
def test_a_cost_without_a_finite_epsilon_is_refused(epsilon):
    with pytest.raises(PolicyError, match="epsilon must be a number of at least 0"):
        Cost(epsilon)


def test_a_delta_of_one_is_refused():
    with pytest.raises(PolicyError, match=r"delta must lie in \[0, 1\); it is 1"):
        Cost(1.0, 1.0)
