"""A faulty model fails the check that names its fault."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import pytest
from hypothesis import strategies as st

from sfumato.errors import UsageError
from sfumato.models.base import Feasibility, Verdict
from sfumato.models.k_anonymity import KAnonymity
from sfumato.testing.checks import check_model

SMALL_K = st.fixed_dictionaries({"k": st.integers(1, 5)})


class Nameless(KAnonymity):
    sentence = "no sentence"


class TakesAnyParameter(KAnonymity):
    def __post_init__(self):
        pass


class HasLaxRules(KAnonymity):
    def rules(self, sensitive, *, subjects):
        (rule,) = super().rules(sensitive, subjects=subjects)
        return (replace(rule, parameters=(self.k - 1,)),)


class MissesByOne(KAnonymity):
    def verify(self, groups):
        return KAnonymity(k=max(self.k - 1, 1)).verify(groups)


class HopesForTheBest(KAnonymity):
    def feasibility(self, whole, *, removable):
        return Feasibility(feasible=True)


class DespairsAtOnce(KAnonymity):
    def feasibility(self, whole, *, removable):
        return Feasibility(
            feasible=False, message="k-anonymity needs 2; has 1.", hint="None."
        )


class DespairsInSilence(KAnonymity):
    def feasibility(self, whole, *, removable):
        return replace(super().feasibility(whole, removable=removable), message="No.")


@dataclass(frozen=True, kw_only=True)
class AtMost(KAnonymity):
    """Groups of at most k rows: merging breaks it."""

    name: ClassVar[str] = "at-most"

    def verify(self, groups):
        return Verdict(bool((groups.sizes <= self.k).all()), None)


class NeedsCompany(KAnonymity):
    """There are two groups or more: leaving one of two out breaks it."""

    def verify(self, groups):
        return Verdict(groups.count >= 2, None)


class IsStricterBelow(KAnonymity):
    """Says that it asks for more where k is smaller."""

    stricter_above: ClassVar[tuple[str, ...]] = ()
    stricter_below: ClassVar[tuple[str, ...]] = ("k",)


class MindsNumbers(KAnonymity):
    def verify(self, groups):
        return Verdict(bool((groups.sizes[:1] >= self.k).all()), None)


FAULTS = [
    (Nameless, "has a name, a sentence and a blind spot"),
    (TakesAnyParameter, "parameters are validated when made"),
    (HasLaxRules, "the NumPy form agrees with the compiled rules"),
    (HasLaxRules, "the compiled rules are safe with subjects"),
    (MissesByOne, "the NumPy form agrees with its definition"),
    (HopesForTheBest, "feasibility agrees with trying everything"),
    (DespairsAtOnce, "feasibility agrees with trying everything"),
    (DespairsInSilence, "feasibility agrees with trying everything"),
    (AtMost, "monotone under merging as declared"),
    (NeedsCompany, "monotone under suppression as declared"),
    (IsStricterBelow, "strictness of parameters is as declared"),
    (MindsNumbers, "the numbering of groups does not matter"),
]


@pytest.mark.parametrize(("faulty", "statement"), FAULTS)
def test_a_fault_is_found_by_the_check_that_names_it(faulty, statement):
    checks = check_model(faulty, parameters=SMALL_K)
    (check,) = [check for check in checks if check.name == statement]
    with pytest.raises(AssertionError):
        check()


class HasNoExamples(KAnonymity):
    examples = ()


def test_a_model_without_examples_is_told_to_bring_some():
    with pytest.raises(UsageError, match="'k-anonymity' has no examples") as caught:
        check_model(HasNoExamples)
    assert "parameters" in caught.value.hint


def test_a_model_without_a_definition_fails_its_check():
    (check,) = [c for c in check_model(AtMost) if "definition" in c.name]
    with pytest.raises(AssertionError, match="at-most has no definition"):
        check()


class DefinesItself(AtMost):
    name = "at-most-by-itself"

    def definition(self, group):
        return group.size <= self.k


def test_a_model_may_bring_its_definition():
    (check,) = [c for c in check_model(DefinesItself) if "definition" in c.name]
    check()
