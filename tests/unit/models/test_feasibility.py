"""What a whole table says about a request, in numbers and words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sfumato.models.alpha_k import AlphaK
from sfumato.models.average_risk import AverageRisk
from sfumato.models.beta_likeness import BetaLikeness
from sfumato.models.delta_disclosure import DeltaDisclosure
from sfumato.models.delta_presence import DeltaPresence
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.k_map import KMap
from sfumato.models.l_diversity import LDiversity
from sfumato.models.lkc import Lkc
from sfumato.models.n_t_closeness import NTCloseness
from sfumato.models.p_sensitive import PSensitive
from sfumato.models.range_disclosure import RangeDisclosure
from sfumato.models.t_closeness import TCloseness
from sfumato.models.theta_diversity import ThetaDiversity
from sfumato.testing.random_groups import COLUMN, OTHER, sample_of, tree_axis

VALUES = ["flu"] * 6 + ["acne"] * 3 + ["gout"]


def answer(model, values=VALUES, removable=0):
    whole = sample_of([0] * len(values), values).groups(model)
    return model.feasibility(whole, removable=removable)


def test_theta_below_the_commonest_share_names_both_numbers():
    found = answer(ThetaDiversity(theta=0.5))
    assert not found.feasible
    assert found.best == pytest.approx(0.6)
    assert "no value above a share of 0.5" in found.message
    assert "the best is 0.6" in found.message
    assert found.hint.startswith("Raise theta to 0.6")


def test_leaving_out_the_fewest_rows_of_the_commonest_value_is_planned():
    """Of 6, 3, 1: two less make 4 of 8."""
    found = answer(ThetaDiversity(theta=0.5), removable=3)
    assert found.feasible
    flu = sorted(set(VALUES)).index("flu")
    assert found.remove == {(COLUMN, flu): 2}


def test_too_few_rows_to_leave_out_is_infeasible_and_says_how_many():
    found = answer(ThetaDiversity(theta=0.5), removable=1)
    assert not found.feasible
    assert "it takes 2" in found.message
    assert "allow 2 rows to be left out (publish.max_suppressed = 0.2)" in found.hint


def test_the_share_that_a_hint_allows_is_rounded_up():
    """Of 6, 4, 1: two less make 4 of 9, and 2 / 11 is 0.18181…"""
    values = ["flu"] * 6 + ["acne"] * 4 + ["gout"]
    found = answer(Lkc(l=1, k=2, c=0.45), values)
    assert "allow 2 rows to be left out (publish.max_suppressed = 0.1819)" in found.hint


@pytest.mark.parametrize(
    ("model", "best"),
    [
        (LDiversity(l=4), 3),
        (LDiversity(l=3, kind="entropy"), 2.4546),
        (LDiversity(l=2, kind="recursive", c=1.0), 1.5),
        (KAnonymity(k=11), 10),
        (AverageRisk(at_most=0.05), 0.1),
        (Lkc(l=1, k=2, c=0.4), 0.6),
        (NTCloseness(n=11, t=0.1), 10),
        (RangeDisclosure(r=0.0, at_most=0.4), 0.46),
    ],
    ids=str,
)
def test_the_best_reachable_value_is_told(model, best):
    found = answer(model)
    assert not found.feasible
    assert found.best == pytest.approx(best, abs=1e-4)
    assert model.name in found.message
    assert found.hint


def test_the_nearest_setting_named_in_the_hint_is_feasible():
    assert "Lower l to 2.45" in answer(LDiversity(l=3, kind="entropy")).hint
    assert answer(LDiversity(l=2.45, kind="entropy")).feasible


def test_entropy_is_reached_by_cutting_the_commonest_value():
    """3, 3, 1 has e^H of 2.73: three rows less reach 2.7, two do not (4, 3, 1: 2.65)."""
    model = LDiversity(l=2.7, kind="entropy")
    assert not answer(model, removable=2).feasible
    found = answer(model, removable=3)
    assert found.feasible
    assert sum(found.remove.values()) == 3


def test_entropy_counts_rows_cut_from_some_of_the_tied_values():
    """4, 4, 2 has 2.872; 3, 4, 2 has 2.889: for 2.88 one row is enough."""
    values = ["a"] * 4 + ["b"] * 4 + ["c"] * 2
    found = answer(LDiversity(l=2.88, kind="entropy"), values, removable=1)
    assert found.feasible
    assert sum(found.remove.values()) == 1


@pytest.mark.parametrize(
    "model",
    [TCloseness(t=0.0), BetaLikeness(beta=0.1), DeltaDisclosure(delta=0.1)],
    ids=str,
)
def test_one_group_is_always_like_the_table(model):
    assert answer(model).feasible


def test_a_value_that_may_not_be_ruled_out_needs_its_share_of_the_table():
    model = LDiversity(
        l=2,
        kind="negative-positive-recursive",
        c1=9.0,
        c2=0.2,
        must_occur=("gout",),
    )
    found = answer(model)
    assert not found.feasible
    assert "the rarest can reach 0.1" in found.message
    assert "Lower c2 to 0.1" in found.hint


def test_values_that_may_be_disclosed_are_not_cut():
    model = LDiversity(l=2, kind="positive-recursive", c=0.9, may_disclose=("flu",))
    assert answer(model).feasible
    assert not answer(LDiversity(l=2, kind="recursive", c=0.9)).feasible


def test_no_release_shows_more_people_than_the_population_has():
    model = KMap(k=30, population="people.csv")
    groups = sample_of([0] * 10, VALUES).groups(model, population=np.array([25]))
    found = model.feasibility(groups, removable=0)
    assert not found.feasible
    assert "30 people" in found.message
    assert "there are 25" in found.message


def test_presence_is_bounded_by_the_table_over_the_population():
    model = DeltaPresence(lower=0.0, upper=0.3)
    groups = sample_of([0] * 10, VALUES).groups(model, population=np.array([25]))
    assert not model.feasibility(groups, removable=2).feasible
    assert model.feasibility(groups, removable=3).feasible


def test_a_removal_on_a_level_names_nodes_of_that_level():
    tree = tree_axis(
        COLUMN,
        np.array([range(3), [0, 0, 1], [0, 0, 0]]),
        labels=("acne", "flu", "gout"),
    )
    model = ThetaDiversity(theta=0.5, level=1)
    whole = sample_of([0] * 6, ["acne", "flu", "flu", "acne", "gout", "gout"], tree)
    found = model.feasibility(whole.groups(model), removable=2)
    assert found.level == 1
    assert found.remove == {(COLUMN, 0): 2}


@pytest.mark.parametrize(
    ("model", "removable", "hint"),
    [
        # 6, 3, 1: leaving out two makes 4 of 8, which leaves too few for k.
        (
            AlphaK(alpha=0.5, k=9),
            3,
            "Raise alpha to 0.5556, or lower k to 8, or add rows.",
        ),
        (AlphaK(alpha=0.4, k=11), 0, "Raise alpha to 0.6 and lower k to 10, or name"),
        (Lkc(l=1, k=11, c=0.4), 0, "Raise c to 0.6 and lower k to 10, or name"),
        (PSensitive(p=4, k=5), 0, "Lower p to 3, or name"),
        (PSensitive(p=4, k=11), 0, "Lower k to 10 and lower p to 3, or name"),
        (PSensitive(p=11, k=12), 0, "Lower k to 10 and lower p to 3, or name"),
        (NTCloseness(n=11, t=0.1), 0, "Lower n to 10, or add rows."),
        (
            LDiversity(l=3, kind="recursive", c=2.0),
            0,
            "Raise c to 6.0001, or lower l to 2,",
        ),
        (
            RangeDisclosure(r=1.0, at_most=0.5),
            0,
            "Raise at_most to 0.82, or lower r to 0",
        ),
    ],
    ids=str,
)
def test_a_hint_names_every_parameter_that_helps_and_its_nearest_value(
    model, removable, hint
):
    found = answer(model, removable=removable)
    assert not found.feasible
    assert found.hint.startswith(hint)


def test_a_smaller_n_helps_where_known_columns_part_the_table():
    """Known 'a' leaves x, y, x: 1/6 away from as many x as y."""
    model = NTCloseness(n=5, t=0.1, others_known=True)
    sample = sample_of([0] * 6, list("xyxyxy"))
    other = sample_of([0] * 6, list("aaabbb")).sensitive[COLUMN]
    both = replace(sample, sensitive={**sample.sensitive, OTHER: other})
    found = model.feasibility(both.groups(model), removable=0)
    assert found.hint == "Raise t to 0.1667, or lower n to 3, or drop others_known."
