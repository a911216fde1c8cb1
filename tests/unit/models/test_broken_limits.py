"""Of a model with several limits, verdict and outlook name the one that matters."""

from __future__ import annotations

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InfeasibleError
from sfumato.report.number_text import measured

PEOPLE = pa.table(
    {"age": ["20"] * 4 + ["30"] * 6, "ill": ["a", "b", "c", "d"] + ["a", "b"] * 3}
)
MODELS = {
    "p-sensitive": ({"p": 2, "k": 5}, {"k": 4.0}),
    "alpha-k": ({"alpha": 0.5, "k": 5}, {"k": 4.0}),
    "lkc": ({"l": 1, "k": 5, "c": 0.5}, {"k": 4.0}),
}


def policy_of(model: str, parameters: dict[str, float]) -> sf.Policy:
    policy = sf.Policy.build(quasi="age", sensitive="ill", k=2)
    return policy.with_settings({"require": [{"model": model, **parameters}]})


@pytest.mark.parametrize("model", MODELS)
def test_a_check_names_the_limit_that_broke(model):
    parameters, broken = MODELS[model]
    (verdict,) = sf.check(PEOPLE, policy_of(model, parameters)).verdicts
    assert not verdict["holds"]
    assert verdict["broken_limits"] == broken
    assert measured(verdict) == "k = 4"


def test_both_limits_are_named_where_both_break():
    policy = policy_of("p-sensitive", {"p": 3, "k": 5})
    (verdict,) = sf.check(PEOPLE, policy).verdicts
    assert verdict["broken_limits"] == {"p": 2.0, "k": 4.0}
    assert measured(verdict) == "p = 2, k = 4"


def test_a_limit_that_holds_is_not_named():
    (verdict,) = sf.check(PEOPLE, policy_of("p-sensitive", {"p": 2, "k": 4})).verdicts
    assert verdict["holds"]
    assert "broken_limits" not in verdict


def test_advice_names_the_parameter_of_the_tightest_value():
    advice = sf.advise(PEOPLE, policy_of("p-sensitive", {"p": 2, "k": 4_000}))
    (outlook,) = advice.outlooks
    assert (outlook.parameter, outlook.tightest) == ("k", 10.0)
    with pytest.raises(InfeasibleError, match="groups of at least 4,000"):
        sf.anonymize(PEOPLE, policy_of("p-sensitive", {"p": 2, "k": 4_000}))
