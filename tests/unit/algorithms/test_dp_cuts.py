"""The tree of cuts: its cost by hand, its independence of rows, its measured loss.

The statistical tests draw afresh on every run, with a false-alarm rate of 1e-7 each.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product
from math import exp, log

import numpy as np
import pyarrow as pa
import pytest

from sfumato.algorithms.base import silent
from sfumato.algorithms.private import noisy_tree as dp_cuts
from sfumato.algorithms.private.noisy_tree import AxisCuts, grow
from sfumato.algorithms.private.tree_plan import TreePlan
from sfumato.data.schema import Kind
from sfumato.dp.additive_noise import Geometric
from sfumato.dp.cost import Cost, Relation
from sfumato.dp.ledger import Ledger
from sfumato.hierarchies.axis import CodedAxis
from sfumato.hierarchies.declared_domain import Declared, declared_axis
from sfumato.testing.audit import audit

FALSE_ALARM = 1e-7
ADD_REMOVE, SUBSTITUTION = Relation.ADD_REMOVE, Relation.SUBSTITUTION


def numbers(*cells: int, top: int = 7, name: str = "x") -> CodedAxis:
    """An axis 0 … top with pairs and fours as nodes."""
    declared = Declared(
        name=name,
        kind=Kind.INTEGER,
        hierarchy={"intervals": [2, 4]},
        domain={"low": 0, "high": top},
        with_missing=False,
    )
    return declared_axis(declared, pa.chunked_array([pa.array(cells, pa.int64())]))


def ledger(epsilon: float = 100.0, relation: Relation = ADD_REMOVE) -> Ledger:
    return Ledger(budget=Cost(epsilon), relation=relation)


def plan(**changes) -> TreePlan:
    settings = {"depth": 2, "selection": 0.25, "count": 0.5} | changes
    return TreePlan(**settings)


def grown(*axes: CodedAxis, account: Ledger | None = None, **changes):
    return grow(axes, plan(**changes), account or ledger(), silent)


@pytest.mark.parametrize(("relation", "factor"), [(ADD_REMOVE, 1), (SUBSTITUTION, 2)])
def test_a_tree_costs_depth_times_both_parts(relation, factor):
    account = ledger(relation=relation)
    grown(numbers(1, 2), numbers(5, 6, name="y"), account=account, depth=3)
    assert account.spent == Cost(factor * 3 * (0.25 + 0.5))


@pytest.mark.parametrize(("relation", "factor"), [(ADD_REMOVE, 1), (SUBSTITUTION, 2)])
def test_a_plan_spends_its_epsilon_whole(relation, factor):
    made = TreePlan.within(
        1.2,
        depth=4,
        selection=1,
        count=2,
        relation=relation,
        hierarchies=True,
        relaxed=False,
    )
    assert made.selection == pytest.approx(0.1 / factor)
    assert made.count == pytest.approx(0.2 / factor)


@dataclass(frozen=True, kw_only=True)
class WithoutNoise(Geometric):
    """Counts as they are: trees become functions of their rows."""

    def release(self, counts):
        return counts


def epsilons_drawn(monkeypatch, **changes) -> list[float]:
    """The ε of the noisy counts of each level of a tree."""
    drawn = []

    class Watched(Geometric):
        def release(self, counts):
            drawn.append(self.epsilon)
            return super().release(counts)

    monkeypatch.setattr(dp_cuts, "Geometric", Watched)
    grown(numbers(*range(8)), numbers(*range(8), name="y"), **changes)
    return drawn


def test_every_declared_level_draws_noise_of_the_same_share(monkeypatch):
    found = epsilons_drawn(monkeypatch, depth=5, count=0.4, occupied=True)
    assert found == pytest.approx([0.4] * 5)


def test_without_a_declared_depth_a_level_has_nine_tenths_of_the_last(monkeypatch):
    found = epsilons_drawn(monkeypatch, depth="unlimited", count=0.4, occupied=True)
    assert (
        len(found) >= 6
    )  # eight leaves on two axes: six cuts at least, and 14 at most
    assert found == pytest.approx([0.4 * 0.9**level for level in range(len(found))])


@pytest.mark.parametrize(("relation", "factor"), [(ADD_REMOVE, 1), (SUBSTITUTION, 2)])
def test_unlimited_levels_never_cost_more_than_ten_first_ones(relation, factor):
    account = ledger(relation=relation)
    axes = numbers(1, 2), numbers(5, 6, name="y")
    grown(*axes, account=account, depth="unlimited", occupied=True)
    assert account.spent.epsilon == pytest.approx(factor * 10 * (0.25 + 0.5))
    levels = [plan(depth="unlimited").at(level) for level in range(1, 400)]
    together = sum(level.selection + level.count for level in levels)
    assert together < 10 * (0.25 + 0.5)


def test_a_tree_that_ends_early_is_charged_whole():
    account = ledger()
    grown(numbers(1, top=1), account=account, depth=9, selection=0.0)
    assert account.spent.epsilon == pytest.approx(9 * 0.5)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("hierarchies", [True, False])
def test_occupied_cells_are_those_of_the_whole_tree(monkeypatch, seed, hierarchies):
    """Without noise both trees are known; the whole one without its empty cells."""
    monkeypatch.setattr(dp_cuts, "Geometric", WithoutNoise)
    random = np.random.default_rng(seed)
    axes = [
        numbers(*random.integers(0, 8, 20).tolist(), name=name) for name in ("x", "y")
    ]
    options = {"depth": 6, "selection": 0.0, "hierarchies": hierarchies}
    whole = grown(*axes, **options)
    kept = grown(*axes, occupied=True, **options)
    assert boxes_of_rows(kept) == boxes_of_rows(whole)
    assert np.bincount(kept.cell_of, minlength=kept.count).min() >= 1
    assert len(kept.splits) == kept.count - 1


def boxes_of_rows(tree) -> list[list[int]]:
    """The box of each row's cell."""
    return np.hstack([tree.low[tree.cell_of], tree.high[tree.cell_of]]).tolist()


