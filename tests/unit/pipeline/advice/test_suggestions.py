"""Suggestions are numbered by gain, and only those that agree are applied together."""

from __future__ import annotations

from typing import Any

import pytest

from sfumato.errors import UsageError
from sfumato.pipeline.advice.suggestions import (
    Suggestion,
    Topic,
    chosen,
    merged_settings,
    numbered,
)


def edit(
    settings: dict[str, Any], gain: float | None = None, **more: Any
) -> Suggestion:
    loss = None if gain is None else 0.5 - gain
    return Suggestion(
        topic=Topic.COLUMN,
        text="Do it.",
        reason="Because.",
        settings=settings,
        loss_before=0.5,
        loss=loss,
        **more,
    )


def test_what_is_needed_comes_first_then_the_greatest_gain_then_the_unmeasured():
    found = numbered(
        [
            edit({"a": 1}),
            edit({"b": 1}, 0.1),
            edit({"c": 1}, 0.2),
            edit({"d": 1}, needed=True),
        ]
    )
    assert [(each.number, *each.settings) for each in found] == [
        (1, "d"),
        (2, "c"),
        (3, "b"),
        (4, "a"),
    ]


def test_the_same_edit_is_named_once_with_both_reasons():
    (found,) = numbered([edit({"a": 1}), edit({"a": 1}, 0.1)])
    assert found.gain == pytest.approx(0.1)
    assert found.reason == "Because. Because."


@pytest.mark.parametrize(("gain", "first"), [(0.07, "b"), (0.06, "a")])
def test_a_column_that_makes_most_rows_rare_comes_before_a_gain_like_its_own(
    gain, first
):
    rare = {"rare_rows": 90, "rare_rows_left": 10}
    found = numbered([edit({"a": 1}, 0.1), edit({"b": 1}, gain, facts=rare)])
    assert list(found[0].settings) == [first]


def test_settings_that_contradict_each_other_are_refused():
    both = numbered([edit({"require.0.k": 3}, 0.2), edit({"require.0.k": 4}, 0.1)])
    with pytest.raises(UsageError, match=r"Advice 1 and 2 cannot .* 'require.0.k'"):
        merged_settings(both)


def test_a_column_is_not_left_out_and_changed():
    both = numbered(
        [
            edit({'columns."a b".drop': True}, 0.2),
            edit({'columns."a b".hierarchy': "auto"}, 0.1),
        ]
    )
    with pytest.raises(UsageError, match="one leaves out 'a b', and the other changes"):
        merged_settings(both)


def test_an_unknown_number_is_refused():
    with pytest.raises(UsageError, match="There is no advice 3") as fault:
        chosen(numbered([edit({"a": 1})]), [1, 3])
    assert fault.value.hint == "Its numbers are 1 to 1."


def test_a_number_given_twice_counts_once():
    assert len(chosen(numbered([edit({"a": 1})]), [1, 1])) == 1
