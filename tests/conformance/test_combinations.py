"""A fixed part of all combinations: none of them ends with 70."""

from __future__ import annotations

from itertools import islice

import pytest

from sfumato import registry
from sfumato.errors import GuaranteeError
from sfumato.pipeline import build_request
from sfumato.testing import combination_checks
from sfumato.testing.combination_checks import (
    Combination,
    every_combination,
    output_models,
    sampled_combinations,
)
from sfumato.testing.crowded_checks import crowded_checks


@pytest.mark.parametrize("combined", list(sampled_combinations()), ids=str)
def test_a_combination_is_proven_or_refused(combined):
    combined()


def test_the_product_has_everything_of_the_catalogue_and_is_drawn_lazily():
    found = list(every_combination())
    assert {c.algorithm for c in found} == set(registry.names("algorithms"))
    assert {c.operator for c in found} == set(registry.names("operators"))
    assert {c.model for c in found} == set(output_models())
    assert len(list(islice(every_combination(), 3))) == 3
    assert len({str(c) for c in found}) == len(found)


def test_the_sample_pairs_every_model_with_every_operator():
    shown = [check.case.split(" × ") for check in sampled_combinations()]
    pairs = {(model, operator) for _, model, operator in shown}
    assert len(pairs) == len(output_models()) * len({o for _, o in pairs})
    assert {algorithm.split("(")[0] for algorithm, _, _ in shown} == set(
        registry.names("algorithms")
    )


def test_a_draft_that_fails_its_proof_fails_the_check(monkeypatch):
    def fail(*_args, **_settings):
        raise GuaranteeError("The draft does not meet it.")

    monkeypatch.setattr(f"{combination_checks.__name__}.api.anonymize", fail)
    check = combination_checks.check_of(
        Combination("mondrian", {}, "k-anonymity", "generalize", {})
    )
    with pytest.raises(GuaranteeError):
        check()


def test_most_kinds_of_ending_are_seen_among_drawn_cases():
    endings = combination_checks.endings()
    endings.clear()
    for operator in ("generalize", "suppress"):
        combination = Combination("mondrian", {}, "l-diversity", operator, {})
        combination_checks.check_of(combination, examples=40)()
    assert endings["released"] >= 10
    assert endings["InfeasibleError"] >= 1


@pytest.mark.parametrize("crowded", list(crowded_checks()), ids=str)
def test_groups_that_look_alike_hold_together(crowded):
    crowded()


def test_crowded_tables_notice_groups_that_are_judged_apart(monkeypatch):
    monkeypatch.setattr(build_request, "_look", lambda _run, _table: None)
    failed = 0
    for crowded in crowded_checks():
        try:
            crowded()
        except GuaranteeError:
            failed += 1
    assert failed >= 5
