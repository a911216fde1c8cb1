"""Which candidates a policy asks for."""

from __future__ import annotations

import pytest

from sfumato.errors import PolicyError, UsageError
from sfumato.pipeline.comparison.candidate_policies import candidates, dialed
from sfumato.policy import Policy

POLICY = """
[columns]
age = { role = "quasi" }
illness = { role = "sensitive" }
[[require]]
model = "k-anonymity"
k = 2
[algorithm]
name = "mondrian"
cut = "widest"
[publish]
numbers = "bounds"
max_suppressed = 0.1
"""


def tried(text="", rows=1000, *, k=2, allow_weaker=False):
    policy = Policy.parse(POLICY + text).with_setting("require.0.k", k)
    return candidates(policy, rows=rows, allow_weaker=allow_weaker)


def sizes(found):
    return {each.settings["require.0.k"] for each in found}


def test_every_algorithm_meets_every_operator_and_value():
    found = tried(
        '[compare]\nalgorithms = ["mondrian", "datafly"]\n'
        'operators = ["generalize", "suppress"]\nset = { "require.0.k" = [2, 5] }'
    )
    assert [each.name for each in found] == [
        "mondrian, generalize, k = 2",
        "mondrian, generalize, k = 5",
        "mondrian, suppress, k = 2",
        "mondrian, suppress, k = 5",
        "datafly, generalize, k = 2",
        "datafly, generalize, k = 5",
        "datafly, suppress, k = 2",
        "datafly, suppress, k = 5",
    ]


def test_candidates_are_numbered_from_one():
    found = tried('[compare]\nset = { "require.0.k" = [2, 5] }')
    assert [each.number for each in found] == [1, 2]


def test_a_policy_without_compare_tries_a_few_algorithms_from_its_k_on():
    found = tried(k=4)
    assert len({each.algorithm for each in found}) == 5
    assert sizes(found) == {4, 5, 10, 25, 50}


def test_smaller_k_are_tried_only_if_they_are_asked_for():
    assert sizes(tried(k=4, allow_weaker=True)) == {2, 4, 5, 10, 25, 50}


def test_a_default_k_is_at_most_half_of_the_rows():
    assert sizes(tried(rows=11, k=4)) == {4, 5}


def test_options_of_the_policys_algorithm_stay_with_it_alone():
    found = tried('[compare]\nalgorithms = ["mondrian", "datafly"]')
    assert [each.policy.algorithm.settings for each in found] == [{"cut": "widest"}, {}]


def test_options_of_the_policys_operator_stay_with_it_alone():
    found = tried('[compare]\noperators = ["generalize", "microaggregate"]')
    assert [each.policy.publish.numbers for each in found] == ["bounds", None]
    assert [each.policy.publish.max_suppressed for each in found] == [0.1, 0.1]


def test_an_algorithm_is_tried_once_for_options_that_it_lacks():
    found = tried(
        '[compare]\nalgorithms = ["tgc", "mondrian"]\n'
        'set = { "algorithm.utility_weight" = [0.0, 1.0] }'
    )
    assert [each.name for each in found] == [
        "tgc, utility_weight = 0",
        "tgc, utility_weight = 1",
        "mondrian",
    ]


def test_an_option_that_no_algorithm_has_is_refused():
    with pytest.raises(UsageError, match="has the option 'speed'"):
        tried('[compare]\nset = { "algorithm.speed" = [1] }')


def test_an_unknown_algorithm_is_refused():
    with pytest.raises(PolicyError, match="There is no algorithm 'mondrain'"):
        tried('[compare]\nalgorithms = ["mondrain"]')


def test_too_many_candidates_are_refused_with_both_numbers():
    sizes = list(range(2, 1003))
    with pytest.raises(PolicyError, match="1,001 candidates; at most 1,000"):
        tried(f'[compare]\nset = {{ "require.0.k" = {sizes} }}')


def test_a_text_stays_a_text():
    found = tried('[compare]\nset = { "algorithm.cut" = ["gain", "widest"] }')
    assert [each.policy.algorithm.settings["cut"] for each in found] == [
        "gain",
        "widest",
    ]


def test_what_is_compared_is_no_part_of_a_candidates_policy():
    found = tried('[compare]\nset = { "require.0.k" = [2] }\n[accept]\nncp = 0.5')
    assert found[0].policy.accept == {}
    assert found[0].policy.compare.set == {}


def test_the_published_policy_does_not_say_what_was_compared():
    policy = Policy.parse(POLICY + '[compare]\nalgorithms = ["tgc"]\n[accept]\nncp = 1')
    assert not {"compare", "accept"} & set(policy.public_dict())


def test_a_dial_goes_from_protection_to_utility():
    found = dialed(Policy.parse(POLICY), steps=5)
    weights = [each.settings["algorithm.utility_weight"] for each in found]
    assert weights == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert {each.algorithm for each in found} == {"tgc"}


def test_a_dial_is_swept_for_every_k():
    text = '[compare]\nset = { "require.0.k" = [2, 5] }'
    found = dialed(Policy.parse(POLICY + text), steps=3)
    assert [each.settings["require.0.k"] for each in found] == [2, 2, 2, 5, 5, 5]
