"""The optimum under requirements on the whole table, against trying everything."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, combinations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.algorithms.full_domain.level_losses import METRICS
from sfumato.algorithms.full_domain.optimal import Optimal
from sfumato.algorithms.full_domain.table_wide_models import TableWide
from sfumato.models.average_risk import AverageRisk
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.t_closeness import TCloseness
from sfumato.models.uniqueness import Uniqueness
from tests.unit.algorithms.lattice_cases import (
    all_nodes,
    groups_at,
    losses_of,
    random_request,
)


def mean_at_most(limit):
    return lambda groups: len(groups) <= limit * sum(map(len, groups)) + 1e-9


def singles_at_most(limit):
    def holds(groups):
        singles = sum(len(group) == 1 for group in groups)
        return singles <= limit * sum(map(len, groups)) + 1e-9

    return holds


ASKED = [
    (AverageRisk(at_most=0.2), mean_at_most(0.2)),
    (AverageRisk(at_most=0.34), mean_at_most(0.34)),
    (Uniqueness(at_most=0.1), singles_at_most(0.1)),
    (Uniqueness(at_most=0), singles_at_most(0)),
]


def requests(models, *, seed, count, rows, removable):
    random = np.random.default_rng(seed)
    return [
        random_request(random, models, columns=3, rows=rows, removable=removable)
        for _ in range(count)
    ]


def kept_sets(groups, removable):
    """Every choice of groups that leaves out few enough rows and keeps some."""
    total = sum(map(len, groups))
    sets = chain.from_iterable(
        combinations(groups, size) for size in range(1, len(groups) + 1)
    )
    return [kept for kept in sets if total - sum(map(len, kept)) <= removable]


def facts_of(request, metric="ncp"):
    return Optimal(metric=metric).search(request).facts


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("model", "holds"), ASKED, ids=lambda case: str(case)[:24])
def test_with_every_row_kept_it_is_the_best_node_that_meets_it(model, holds, metric):
    for request in requests([model], seed=1, count=12, rows=25, removable=0):
        found = []
        for node in all_nodes(request):
            groups = groups_at(request, node)
            if holds(groups):
                found.append(losses_of(request, node, groups, 1)[metric])
        facts = facts_of(request, metric)
        assert facts["proven"]
        assert facts[metric] == pytest.approx(min(found), abs=1e-12)


@pytest.mark.parametrize("limit", [0, 0.1, 0.25])
def test_uniqueness_with_rows_left_out_is_the_best_choice_of_nodes_and_groups(limit):
    holds = singles_at_most(limit)
    models = [Uniqueness(at_most=limit)]
    for request in requests(models, seed=2, count=12, rows=9, removable=2):
        best = min(
            losses_of(request, node, kept, 1)["ncp"]
            for node in all_nodes(request)
            for kept in kept_sets(groups_at(request, node), 2)
            if holds(kept)
        )
        facts = facts_of(request)
        assert facts["proven"]
        assert facts["ncp"] == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("limit", [0.2, 0.34, 0.5])
def test_no_choice_of_groups_meets_a_mean_risk_with_fewer_rows_left_out(limit):
    wide, holds = TableWide((AverageRisk(at_most=limit),)), mean_at_most(limit)
    for request in requests([], seed=3, count=6, rows=9, removable=0):
        for node in all_nodes(request):
            groups = groups_at(request, node)
            sets = [kept for kept in kept_sets(groups, 9) if holds(kept)]
            fewest = min((9 - sum(map(len, kept)) for kept in sets), default=9)
            sizes = np.sort([len(group) for group in groups])
            assert sizes[: wide.fewest(sizes)].sum() == fewest


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("removable", [2, 6])
def test_mean_risk_with_rows_left_out_is_the_best_node_of_all(removable, k):
    """Where groups below k go first, and then the smallest until the mean is met."""
    models, holds = [KAnonymity(k=k), AverageRisk(at_most=0.25)], mean_at_most(0.25)
    for request in requests(models, seed=4, count=15, rows=24, removable=removable):
        found = []
        for node in all_nodes(request):
            kept = sorted(groups_at(request, node), key=len)
            kept = [group for group in kept if len(group) >= k]
            while kept and not holds(kept):
                kept = without_the_cheapest(request, node, kept)
            if kept and request.rows - sum(map(len, kept)) <= removable:
                found.append(losses_of(request, node, kept, 1)["ncp"])
        facts = facts_of(request)
        assert (facts["proven"], facts["bound"]) == (False, 0.0)
        assert facts["rows_suppressed"] <= removable
        assert facts["ncp"] == pytest.approx(min(found), abs=1e-12)


def test_mean_risk_with_rows_left_out_is_not_called_proven_where_others_cost_less(
    tmp_path,
):
    """A single shows everything, two rows beside it next to nothing: they should go."""
    leaves = ["y", "z1", "z2", *(f"x{n}" for n in range(80))]
    lines = [f"{leaf},{leaf[0].upper()},*" for leaf in leaves]
    (tmp_path / "value.csv").write_text("\n".join(lines) + "\n")
    values = ["y", "x1", "x2", *["z1"] * 5, *["z2"] * 5]
    release = sf.anonymize(
        pa.table({"value": values}),
        quasi="value",
        hierarchies={"value": str(tmp_path / "value.csv")},
        require=[{"model": "average-risk", "at_most": 0.2}],
        algorithm="optimal",
        max_suppressed=3 / 13,
    )
    best = (2 + 10 / 82) / 13
    assert release.utility["ncp"] > best + 0.05
    assert not release.manifest["search"]["proven"]


def without_the_cheapest(request, node, kept):
    smallest = min(map(len, kept))
    ways = [
        [group for group in kept if group is not gone]
        for gone in kept
        if len(gone) == smallest
    ]
    return min(ways, key=lambda left: losses_of(request, node, left, 1)["ncp"])


def test_it_loses_less_than_the_rule_on_groups_that_would_suffice():
    stricter = {"average-risk": KAnonymity(k=5), "uniqueness": KAnonymity(k=2)}
    for model in (AverageRisk(at_most=0.2), Uniqueness(at_most=0.2)):
        asked = requests([model], seed=5, count=10, rows=40, removable=0)
        rules = [replace(each, models=(stricter[model.name],)) for each in asked]
        wide = [facts_of(request)["ncp"] for request in asked]
        strict = [facts_of(request)["ncp"] for request in rules]
        assert all(a <= b + 1e-12 for a, b in zip(wide, strict, strict=True))
        assert sum(wide) < sum(strict)


def test_several_table_wide_requirements_hold_together():
    models = [AverageRisk(at_most=0.34), Uniqueness(at_most=0.05)]
    request = requests(models, seed=6, count=1, rows=30, removable=3)[0]
    groups = request.groups(Optimal().solve(request).grouping)
    assert all(model.verify(groups).holds for model in models)


def test_uniqueness_in_the_population_is_met_and_nothing_is_called_proven():
    model = Uniqueness(of="population", at_most=0.05, sampling_fraction=0.1)
    facts = facts_of(requests([model], seed=7, count=1, rows=30, removable=0)[0])
    assert (facts["proven"], facts["bound"]) == (False, 0.0)


def test_where_persons_are_counted_nothing_is_called_proven():
    request = requests(
        [AverageRisk(at_most=0.25)], seed=8, count=1, rows=30, removable=0
    )
    persons = replace(request[0], subject=np.arange(30, dtype=np.int32) // 2)
    assert not facts_of(persons)["proven"]


def test_beside_closeness_with_rows_left_out_nothing_is_called_proven():
    models = [AverageRisk(at_most=0.25), TCloseness(t=0.5)]
    request = requests(models, seed=9, count=1, rows=30, removable=3)[0]
    assert not facts_of(request)["proven"]
