"""DP synthesis: the budget, consistent counts, and the loss that can be measured.

The statistical tests draw afresh on every run, with a false-alarm rate of 1e-7 each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.algorithms.base import Request
from sfumato.algorithms.private import dp_synthesis
from sfumato.algorithms.private.dp_synthesis import DpSynthesis, consistent
from sfumato.dp.additive_noise import Geometric
from sfumato.dp.cost import Cost, Relation
from sfumato.dp.ledger import Ledger
from sfumato.errors import InfeasibleError, PolicyError, RefusedError
from sfumato.hierarchies.declared_domain import Declared, declared_axis
from sfumato.models.differential_privacy import DifferentialPrivacy
from sfumato.models.k_anonymity import KAnonymity
from sfumato.testing.audit import audit
from sfumato.testing.private_checks import ROWS, private_request

FALSE_ALARM = 1e-7


def solved(algorithm: DpSynthesis | None = None, **changes):
    algorithm = algorithm or DpSynthesis()
    request = private_request(algorithm, **changes)
    return request, algorithm.solve(request)


def test_the_whole_epsilon_is_spent_and_no_delta():
    request, _ = solved(DpSynthesis(depth=4))
    assert request.ledger.spent.epsilon == pytest.approx(2.0)
    assert request.ledger.spent.delta == 0


def test_the_cuts_cost_depth_times_their_part_and_the_values_theirs():
    model = DifferentialPrivacy(
        epsilon=2.0, budget={"selection": 1, "count": 2, "values": 1}
    )
    request, _ = solved(DpSynthesis(depth=4), process=(model,))
    costs = [entry.cost.epsilon for entry in request.ledger.entries]
    assert costs == pytest.approx([0.125, 0.25] * 4 + [0.5])


def test_no_row_of_the_source_is_published():
    _, solution = solved()
    assert not solution.grouping.kept.any()


def test_records_have_every_published_column():
    _, solution = solved()
    assert [coded.name for coded in solution.synthetic] == ["age", "place", "value"]


def test_there_are_about_as_many_records_as_rows():
    """Noise of scale 1 on some hundred counts."""
    _, solution = solved()
    assert abs(len(solution.synthetic[0].codes) - ROWS) < 400


def test_shares_of_values_come_near_the_truth():
    request, solution = solved(DpSynthesis(depth=3))
    truth = np.bincount(request.beside[0].codes, minlength=5) / ROWS
    found = np.bincount(solution.synthetic[2].codes, minlength=5)
    assert np.abs(found / found.sum() - truth).max() < 0.05


def test_records_can_show_cells_instead_of_values():
    request, solution = solved(DpSynthesis(show="cells", depth=2))
    shown = {
        solution.synthetic[0].axis.node_labels[c] for c in solution.synthetic[0].codes
    }
    assert shown <= set(request.quasi[0].axis.node_labels)


def test_requirements_on_groups_are_refused():
    with pytest.raises(RefusedError, match="k-anonymity has nothing to count"):
        solved(models=(KAnonymity(k=2),))


def test_more_combinations_than_can_be_counted_are_refused():
    request = private_request(DpSynthesis())
    with pytest.raises(RefusedError, match=r"cells × 1,953,125 combinations"):
        DpSynthesis().solve(replace(request, beside=request.beside * 9))


@pytest.mark.parametrize("columns", [100, 1_000, 10_000])
def test_combinations_that_no_number_type_holds_are_refused(columns):
    request = private_request(DpSynthesis())
    with pytest.raises(RefusedError, match=r"× more than 1(,000){6} combinations"):
        DpSynthesis().solve(replace(request, beside=request.beside[:1] * columns))


def test_a_depth_out_of_range_is_refused():
    with pytest.raises(PolicyError, match="dp-synthesis: 'depth' is 0"):
        DpSynthesis(depth=0)


def test_records_that_are_nothing_but_noise_are_not_drawn(monkeypatch):
    """A tiny ε gives noise beyond any table; its sums neither overflow nor are drawn."""
    monkeypatch.setattr(
        Geometric, "_measurement", lambda mechanism, counts: [2**63 - 1] * len(counts)
    )
    with pytest.raises(InfeasibleError, match="more than 100,000,000 records"):
        solved()


# Consistent counts.

counts = st.lists(
    st.lists(st.integers(-9, 30), min_size=3, max_size=3), min_size=1, max_size=6
).map(np.array)


@given(counts)
@settings(derandomize=True, deadline=None, max_examples=200)
def test_consistent_counts_are_whole_non_negative_and_keep_the_total(noisy):
    found = consistent(noisy)
    assert (found >= 0).all()
    assert found.sum() == max(noisy.sum(), 0)


@given(counts)
@settings(derandomize=True, deadline=None, max_examples=100)
def test_counts_that_are_consistent_already_stay_as_they_are(noisy):
    assert (consistent(abs(noisy)) == abs(noisy)).all()


def test_negative_noise_is_taken_off_its_neighbors():
    """−2 beside 5 and 7 is 0 beside 4 and 6: the nearest that add up to 10."""
    assert consistent(np.array([[5, -2, 7]])).tolist() == [[4, 0, 6]]


# The audit.


@dataclass(frozen=True, kw_only=True)
class HalfTheNoise(Geometric):
    """Claims ε and draws what 2ε would."""

    def release(self, counts):
        return Geometric(epsilon=2 * self.epsilon).release(counts)


def axis(name: str, cells: str):
    declared = Declared(
        name=name, hierarchy={"tree": {"A": ["a"], "B": ["b"]}}, with_missing=False
    )
    return declared_axis(declared, pa.chunked_array([pa.array(list(cells))]))


@cache
def tiny(rows: int) -> Request:
    """A table with so many rows of both values 'a'."""
    model = DifferentialPrivacy(epsilon=2.0, budget={"count": 1, "values": 9})
    return Request(
        quasi=(axis("x", "a" * (rows + 50) + "b" * 100),),
        beside=(axis("y", "a" * rows + "b" * 100 + "a" * 50),),
        models=(),
        process=(model,),
    )


def records_at(rows: int) -> int:
    """How many records with both values 'a' a run gives, for so many rows of them."""
    ledger = Ledger(budget=Cost(2.0), relation=Relation.ADD_REMOVE)
    request = replace(tiny(rows), ledger=ledger)
    synthetic = DpSynthesis(depth=1).solve(request).synthetic
    assert synthetic is not None
    x, y = synthetic
    return int(((x.codes == 0) & (y.codes == 0)).sum())


def synthesis_refuted() -> bool:
    """Whether records on neighbors betray more than the claim of ε = 2."""
    one, other = ([records_at(rows) for _ in range(600)] for rows in (50, 51))
    found = audit(one, other, events=[lambda n: n >= 51], false_alarm=FALSE_ALARM)
    return found.exceeds(2.0)


def test_the_measured_loss_of_synthesis_stays_within_its_claim():
    assert not synthesis_refuted()


def test_synthesis_with_half_the_noise_is_caught(monkeypatch):
    monkeypatch.setattr(dp_synthesis, "Geometric", HalfTheNoise)
    assert synthesis_refuted()