def test_without_a_limit_occupied_cells_end_as_single_leaves():
    axes = numbers(*range(8)), numbers(*range(8), name="y")
    tree = grown(*axes, depth="unlimited", occupied=True)
    assert (tree.low == tree.high).all()
    assert tree.count == 8


def test_counts_beyond_one_batch_are_drawn_in_several(monkeypatch):
    monkeypatch.setattr(dp_cuts, "MOST_COUNTS", 5)
    drawn = []

    class Watched(Geometric):
        def release(self, counts):
            drawn.append(len(counts))
            return super().release(counts)

    monkeypatch.setattr(dp_cuts, "Geometric", Watched)
    axis = numbers(*range(8))
    tree = grown(axis, depth=3, selection=0.0, occupied=True)
    assert sum(drawn) == 24
    assert len(drawn) > 3
    assert (tree.low[tree.cell_of, 0] == axis.codes).all()


def test_choosing_by_the_box_costs_nothing():
    account = ledger()
    grown(numbers(1, 2), account=account, selection=0.0, depth=2)
    assert account.spent == Cost(2 * 0.5)


def test_a_tree_without_rows_is_cut_as_often_as_one_with_rows():
    empty = grown(numbers(), numbers(name="y"), depth=4)
    assert empty.count == 16


def test_every_value_of_the_box_gets_noise_whether_it_occurs_or_not(monkeypatch):
    drawn = []

    class Watched(Geometric):
        def release(self, counts):
            drawn.append(len(counts))
            return super().release(counts)

    monkeypatch.setattr(dp_cuts, "Geometric", Watched)
    grown(numbers(3, 3, 3), depth=2)
    assert drawn == [8, 8]


def test_the_cells_are_disjoint_and_cover_the_domain():
    tree = grown(numbers(*range(8)), depth=3)
    covered = [
        leaf
        for low, high in zip(tree.low[:, 0], tree.high[:, 0], strict=True)
        for leaf in range(low, high + 1)
    ]
    assert sorted(covered) == list(range(8))


def test_every_row_lies_in_the_box_of_its_cell():
    axis = numbers(*range(8), *range(8))
    tree = grown(axis, depth=3)
    assert (tree.low[tree.cell_of, 0] <= axis.codes).all()
    assert (axis.codes <= tree.high[tree.cell_of, 0]).all()


def test_much_budget_finds_the_median():
    tree = grown(
        numbers(0, 1, 5, 5, 6, 6, 7, 7), depth=1, count=90.0, hierarchies=False
    )
    assert tree.high[0, 0] == 5


def test_with_hierarchies_cuts_fall_between_children():
    by_levels = AxisCuts(numbers().axis, hierarchies=True)
    assert by_levels.breaks(0, 7).tolist() == [False, False, False, True] + [False] * 3
    assert by_levels.breaks(0, 3).tolist() == [False, True, False]
    assert by_levels.breaks(6, 7).tolist() == [True]


