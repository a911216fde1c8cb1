"""Parameters are judged when a model is made, and the words say what is wrong."""

from __future__ import annotations

import pytest

from sfumato.errors import PolicyError
from sfumato.models.beta_likeness import BetaLikeness
from sfumato.models.delta_presence import DeltaPresence
from sfumato.models.l_diversity import LDiversity
from sfumato.models.lkc import Lkc
from sfumato.models.p_sensitive import PSensitive
from sfumato.models.t_closeness import TCloseness
from sfumato.models.theta_diversity import ThetaDiversity

FAULTS = [
    (lambda: LDiversity(l=2, kind="most"), "kind is 'most'", "distinct, entropy"),
    (lambda: LDiversity(l=2, kind="recursive"), "c is 0.0", "above 0"),
    (lambda: LDiversity(l=1, kind="recursive", c=2.0), "l is 1", "needs l ≥ 2"),
    (lambda: LDiversity(l=2, c=2.0), "c has no meaning", "Remove c"),
    (lambda: LDiversity(l=2.5), "l is 2.5", "whole number"),
    (
        lambda: LDiversity(l=2, kind="negative-positive-recursive", c1=2.0, c2=0.1),
        "must_occur is empty",
        "Name the values",
    ),
    (
        lambda: LDiversity(l=2, kind="recursive", c=2.0, may_disclose=("a",)),
        "may_disclose has no meaning",
        "Remove may_disclose",
    ),
    (lambda: ThetaDiversity(theta=50), "theta is 50", "above 0 and at most 1"),
    (lambda: ThetaDiversity(theta=0.5, level=-1), "level is -1", "at least 0"),
    (lambda: TCloseness(t=0.1, distance="far"), "distance is 'far'", "equal, ordered"),
    (lambda: TCloseness(t=0.1, reference="all"), "reference is 'all'", "source"),
    (lambda: BetaLikeness(beta=0), "beta is 0", "above 0"),
    (lambda: PSensitive(p=4, k=3), "p is 4, k is 3", "raise k"),
    (lambda: DeltaPresence(lower=0.6, upper=0.5), "lower is 0.6", "not exceed"),
    (lambda: Lkc(l=1, k=2, c=0.5, others_known=True), "others_known", "remove"),
]


@pytest.mark.parametrize(("make", "message", "hint"), FAULTS)
def test_a_wrong_parameter_is_named_with_a_way_out(make, message, hint):
    with pytest.raises(PolicyError) as caught:
        make()
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")


def test_a_requirement_on_sensitive_values_needs_a_sensitive_column():
    with pytest.raises(PolicyError, match="no sensitive column"):
        ThetaDiversity(theta=0.5).views(())


def test_on_may_only_name_sensitive_columns():
    with pytest.raises(PolicyError, match="'age' is not a sensitive column"):
        ThetaDiversity(theta=0.5, on="age").views(("illness",))


def test_parameters_left_out_are_not_written_down():
    assert "c" not in LDiversity(l=2).parameters()
    assert "may_disclose" not in LDiversity(l=2).parameters()


def test_values_to_disclose_may_be_one_word():
    model = LDiversity(l=2, kind="positive-recursive", c=2.0, may_disclose="flu")
    assert model.may_disclose == ("flu",)
