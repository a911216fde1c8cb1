"""DP-anonym: cuts within a budget, truthful rows in groups of k or more."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest

from sfumato.algorithms.private import dp_anonym
from sfumato.algorithms.private.dp_anonym import DpAnonym
from sfumato.dp.amplification import Poisson, WithoutReplacement
from sfumato.dp.cost import Cost
from sfumato.errors import BudgetError, InfeasibleError, PolicyError, RefusedError
from sfumato.models.average_risk import AverageRisk
from sfumato.models.differential_privacy import DifferentialPrivacy
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.t_closeness import TCloseness
from sfumato.testing.private_checks import ROWS, private_request


def solved(algorithm: DpAnonym, **changes):
    request = private_request(algorithm, **changes)
    return request, algorithm.solve(request)


def test_the_budget_is_what_the_sample_amplifies_to():
    """depth × (selection + count) on the sample; ln(1 + γ(e^ε − 1)) on the table."""
    request, solution = solved(DpAnonym(depth=4, sample=0.25))
    inner = solution.facts["epsilon_on_the_sample"]
    assert inner == pytest.approx(log(1 + (exp(2.0) - 1) / 0.25))
    assert request.ledger.spent.epsilon == pytest.approx(
        log(1 + 0.25 * (exp(inner) - 1))
    )


def test_the_parts_of_a_level_have_their_shares():
    model = DifferentialPrivacy(epsilon=2.0, budget={"selection": 1, "count": 3})
    request, _ = solved(DpAnonym(depth=2, sample=1.0), process=(model,))
    parts = request.ledger.entries[0].parts
    assert [part.cost.epsilon for part in parts] == pytest.approx([0.25, 0.75] * 2)


def test_substitution_halves_what_a_mechanism_may_spend():
    request, _ = solved(DpAnonym(depth=2, sample=0.5, sampling="without-replacement"))
    inner = WithoutReplacement(ROWS // 2, ROWS).affordable(Cost(2.0)).epsilon
    parts = request.ledger.entries[0].parts
    assert sum(part.cost.epsilon for part in parts) == pytest.approx(inner)
    assert parts[0].cost.epsilon == pytest.approx(inner / 4)


def test_rows_not_drawn_are_left_out():
    _, solution = solved(DpAnonym(sample=0.25))
    kept = int(solution.grouping.kept.sum())
    assert abs(kept / ROWS - 0.25) < (log(2e9) / (2 * ROWS)) ** 0.5  # 1e-9, Hoeffding


def test_merging_leaves_no_drawn_row_out(monkeypatch):
    drawn = np.arange(0, ROWS, 2)
    monkeypatch.setattr(dp_anonym, "poisson", lambda rows, rate: drawn)
    _, solution = solved(DpAnonym(), models=(KAnonymity(k=40),))
    assert np.flatnonzero(solution.grouping.kept).tolist() == drawn.tolist()


def test_a_group_shows_nodes_that_cover_its_rows():
    request, solution = solved(DpAnonym(), models=(KAnonymity(k=40),))
    for index, shown in enumerate(solution.quasi):
        axis, codes = shown.axis, request.quasi[index].codes
        kept = np.flatnonzero(solution.grouping.kept)
        nodes = solution.grouping.nodes[solution.grouping.group_of[kept], index]
        assert (axis.levels[:, codes[kept]] == nodes).any(axis=0).all()


def test_without_hierarchies_groups_show_intervals_and_sets():
    _, solution = solved(DpAnonym(hierarchies=False, sample=1.0))
    labels = {
        axis.axis.node_labels[node]
        for axis, column in zip(solution.quasi, solution.grouping.nodes.T, strict=True)
        for node in column
    }
    assert not labels & {"north", "south"}


def test_too_many_rows_in_small_cells_are_not_suppressed_in_silence():
    algorithm = DpAnonym(small="suppress", sample=1.0)
    with pytest.raises(InfeasibleError, match=r"takes [\d,]+ of 4,000 .*; 0 may be"):
        solved(algorithm, models=(KAnonymity(k=100),), removable=0)


def test_a_table_smaller_than_k_is_infeasible():
    with pytest.raises(
        InfeasibleError, match=r"k-anonymity\(k=9000\): none of \d+ cells"
    ):
        solved(DpAnonym(), models=(KAnonymity(k=9000),))


def test_every_round_is_charged():
    algorithm = DpAnonym(rounds=3, thresholds={"ncp": 1e-9})
    request = private_request(algorithm)
    with pytest.raises(BudgetError, match="None of 3 rounds met the thresholds"):
        algorithm.solve(request)
    assert len(request.ledger.entries) == 3
    assert request.ledger.spent.epsilon == pytest.approx(2.0)


def test_a_round_that_meets_the_thresholds_is_the_last():
    request, solution = solved(DpAnonym(rounds=4, thresholds={"ncp": 1.0}))
    assert solution.facts["rounds"] == 1
    assert request.ledger.spent.epsilon == pytest.approx(0.5)


def test_the_figures_are_those_of_all_rounds(monkeypatch):
    verdicts = iter([False, False, True])
    monkeypatch.setattr(DpAnonym, "_good_enough", lambda *_: next(verdicts))
    _, solution = solved(DpAnonym(rounds=4, sample=0.5))
    assert solution.facts["rounds"] == 3
    assert solution.facts["epsilon_amplified"] == pytest.approx(3 * 2.0 / 4)
    once = Poisson(0.5).affordable(Cost(2.0 / 4)).epsilon
    assert solution.facts["epsilon_on_the_sample"] == pytest.approx(3 * once)


def test_the_figures_are_those_of_subjects_where_they_have_several_rows():
    subject = (np.arange(ROWS) // 2).astype(np.int32)
    algorithm = DpAnonym(rows_per_subject=2, sample=0.5)
    _, solution = solved(algorithm, subject=subject)
    assert solution.facts["epsilon_amplified"] == pytest.approx(2.0)
    once = Poisson(0.5).affordable(Cost(1.0)).epsilon
    assert solution.facts["epsilon_on_the_sample"] == pytest.approx(2 * once)


def test_the_thesis_counts_one_level_only():
    """Six levels cost six times what section 7.3.3 adds up."""
    _, solution = solved(DpAnonym(depth=6, sample=0.5, accounting="thesis"))
    once = solution.facts["epsilon_on_the_sample"] / 6
    expected = Poisson(0.5).amplify(Cost(once)).epsilon
    assert solution.facts["epsilon_by_the_thesis"] == pytest.approx(expected)


@pytest.mark.parametrize("depth", [1, 16, 17, 60, "unlimited"])
@pytest.mark.parametrize("sampling", ["poisson", "without-replacement"])
def test_the_declared_epsilon_is_charged_whole_at_any_depth(depth, sampling):
    request, _ = solved(DpAnonym(depth=depth, sampling=sampling))
    assert request.ledger.spent.epsilon == pytest.approx(2.0, rel=1e-12)
    assert request.ledger.spent.within(request.ledger.budget)


def test_the_first_of_unlimited_levels_costs_a_tenth():
    _, solution = solved(DpAnonym(depth="unlimited", sample=0.5))
    inner = Poisson(0.5).affordable(Cost(2.0)).epsilon
    assert solution.facts["epsilon_per_level"] == pytest.approx(0.1 * inner)


def test_each_declared_level_costs_its_share():
    _, solution = solved(DpAnonym(depth=40, sample=1.0))
    assert solution.facts["epsilon_per_level"] == pytest.approx(2.0 / 40)


@pytest.mark.parametrize("k", [2, 10, 100, 1000])
@pytest.mark.parametrize("depth", [20, 60, "unlimited"])
def test_groups_of_deep_trees_meet_every_k_and_cover_their_rows(depth, k):
    algorithm = DpAnonym(depth=depth, sample=1.0)
    request, solution = solved(algorithm, models=(KAnonymity(k=k),))
    grouping = solution.grouping
    assert np.bincount(grouping.group_of).min() >= k
    for index, shown in enumerate(solution.quasi):
        nodes = grouping.nodes[grouping.group_of, index]
        codes = request.quasi[index].codes
        assert (shown.axis.levels[:, codes] == nodes).any(axis=0).all()


def test_how_many_levels_and_cells_a_deep_tree_had_is_not_told():
    """Both depend on which cells have rows."""
    request, solution = solved(DpAnonym(depth=60, sample=1.0))
    assert "cells" not in solution.facts
    parts = [part.what for part in request.ledger.entries[0].parts]
    assert parts == [
        "attribute of every cell, 60 levels at 0.0166667 each",
        "counts of every value in every cell, 60 levels at 0.0166667 each",
    ]


def test_relaxed_cuts_need_a_declared_depth():
    with pytest.raises(PolicyError, match="would never end"):
        DpAnonym(depth="unlimited", mode="relaxed")
    _, solution = solved(DpAnonym(depth=30, mode="relaxed", sample=1.0))
    assert solution.grouping.kept.all()


def test_thresholds_need_a_tree_whose_cells_are_all_counted():
    with pytest.raises(PolicyError, match="at most 16 levels have; 'depth' is 17"):
        DpAnonym(depth=17, thresholds={"ncp": 0.5})


def test_the_thesis_is_not_quoted_unless_asked():
    _, solution = solved(DpAnonym())
    assert "epsilon_by_the_thesis" not in solution.facts


@pytest.mark.parametrize("models", [(), (KAnonymity(k=1),)])
def test_groups_of_one_are_refused(models):
    with pytest.raises(RefusedError, match="groups of 1 would show every one"):
        solved(DpAnonym(sample=1.0), models=models)


def test_models_beyond_single_groups_are_refused():
    with pytest.raises(RefusedError, match="cannot enforce average-risk"):
        solved(DpAnonym(), models=(KAnonymity(k=2), AverageRisk(at_most=0.1)))


def test_a_comparison_with_the_source_is_refused():
    """Its measure would be published, and does not follow from the published file."""
    models = KAnonymity(k=2), TCloseness(t=0.5, reference="source")
    with pytest.raises(RefusedError, match="compare with the source, which no budget"):
        solved(DpAnonym(), models=models)


def test_several_rows_per_subject_do_not_go_with_a_fixed_sample_size():
    algorithm = DpAnonym(sampling="without-replacement", rows_per_subject=2)
    subject = (np.arange(ROWS) // 2).astype(np.int32)
    with pytest.raises(RefusedError, match="up to 2 rows of each"):
        solved(algorithm, subject=subject)


def test_subjects_of_two_rows_pay_twice():
    subject = (np.arange(ROWS) // 2).astype(np.int32)
    request, _ = solved(DpAnonym(rows_per_subject=2), subject=subject)
    entry = request.ledger.entries[0]
    assert entry.cost.epsilon == pytest.approx(2.0)
    assert entry.parts[0].cost.epsilon == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("depth", 0),
        ("depth", 1001),
        ("depth", "deep"),
        ("sample", 0.0),
        ("sample", 1.5),
        ("rounds", 0),
        ("thresholds", {"beauty": 1.0}),
        ("thresholds", {"ncp": -1.0}),
    ],
)
def test_options_out_of_range_are_refused_by_name(option, value):
    with pytest.raises(PolicyError, match=f"dp-anonym: '{option}' is"):
        DpAnonym(**{option: value})


def test_a_share_for_an_unknown_part_is_refused():
    model = DifferentialPrivacy(epsilon=1.0, budget={"luck": 1.0})
    with pytest.raises(PolicyError, match="budget names 'luck'"):
        solved(DpAnonym(), process=(model,))


def test_a_budget_without_counts_is_refused():
    model = DifferentialPrivacy(epsilon=1.0, budget={"selection": 1.0})
    with pytest.raises(PolicyError, match="No budget is left to count the values"):
        solved(DpAnonym(), process=(model,))
