"""Best keeps what loses least, says why, and bounds the loss from below."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from sfumato import registry
from sfumato.algorithms.base import Request
from sfumato.algorithms.best import best, grown_groups
from sfumato.algorithms.best.best import Best, plan
from sfumato.algorithms.best.bound_aside import BoundAside
from sfumato.algorithms.best.harvest import Harvest
from sfumato.algorithms.best.loss_bound import lower_bound
from sfumato.algorithms.clustering.k_member import KMember
from sfumato.algorithms.partition.mondrian import Mondrian
from sfumato.algorithms.refinement.refine import loss_of
from sfumato.data.schema import Kind
from sfumato.data.seeds import Seed
from sfumato.errors import SearchError
from sfumato.hierarchies.axis import Axis, CodedAxis, Shape
from sfumato.models.k_anonymity import KAnonymity
from sfumato.policy import Policy
from sfumato.testing.awkward_tables import awkward_table, request_for

TABLE = "with-intervals"


@pytest.fixture
def asked():
    return request_for(awkward_table(TABLE), [KAnonymity(k=3)])


def names(request_, *, short=False):
    return [name for name, _, _ in plan(request_, short=short)]


@pytest.mark.parametrize("refine", [False, 0.01])
def test_a_solution_keeps_no_guide(asked, refine):
    assert Best(refine=refine).solve(asked).guide is None


@pytest.mark.parametrize(
    ("seconds", "orders"), [(None, 8), (2.9, 1), (3.0, 8), (29.0, 8), (30.0, 32)]
)
def test_much_time_tries_more_orders_of_the_boxes(asked, monkeypatch, seconds, orders):
    seen = []

    def noted(self, request_):
        seen.append(self.orders)
        raise SearchError("not now", hint="later")

    monkeypatch.setattr(Harvest, "search", noted)
    Best(seconds=seconds, refine=False).search(asked)
    assert seen == [orders]


def interrupted(*_):
    """Stand for a search that somebody interrupts."""
    raise KeyboardInterrupt


def test_an_interrupted_search_returns_what_was_found_before(asked, monkeypatch):
    monkeypatch.setattr(Harvest, "search", interrupted)
    found = Best(seconds=1000.0).solve(asked)
    assert np.array_equal(
        found.grouping.group_of, Mondrian().solve(asked).grouping.group_of
    )
    assert found.facts["interrupted"]
    assert found.facts["choice"][-1] == (
        "The search was interrupted before refinement began."
    )
    assert "refinement" not in found.facts
    assert found.facts["bound"] is None


def test_an_interrupt_while_the_bound_is_computed_returns_the_best(asked, monkeypatch):
    monkeypatch.setattr(BoundAside, "result", interrupted)
    found = Best(seconds=1000.0).solve(asked)
    losses = found.facts["losses"]
    assert found.facts["interrupted"]
    assert len(losses) > 1
    assert found.facts["loss"] == pytest.approx(min(losses.values()))


def test_an_interrupt_before_anything_is_found_is_raised(asked, monkeypatch):
    monkeypatch.setattr(Mondrian, "search", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Best(seconds=1000.0).solve(asked)


def test_an_interrupt_of_a_search_without_a_limit_in_seconds_is_raised(
    asked, monkeypatch
):
    monkeypatch.setattr(BoundAside, "result", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Best().solve(asked)


def test_it_is_what_a_policy_without_an_algorithm_gets():
    assert Policy.parse("version = 1").algorithm_instance() == Best()
    assert registry.DEFAULT_ALGORITHM == "best"


def test_it_never_loses_more_than_what_it_tries(asked):
    found = loss_of(asked, Best().solve(asked).grouping)
    for other in (Mondrian(), Harvest(orders=4)):
        assert found <= loss_of(asked, other.solve(asked).grouping) + 1e-12


def test_hierarchies_are_harvested():
    assert "harvest" in names(request_for(awkward_table(TABLE), [KAnonymity(k=3)]))


def test_small_groups_without_hierarchies_are_grown():
    request_ = request_for(awkward_table("all-unique"), [KAnonymity(k=3)])
    flat = [q for q in request_.quasi if q.axis.shape is not Shape.TREE]
    request_ = replace(request_, quasi=tuple(flat))
    assert names(request_)[0] == "k-member"
    assert "k-member" not in names(request_, short=True)


def test_it_tells_what_it_chose_in_sentences(asked):
    said = Best().solve(asked).facts["choice"]
    assert all(sentence.endswith(".") for sentence in said)
    assert any("'mondrian' loses" in sentence for sentence in said)


def test_an_algorithm_that_is_not_there_is_left_out(asked):
    def resolve(name):
        if name == "harvest":
            return registry.load("algorithms", "no-such-algorithm")
        return registry.load("algorithms", name)

    facts = Best().solve(replace(asked, resolve=resolve)).facts
    assert set(facts["losses"]) == {"mondrian"}


def test_refinement_can_be_switched_off(asked):
    assert "refinement" not in Best(refine=False).solve(asked).facts


def halves(name: str) -> Axis:
    """Four leaves in two halves."""
    losses = np.array([0.0] * 4 + [0.5] * 2 + [1.0])
    return Axis(
        name=name,
        kind=Kind.CATEGORY,
        shape=Shape.TREE,
        labels=("a", "b", "c", "d"),
        levels=np.array([[0, 1, 2, 3], [4, 4, 5, 5], [6, 6, 6, 6]], dtype=np.int32),
        node_labels=("a", "b", "c", "d", "ab", "cd", "*"),
        node_ncp=losses,
        node_loss=losses,
    )


def columns(names: str, rows: int, k: int) -> Request:
    numbers = np.random.default_rng(8)
    return Request(
        quasi=tuple(
            CodedAxis(halves(name), numbers.integers(0, 4, rows).astype(np.int32))
            for name in names
        ),
        models=(KAnonymity(k=k),),
        seed=Seed.guessable(1),
        threads=1,
        resolve=registry.algorithm,
    )


WIDE = "abcdefghijk"
"""So many columns of three levels have more nodes than are visited."""


def test_small_groups_are_grown_where_the_lattice_is_too_large():
    request_ = columns(WIDE, rows=40, k=4)
    assert names(request_)[0] == "k-member"
    assert "k-member" not in names(columns("xy", rows=40, k=4))


def test_who_sets_a_limit_does_not_wait_for_groups_to_grow():
    wide = columns(WIDE, rows=40, k=4)
    assert "k-member" not in [n for n, _, _ in plan(wide, short=False, patient=False)]


def test_groups_of_many_tuples_grow_within_parts(monkeypatch):
    monkeypatch.setattr(grown_groups, "WIDE_TUPLES", 10)
    monkeypatch.setattr(grown_groups, "PART", 20)
    request_ = columns(WIDE, rows=100, k=4)
    coarse = replace(request_, models=(KAnonymity(k=20),))
    parts = Mondrian().search(coarse).grouping.group_of
    found = best.searched(request_, KMember()).grouping
    assert found.sizes().min() >= 4
    assert len(np.unique(parts)) > 1
    assert all(len(set(parts[found.group_of == g])) == 1 for g in range(found.count))


def cheapest_box(request_: Request, row: int, k: int) -> float:
    """By definition: over all pairs of levels, the least loss that k rows share."""
    found = []
    for pair in itertools.product(range(3), repeat=2):
        inside = np.ones(request_.rows, dtype=bool)
        loss = 0.0
        for level, coded in zip(pair, request_.quasi, strict=True):
            nodes = coded.axis.levels[level][coded.codes]
            inside &= nodes == nodes[row]
            loss += coded.axis.node_ncp[nodes[row]] / 2
        if inside.sum() >= k:
            found.append(loss)
    return min(found)


def test_the_bound_of_a_row_is_its_cheapest_box_with_k_rows():
    request_ = columns("xy", rows=40, k=4)
    alone, together = lower_bound(request_, looks=0), lower_bound(request_)
    expected = np.mean([cheapest_box(request_, row, 4) for row in range(40)])
    assert alone is not None
    assert together is not None
    assert alone.loss == pytest.approx(expected)
    assert together.loss > alone.loss
    assert alone.rows == together.rows == 40


def test_the_bound_of_all_rows_is_a_point():
    bound = lower_bound(columns("xy", rows=40, k=4))
    assert bound is not None
    assert bound.low == bound.loss == bound.high


def test_the_result_is_not_below_the_bound():
    request_ = columns("xy", rows=60, k=4)
    facts = Best().solve(request_).facts
    assert facts["bound"]["times"] >= 1.0


@pytest.mark.parametrize(("columns", "cut"), [(500, {}), (501, {"cut": "widest"})])
def test_many_columns_are_not_weighed_in_pairs(columns, cut):
    asked = request_for(awkward_table("all-unique"), [KAnonymity(k=3)])
    wide = replace(asked, quasi=asked.quasi[:1] * columns)
    options = {name: each for name, _, each in plan(wide, short=True)}
    assert options["mondrian"] == cut