def test_a_relaxed_cut_sends_the_median_to_both_sides():
    axis = numbers(*[3] * 400)
    tree = grown(axis, depth=1, count=50.0, relaxed=True, hierarchies=False)
    sizes = np.bincount(tree.cell_of, minlength=2)
    assert 100 < sizes[0] < 300  # of 400 fair coins, but for 1 in 10**23
    assert (tree.high[0, 0], tree.low[1, 0]) == (3, 3)


def test_sizes_by_noisy_counts_are_near_the_truth_with_much_budget():
    tree = grown(numbers(*[0] * 30, *[7] * 50), depth=1, count=50.0)
    assert tree.sizes == pytest.approx([30, 50], abs=2)


# One cut in full: every noise vector, exactly.


@cache
def cut_chances(counts: tuple[int, int, int], epsilon: float) -> np.ndarray:
    """The distribution of the cut of three values, by summing over all noise."""
    reach = np.arange(-25, 26)
    ratio = exp(-epsilon)
    mass = (1 - ratio) / (1 + ratio) * ratio ** np.abs(reach)
    x, y, z = np.meshgrid(*(reach + c for c in counts), indexing="ij", sparse=True)
    chance = mass[:, None, None] * mass[None, :, None] * mass[None, None, :]
    total = x + y + z
    first = np.abs(2 * x - total) <= np.abs(2 * (x + y) - total)
    share = float(chance[np.broadcast_to(first, chance.shape)].sum())
    return np.array([share, 1 - share])


def test_one_row_more_changes_the_chance_of_a_cut_by_no_more_than_epsilon():
    epsilon = 1.0
    for counts in product(range(3), repeat=3):
        for place in range(3):
            more = tuple(c + (i == place) for i, c in enumerate(counts))
            one, other = cut_chances(counts, epsilon), cut_chances(more, epsilon)
            assert np.abs(np.log(one / other)).max() <= epsilon + 1e-6


def test_the_cut_drawn_has_the_distribution_summed():
    """800 trees; Hoeffding."""
    axis = numbers(0, 0, 1, 2, top=2)
    cuts = [
        grown(axis, depth=1, count=1.0, hierarchies=False).high[0, 0] == 0
        for _ in range(800)
    ]
    stray = (log(2 / FALSE_ALARM) / (2 * 800)) ** 0.5
    assert abs(np.mean(cuts) - cut_chances((2, 1, 1), 1.0)[0]) < stray


def test_the_attribute_is_chosen_as_often_as_the_exponential_mechanism_says():
    """Widths 1 and 0 at ε = 3, sensitivity 1: e^(3/2) to 1. 800 trees; Hoeffding.

    An audit could not tell half the noise: one row more widens, and never narrows.
    """
    axes = numbers(0, 7), numbers(3, 3, name="y")
    first = [grown(*axes, depth=1, selection=3.0).high[0, 0] < 7 for _ in range(800)]
    stray = (log(2 / FALSE_ALARM) / (2 * 800)) ** 0.5
    assert abs(np.mean(first) - 1 / (1 + exp(-1.5))) < stray


# The audit.


@dataclass(frozen=True, kw_only=True)
class HalfTheNoise(Geometric):
    """Claims ε and draws what 2ε would."""

    def release(self, counts):
        return Geometric(epsilon=2 * self.epsilon).release(counts)


def tree_refuted() -> bool:
    """Whether trees on neighbors betray more than their claim of ε = 1.

    Two values, one cut: the cut is known, the noisy size below it is what may tell.
    """
    outputs = []
    for rows in (20, 21):
        axis = numbers(*[0] * rows, *[1] * 20, top=1)
        outputs.append(
            [
                grown(axis, depth=1, selection=0.0, count=1.0, account=account).sizes[0]
                for account in (ledger(1.0) for _ in range(1_000))
            ]
        )
    found = audit(*outputs, events=[lambda s: s >= 21], false_alarm=FALSE_ALARM)
    return found.exceeds(1.0)


def test_the_measured_loss_of_the_tree_stays_within_its_claim():
    assert not tree_refuted()


def test_a_tree_with_half_the_noise_is_caught(monkeypatch):
    monkeypatch.setattr(dp_cuts, "Geometric", HalfTheNoise)
    assert tree_refuted()
