"""SafePub: the k and the rate that (ε, δ) demands, and the claim by brute force."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import product
from math import comb, exp
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.algorithms.base import Request
from sfumato.algorithms.private import safepub
from sfumato.algorithms.private.safepub import SafePub
from sfumato.dp.cost import Cost, Relation
from sfumato.dp.ledger import Ledger
from sfumato.dp.threshold import sampling_rate, smallest_group
from sfumato.errors import InfeasibleError, PolicyError, RefusedError
from sfumato.hierarchies.declared_domain import Declared, declared_axis
from sfumato.models.differential_privacy import DifferentialPrivacy
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.l_diversity import LDiversity
from sfumato.testing.private_checks import private_request


def with_budget(request: Request, epsilon: float, delta: float, **budget) -> Request:
    model = DifferentialPrivacy(epsilon=epsilon, delta=delta, budget=budget or None)
    ledger = Ledger(budget=model.cost, relation=Relation.ADD_REMOVE)
    return replace(request, process=(model,), ledger=ledger)


def solved(algorithm: SafePub, epsilon=1.0, delta=1e-6, **changes):
    budget = changes.pop("budget", {})
    request = with_budget(private_request(algorithm), epsilon, delta, **budget)
    request = replace(request, **changes)
    return request, algorithm.solve(request)


def test_epsilon_1_and_delta_1e_6_give_k_74_and_a_rate_of_0_632():
    _, solution = solved(SafePub())
    assert solution.facts["k"] == 74
    assert solution.facts["sampling_rate"] == pytest.approx(0.632, abs=5e-4)


def test_no_published_group_is_smaller_than_k():
    _, solution = solved(SafePub())
    assert solution.grouping.sizes().min() >= 74


def test_levels_left_out_are_the_middle_rounded_up():
    """Heights 4 (values, 10, 20, *) and 3 (values, halves, *): levels 2 and 1."""
    _, solution = solved(SafePub())
    assert solution.facts["levels"] == {"age": 2, "place": 1, "value": 1}


def test_levels_given_are_shown():
    _, solution = solved(SafePub(levels={"age": 3}))
    assert solution.facts["levels"]["age"] == 3
    assert set(solution.grouping.levels[:, 0].tolist()) == {3}


def test_every_published_column_is_counted():
    _, solution = solved(SafePub())
    assert [coded.name for coded in solution.quasi] == ["age", "place", "value"]
    assert solution.grouping.levels.shape[1] == 3


def test_rows_of_a_group_share_every_published_node():
    _, solution = solved(SafePub())
    kept = np.flatnonzero(solution.grouping.kept)
    owner = solution.grouping.group_of[kept]
    for index, coded in enumerate(solution.quasi):
        level = solution.grouping.levels[0, index]
        nodes = coded.axis.levels[level, coded.codes[kept]]
        assert len(set(zip(owner.tolist(), nodes.tolist(), strict=True))) == (
            solution.grouping.count
        )


def test_the_whole_budget_is_one_entry_without_a_search():
    request, _ = solved(SafePub())
    assert [entry.cost for entry in request.ledger.entries] == [Cost(1.0, 1e-6)]


def test_a_search_is_charged_and_leaves_the_rest_to_the_release():
    request, solution = solved(SafePub(), budget={"search": 0.25, "release": 0.75})
    costs = [entry.cost for entry in request.ledger.entries]
    assert costs == [Cost(0.25), Cost(0.75, 1e-6)]
    assert solution.facts["k"] == smallest_group(Cost(0.75, 1e-6))


def test_a_larger_k_that_is_asked_for_holds():
    _, solution = solved(SafePub(), models=(KAnonymity(k=200),))
    assert solution.facts["k"] == 200


def test_a_smaller_sample_is_allowed_and_needs_its_own_k():
    _, solution = solved(SafePub(sample=0.3))
    assert solution.facts["k"] == smallest_group(Cost(1.0, 1e-6), rate=0.3)


def test_a_sample_beyond_what_epsilon_allows_is_refused():
    with pytest.raises(RefusedError, match=r"allows a sample of 0\.632121; .* 0\.9"):
        solved(SafePub(sample=0.9))


@pytest.mark.parametrize("columns", [20, 1_000, 10_000])
def test_a_search_among_too_many_levels_is_refused(columns):
    request = private_request(SafePub())
    with pytest.raises(RefusedError, match="have more than 2,000 combinations of lev"):
        solved(
            SafePub(),
            budget={"search": 1, "release": 1},
            quasi=request.quasi[:1] * columns,
        )


def test_a_delta_of_zero_is_refused():
    with pytest.raises(RefusedError, match="needs delta above 0; delta is 0"):
        solved(SafePub(), delta=0.0)


def test_a_delta_that_could_publish_a_row_outright_is_refused():
    with pytest.raises(RefusedError, match=r"where \d+ rows are published"):
        solved(SafePub(), delta=0.001)


def test_rows_that_are_not_published_do_not_decide_whether_delta_is_refused(
    monkeypatch,
):
    """110 rows at δ = 0.01: 20 of them, drawn at 0.39, are about 51."""
    monkeypatch.setattr(safepub, "poisson", lambda rows, rate: np.arange(20))
    cells = [*"a" * 40, *(letter for letter in "bcdefgh" for _ in range(10))]
    tree = Declared(name="x", hierarchy={"tree": {"A": list("abcdefgh")}})
    axis = declared_axis(tree, pa.chunked_array([pa.array(cells)]))
    request = with_budget(Request(quasi=(axis,), models=()), EPSILON, DELTA)
    assert SafePub(levels={"x": 0}).solve(request).grouping.count == 1


def test_requirements_on_sensitive_values_are_refused():
    with pytest.raises(RefusedError, match="l-diversity has nothing to judge"):
        solved(SafePub(), models=(LDiversity(l=2),))


def test_a_count_of_subjects_is_refused_where_they_may_have_several_rows():
    subject = (np.arange(4000) // 2).astype(np.int32)
    with pytest.raises(RefusedError, match=r"k-anonymity counts subjects, .* up to 2"):
        solved(SafePub(rows_per_subject=2), models=(KAnonymity(k=5),), subject=subject)


def test_levels_and_a_search_exclude_each_other():
    with pytest.raises(PolicyError, match="'levels' are given, and budget has a share"):
        solved(SafePub(levels={"age": 1}), budget={"search": 1, "release": 1})


def test_a_level_beyond_the_hierarchy_is_refused():
    with pytest.raises(PolicyError, match="level 9 of 'age', which has levels 0 to 3"):
        solved(SafePub(levels={"age": 9}))


def test_a_level_of_a_column_that_is_not_published_is_refused():
    with pytest.raises(PolicyError, match="names 'height', which is not published"):
        solved(SafePub(levels={"height": 1}))


def test_a_release_without_a_large_enough_group_is_infeasible():
    with pytest.raises(
        InfeasibleError, match=r"shared by 9,000 drawn rows; .* has \d+"
    ):
        solved(SafePub(), models=(KAnonymity(k=9000),))


def scores(cells: list[str], k: int) -> list[float]:
    """The score of every level, as the search of levels has it."""
    tree = Declared(name="x", hierarchy={"tree": {"A": ["a", "b"], "B": ["c"]}})
    axis = declared_axis(tree, pa.chunked_array([pa.array(cells, pa.string())]))
    distinct, counts = safepub._collapsed((axis,))
    return [
        safepub._score(distinct, counts, (level,), k)
        for level in range(axis.axis.height)
    ]


def test_one_row_more_changes_no_score_of_the_search_by_more_than_its_sensitivity():
    """All tables of up to three rows of each value; a group that reaches k counts 1."""
    k, changes = 3, []
    for times in product(range(4), repeat=3):
        cells = [v for v, t in zip("abc", times, strict=True) for _ in range(t)]
        for more in "abc":
            pairs = zip(scores(cells, k), scores([*cells, more], k), strict=True)
            changes += [abs(one - other) for one, other in pairs]
    assert max(changes) <= safepub.SENSITIVITY
    assert max(changes) == pytest.approx(1.0)


# Brute force: the algorithm itself on every sample of a tiny table.

EPSILON, DELTA = 0.5, 0.01
"""Demands groups of 17: tables of 19 equal rows reach beyond it."""


def tiny(cells: str) -> Request:
    tree = Declared(name="x", hierarchy={"tree": {"A": ["a", "b"], "B": ["c"]}})
    axis = declared_axis(tree, pa.chunked_array([pa.array(list(cells))]))
    request = Request(quasi=(axis,), models=())
    return with_budget(request, EPSILON, DELTA)


def published(cells: str, drawn: np.ndarray, monkeypatch) -> tuple:
    """What the algorithm publishes from a sample: group sizes, by their values."""
    monkeypatch.setattr(safepub, "poisson", lambda rows, rate: drawn)
    try:
        solution = SafePub(levels={"x": 0}).solve(tiny(cells))
    except InfeasibleError:
        return ()
    kept = np.flatnonzero(solution.grouping.kept)
    return tuple(sorted(Counter(cells[row] for row in kept).items()))


def outputs(cells: str, monkeypatch) -> dict[Any, float]:
    """The exact distribution of what is published.

    Equal rows are exchangeable: one sample stands for all with as many of each value.
    """
    rate = sampling_rate(EPSILON)
    found: dict[Any, float] = defaultdict(float)
    ends = [cells.count(value) for value in "ab"]
    for ones in range(ends[0] + 1):
        for twos in range(ends[1] + 1):
            drawn = np.array([*range(ones), *range(ends[0], ends[0] + twos)], dtype=int)
            shown = published(cells, drawn, monkeypatch)
            found[shown] += binomial(ones, ends[0], rate) * binomial(
                twos, ends[1], rate
            )
    return found


def binomial(hits: int, size: int, rate: float) -> float:
    return comb(size, hits) * rate**hits * (1 - rate) ** (size - hits)


@pytest.mark.parametrize("cells", ["a" * 17, "a" * 19, "a" * 22, "a" * 18 + "bb"])
def test_neighbors_differ_by_no_more_than_epsilon_and_delta(cells, monkeypatch):
    one, other = outputs(cells, monkeypatch), outputs(cells[1:], monkeypatch)
    for first, second in ((one, other), (other, one)):
        surplus = sum(
            max(0.0, chance - exp(EPSILON) * second[o]) for o, chance in first.items()
        )
        assert surplus <= DELTA


def test_a_threshold_of_half_that_size_breaks_the_claim(monkeypatch):
    monkeypatch.setattr(safepub, "smallest_group", lambda cost, rate: 2)
    one, other = outputs("aa", monkeypatch), outputs("a", monkeypatch)
    surplus = sum(max(0.0, p - exp(EPSILON) * other[o]) for o, p in one.items())
    assert surplus > DELTA
