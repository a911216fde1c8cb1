"""Tables of a policy against the dataclasses they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Literal

import pytest
from pydantic import ValidationError

from sfumato.errors import PolicyError
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.l_diversity import LDiversity
from sfumato.policy.fit_options import fit
from sfumato.policy.instantiate import make_model, make_named


def load(name):
    return {"k-anonymity": KAnonymity, "l-diversity": LDiversity}[name]


def test_a_table_becomes_a_model():
    made = make_model({"model": "l-diversity", "l": 2, "on": ["a", "b"]}, load=load)
    assert made == LDiversity(l=2, on=("a", "b"))


def test_faults_name_the_place_of_the_table():
    with pytest.raises(PolicyError, match=r"require\[3\] lacks 'k'"):
        make_model({"model": "k-anonymity"}, ("require", 3), load=load)


class Pace(StrEnum):
    SLOW = "slow"
    FAST = "fast"


@dataclass(frozen=True, kw_only=True)
class Options:
    name: ClassVar[str] = "toy"
    rounds: int = 1
    share: float = 0.5
    cut: Literal["widest", "gain"] = "gain"
    weights: Mapping[str, float] | None = None
    parallel: bool = True
    on: str | tuple[str, ...] | None = None
    pace: Pace = Pace.SLOW


def test_options_of_any_dataclass_are_made():
    table = {"name": "toy", "rounds": 3, "share": 1, "weights": {"a": 2}}
    made = make_named(
        table, "name", "algorithms", ("algorithm",), load=lambda _: Options
    )
    assert made == Options(rounds=3, share=1, weights={"a": 2})


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("rounds", 1.5, "algorithm.rounds is a number, not a whole number"),
        ("share", "x", "algorithm.share is a text, not a number"),
        ("cut", "best", "algorithm.cut must be one of 'widest', 'gain'"),
        ("cut", 5, "algorithm.cut must be one of 'widest', 'gain'"),
        ("weights", {"a": "x"}, "algorithm.weights.a is a text, not a number"),
        ("weights", [1], "algorithm.weights is a list, not a table"),
        ("on", 5, "algorithm.on is a whole number, not a text or a list"),
        (
            "on",
            ["a", 5],
            "algorithm.on is a list, not a text or a list whose items are each a text",
        ),
        ("pace", "wild", "algorithm.pace must be one of 'slow', 'fast'"),
        ("parallel", 1, "algorithm.parallel is a whole number, not true or false"),
        ("round", 1, "algorithm.round is unknown to toy"),
    ],
)
def test_options_of_the_wrong_type_are_named(option, value, message):
    with pytest.raises(PolicyError) as error:
        make_named(
            {"name": "toy", option: value},
            "name",
            "algorithms",
            ("algorithm",),
            load=lambda _: Options,
        )
    assert message in str(error.value)


def test_whole_numbers_fit_where_numbers_are_asked_but_not_the_reverse():
    assert fit(1, float) == 1
    with pytest.raises(ValidationError, match="int_type"):
        fit(1.0, int)


def test_a_whole_number_stays_one_where_any_number_is_allowed():
    assert repr(fit({"a": [2, 2.5]}, Mapping[str, tuple[float, ...]])) == (
        "{'a': (2, 2.5)}"
    )


def test_a_word_becomes_a_member_of_an_enumeration():
    assert fit("fast", Pace) is Pace.FAST


def test_truth_is_no_number():
    with pytest.raises(ValidationError, match="float_type"):
        fit(True, float)
