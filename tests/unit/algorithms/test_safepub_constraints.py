"""Diversity constraints under differential privacy: cost, confidence and refusals.

Statistical tests draw afresh on every run, with a false-alarm rate of 1e-7 each.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product
from math import exp, log

import numpy as np
import pyarrow as pa
import pytest

from sfumato.algorithms.base import Request
from sfumato.algorithms.private import constraint_test, safepub
from sfumato.algorithms.private.constraint_test import ConstraintTest
from sfumato.algorithms.private.dp_anonym import DpAnonym
from sfumato.algorithms.private.safepub import SafePub
from sfumato.algorithms.private.shown_limits import trimmed
from sfumato.algorithms.private.shown_values import shown_values
from sfumato.dp.additive_noise import Geometric
from sfumato.dp.cost import Cost, Relation
from sfumato.dp.ledger import Ledger
from sfumato.dp.surviving_rows import SafeRows
from sfumato.errors import InfeasibleError, PolicyError, RefusedError
from sfumato.hierarchies.axis import CodedAxis
from sfumato.hierarchies.declared_domain import Declared, declared_axis
from sfumato.models.differential_privacy import DifferentialPrivacy
from sfumato.models.diversity import Diversity
from sfumato.models.k_anonymity import KAnonymity
from sfumato.testing.private_checks import private_request

FALSE_ALARM = 1e-7
TREE = {"tree": {"A": ["a", "b"], "B": ["c", "d"]}}


def at_least(rows, **where) -> Diversity:
    return Diversity(where=where, at_least=rows)


def at_most(rows, **where) -> Diversity:
    return Diversity(where=where, at_most=rows)


def column(name: str, cells: str) -> CodedAxis:
    declared = Declared(name=name, hierarchy=TREE, with_missing=False)
    return declared_axis(declared, pa.chunked_array([pa.array(list(cells))]))


def request_for(axes, models, epsilon=1.0, delta=1e-6, **budget) -> Request:
    model = DifferentialPrivacy(epsilon=epsilon, delta=delta, budget=budget or None)
    return Request(
        quasi=tuple(axes),
        models=tuple(models),
        process=(model,),
        ledger=Ledger(budget=model.cost, relation=Relation.ADD_REMOVE),
    )


def people(a: int = 2000, b: int = 300, c: int = 900) -> list[CodedAxis]:
    """A column of three values, and one of two that half of each have."""
    cells = "a" * a + "b" * b + "c" * c
    return [column("x", cells), column("y", "ac" * (len(cells) // 2))]


def many() -> list[CodedAxis]:
    """The same people ten times over: noise hardly matters."""
    return people(20_000, 3_000, 9_000)


def solved(models, axes=None, **changes):
    budget = changes.pop("budget", {})
    request = request_for(axes or people(), models, **budget)
    return request, SafePub(**changes).solve(request)


def shown(solution) -> Counter:
    """How many published rows show each text of the first column."""
    coded, level = solution.quasi[0], solution.facts["levels"]["x"]
    texts = coded.axis.levels[level][coded.codes[solution.grouping.kept]]
    return Counter(coded.axis.node_labels[node] for node in texts)


# What it costs, and what it shows.


def test_the_test_of_a_constraint_is_charged_a_tenth():
    request, solution = solved([at_least(300, x="c")])
    costs = [entry.cost for entry in request.ledger.entries]
    assert [cost.epsilon for cost in costs] == pytest.approx([0.1, 0.9])
    assert [cost.delta for cost in costs] == [0.0, 1e-6]
    assert request.ledger.spent.epsilon == pytest.approx(1.0)
    assert solution.facts["epsilon_of_constraints"] == pytest.approx(0.1)
    assert solution.facts["confidence"] == 0.95


def test_a_share_is_charged_a_count_of_the_rows():
    request, _ = solved([at_least(0.1, x="c"), at_least(20, y="a")], many())
    costs = [entry.cost.epsilon for entry in request.ledger.entries]
    assert costs == pytest.approx([0.1 / 3, 0.2 / 3, 0.9])


def test_a_search_is_charged_beside_the_test():
    budget = {"search": 0.25, "constraints": 0.25, "release": 0.5}
    request, solution = solved([at_least(200, x="c")], many(), budget=budget)
    costs = [entry.cost.epsilon for entry in request.ledger.entries]
    assert costs == pytest.approx([0.25, 0.25, 0.5])
    assert solution.facts["levels"]["x"] == 0


def test_upper_bounds_alone_cost_nothing():
    request, solution = solved([at_most(400, x="a")], levels={"x": 0})
    assert [entry.cost for entry in request.ledger.entries] == [Cost(1.0, 1e-6)]
    assert shown(solution)["a"] == 400


def test_values_of_one_column_share_one_noise():
    """No row shows two of them: the noise of two is that of one."""
    values = shown_values([at_least(5, x="a"), at_least(5, x="b"), at_least(5, y="a")])
    made = ConstraintTest(values=values[:2], epsilon=1.0, confidence=0.9, k=5, rate=0.5)
    assert made.counting.sensitivity == made.safe.slope
    both = replace(made, values=values)
    assert both.counting.sensitivity == 2 * both.safe.slope


def test_a_release_shows_as_many_rows_as_asked_for():
    _, solution = solved([at_least(300, x="c"), at_most(500, x="a")])
    found = shown(solution)
    assert found["c"] >= 300
    assert found["a"] <= 500
    assert solution.grouping.sizes().min() >= solution.facts["k"]


def test_a_share_is_one_of_the_published_rows():
    _, solution = solved([at_least(0.15, x="c")], many())
    found = shown(solution)
    assert found["c"] >= 0.15 * sum(found.values())


def test_a_column_is_shown_at_the_coarsest_level_that_shows_the_value():
    _, solution = solved([at_least(200, x="A")])
    assert solution.facts["levels"]["x"] == 1
    _, solution = solved([at_least(200, x="a")])
    assert solution.facts["levels"]["x"] == 0


def test_upper_bounds_keep_groups_of_k():
    _, solution = solved([at_least(100, x="a"), at_most(181, x="a")], levels={"x": 0})
    sizes = solution.grouping.sizes()
    assert sizes.min() >= solution.facts["k"]
    assert 100 <= shown(solution)["a"] <= 181


# The confidence.


def outcomes(runs: int, rows: int, axes, confidence: float) -> Counter:
    """How runs end: at the test, after it, or with a release."""
    found: Counter = Counter()
    for _ in range(runs):
        request = request_for(axes, [at_least(rows, x="c")])
        try:
            SafePub(confidence=confidence, levels={"y": 2}).solve(request)
        except InfeasibleError as error:
            late = "the release would show" in error.message
            found["failed" if late else "refused"] += 1
        else:
            found["met"] += 1
    return found


def stray(runs: int) -> float:
    """What a share over that many runs may be off by (Hoeffding)."""
    return (log(1 / FALSE_ALARM) / (2 * runs)) ** 0.5


@pytest.mark.parametrize("c", [260, 290])
def test_a_passed_test_is_followed_by_too_few_rows_as_rarely_as_stated(c):
    """150 of c rows are asked for, of which 59% are drawn; confidence 0.8."""
    found = outcomes(250, 150, people(400, 0, c), 0.8)
    assert found["failed"] / 250 <= 0.2 + stray(250)


def test_a_test_that_counts_all_rows_is_caught(monkeypatch):
    """As many rows as asked for are not enough: four of ten are not drawn."""
    monkeypatch.setattr(constraint_test, "needed_rows", lambda rows, **_: rows)
    found = outcomes(250, 150, people(400, 0, 240), 0.8)
    assert found["failed"] / 250 > 0.2 + stray(250)


def test_plenty_of_rows_pass_the_test_and_are_shown():
    assert outcomes(100, 150, people(400, 0, 900), 0.95) == {"met": 100}


def test_the_chance_to_pass_is_the_exact_tail_of_the_noise():
    """400 tests of a surplus that needs noise of 3 or more; Hoeffding."""
    values = shown_values([at_least(10, x="a")])
    made = ConstraintTest(values=values, epsilon=0.5, confidence=0.9, k=5, rate=0.5)
    surplus = made.needed[0] + made.margin - 3
    passed = 0
    for _ in range(400):
        account = Ledger(budget=Cost(1.0), relation=Relation.ADD_REMOVE)
        try:
            made.insist(np.array([surplus]), account)
        except InfeasibleError:
            continue
        passed += 1
    noise = Geometric(epsilon=0.5, sensitivity=made.safe.slope)
    chance = sum(noise.probability(x) for x in range(3, 900))
    assert abs(passed / 400 - chance) < (log(2 / FALSE_ALARM) / 800) ** 0.5


# Sensitivity, on all tables of up to two rows of each pair.


def tiny_tables():
    pairs = list(product("ac", "ac"))
    for times in product(range(3), repeat=len(pairs)):
        yield [p for p, t in zip(pairs, times, strict=True) for _ in range(t)], pairs


def figures(rows, test, k) -> tuple[np.ndarray, float]:
    if not rows:
        nothing = np.zeros(len(test.values), dtype=int)
        return nothing, min(0.0, test.spare(nothing))
    axes = tuple(
        column(name, "".join(row[place] for row in rows))
        for place, name in enumerate("xy")
    )
    groups = safepub._tuples(axes, (0, 0), np.arange(len(rows)))
    ones = np.ones(len(rows), dtype=np.int64)
    safe = test.safe_rows(axes, (0, 0), groups, ones)
    distinct, counts = safepub._collapsed(axes)
    return safe, safepub._score(distinct, counts, (0, 0), k, test)


def test_one_row_changes_the_chance_to_pass_by_no_more_than_epsilon(monkeypatch):
    values = shown_values([at_least(1, x="a"), at_least(1, y="a")])
    test = ConstraintTest(values=values, epsilon=1.0, confidence=0.9, k=2, rate=0.5)
    monkeypatch.setattr(constraint_test, "sure_size", lambda *_, **__: 1)
    monkeypatch.setattr(constraint_test, "needed_rows", lambda *_, **__: 1)
    assert test.safe == SafeRows(beyond=1, slope=2)
    noise = test.counting
    tail = {m: sum(noise.probability(x) for x in range(m, 900)) for m in range(-9, 90)}

    def passes(safe) -> float:
        limits = [1 + test.margin - int(s) for s in safe]
        return tail[limits[0]] * tail[limits[1]]

    for rows, pairs in tiny_tables():
        before, score = figures(rows, test, 2)
        for more in pairs:
            after, moved = figures([*rows, more], test, 2)
            assert np.abs(after - before).max() <= 2
            assert np.abs(after - before).sum() <= noise.sensitivity
            assert abs(moved - score) <= safepub.SENSITIVITY
            ratio = passes(after) / passes(before)
            assert exp(-1.0) - 1e-9 <= ratio <= exp(1.0) + 1e-9


# Leaving rows out for upper bounds.


def most_reachable(sizes, most: int, k: int) -> int:
    ways = [[0, *range(k, size + 1)] for size in sizes]
    return max(sum(way) for way in product(*ways) if sum(way) <= most)


def test_as_many_rows_are_left_as_groups_of_k_allow():
    random = np.random.default_rng(5)
    for _ in range(150):
        k = int(random.integers(1, 4))
        sizes = random.integers(k, 8, random.integers(1, 5))
        most = int(random.integers(0, sizes.sum() + 2))
        left = trimmed(sizes, most, k=k)
        assert int(left.sum()) == most_reachable(sizes.tolist(), most, k)
        assert ((left == 0) | (left >= k)).all()
        assert (left <= sizes).all()
        assert left.sum() > most - k or left.sum() == sizes.sum()


# Refusals before any work.

NOT_COVERED = [
    ([Diversity(generate={"column": "x"})], RefusedError, "which no budget pays for"),
    ([at_most(0.5, x="a")], RefusedError, "at_most is a share"),
    (
        [Diversity(where={"x": "a"}, at_least=5, at_most=40)],
        RefusedError,
        "allows 40 rows, and a group has 73 or more",
    ),
    (
        [Diversity(where={"x": "a"}, at_least=100, at_most=150)],
        RefusedError,
        "from 100 to 150 rows is narrower than a group of 73",
    ),
    (
        [at_least(0.2, x="a"), at_most(400, x="a")],
        RefusedError,
        "at_least is a share and at_most a number",
    ),
    (
        [at_most(100, x="a"), at_least(100, y="a")],
        RefusedError,
        "some of them may count for at_least on 'y'",
    ),
    ([at_least(5, x="zebra")], RefusedError, "that no level of its declared hierarchy"),
    ([at_least(5, x="a"), at_least(5, x="B")], RefusedError, "no level of 'x' shows"),
    ([at_least(5, z="a")], PolicyError, "names 'z', which is not published"),
]


@pytest.mark.parametrize(("models", "kind", "text"), NOT_COVERED)
def test_what_cannot_be_promised_is_refused_without_rows_and_uncharged(
    models, kind, text
):
    request = request_for([column("x", ""), column("y", "")], models)
    with pytest.raises(kind, match=text) as caught:
        SafePub().check(request)
    assert caught.value.hint
    assert "zebra" not in str(caught.value)
    assert not request.ledger.entries


def test_a_level_that_hides_the_value_is_refused():
    with pytest.raises(RefusedError, match="of 'x' that its level 2 does not show"):
        solved([at_least(5, x="a")], levels={"x": 2})


def test_a_budget_without_a_share_for_constraints_is_refused():
    with pytest.raises(PolicyError, match="No budget is left to test the diversity"):
        solved([at_least(5, x="a")], budget={"release": 1.0})


def test_a_share_for_constraints_without_any_is_refused():
    with pytest.raises(PolicyError, match="budget names 'constraints'"):
        solved([], budget={"release": 1.0, "constraints": 1.0})


@pytest.mark.parametrize("confidence", [0.0, 1.0, 2.0])
def test_a_confidence_that_is_no_probability_is_refused(confidence):
    with pytest.raises(PolicyError, match="safepub: 'confidence' is"):
        SafePub(confidence=confidence)


def test_dp_anonym_refuses_constraints_and_names_the_way_out():
    models = (KAnonymity(k=3), at_least(5, place="a"))
    request = private_request(DpAnonym(), models=models)
    with pytest.raises(RefusedError, match="outside its guarantee") as caught:
        DpAnonym().solve(request)
    assert "'safepub'" in caught.value.hint
    assert not request.ledger.entries
