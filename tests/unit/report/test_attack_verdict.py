"""What is said of all attacks together, and of those that were not tried."""

from __future__ import annotations

import pytest

from sfumato import registry
from sfumato.report.attack_verdict import (
    JudgedAttack,
    attack_summary,
    coverage,
    not_tried,
    not_tried_sentence,
)

LINKAGE = {
    **{"name": "linkage", "column": None, "n": 2700, "success": 0.275, "low": 0.25},
    **{"high": 0.29, "baseline": 0.0004, "control": None, "worst": 0.2, "bound": 0.34},
    "exceeded": False,
}
MILD = LINKAGE | {"success": 0.05, "high": 0.06}


def test_bounds_that_hold_are_not_said_first_where_many_people_are_found():
    summary = attack_summary([LINKAGE])
    assert (summary.light, summary.mark) == ("red", "✗")
    assert summary.sentence.startswith(
        "Largest gain over guessing: 27.5%, large (linkage: 27.5% against 0.04%). "
        "Every promised bound holds."
    )
    assert summary.short == "gain large, bounds hold, worst person small"


def test_a_small_gain_and_a_promise_that_holds_are_green():
    summary = attack_summary([MILD])
    assert (summary.light, summary.mark) == ("green", "✓")
    assert summary.sentence == (
        "Every promised bound holds. Largest gain over guessing: 4.96%, small "
        "(linkage: 5.00% against 0.04%). Worst person: 20.0%, small (linkage)."
    )


def test_a_noticeable_gain_is_amber():
    summary = attack_summary([MILD | {"success": 0.15, "high": 0.16}])
    assert (summary.light, summary.mark) == ("amber", "!")


def test_a_broken_promise_is_said_first():
    summary = attack_summary([LINKAGE | {"exceeded": True}])
    assert summary.sentence.startswith("A promised bound is exceeded.")
    assert summary.light == "red"


def test_attacks_that_nothing_bounds_are_not_said_to_be_within_bounds():
    summary = attack_summary([MILD | {"bound": None}])
    assert summary.light == "amber"
    assert "holds" not in summary.sentence
    assert "No promise bounds these attacks." in summary.sentence


def test_the_worst_person_is_named_with_the_attack_and_the_column():
    guess = LINKAGE | {"name": "guess", "column": "vote", "bound": None, "worst": 0.94}
    told = attack_summary([MILD, guess]).sentence
    assert "Worst person: 94.0%, large (guess on 'vote')." in told


def test_gains_are_told_against_the_control_where_there_is_one():
    judged = {"gain": 0.0104, "gain_size": "small", "worst_size": None}
    told = attack_summary([MILD | judged | {"control": 0.04}])
    assert "(linkage: 5.00% against 4.00%)" in told.sentence


def test_nothing_is_green_where_no_attack_was_finished():
    assert attack_summary([]).light == "amber"
    assert attack_summary([]).sentence == "No attack was finished."


def test_the_attacks_that_were_not_tried_are_listed():
    everything = registry.names("attacks")
    assert not_tried([LINKAGE]) == tuple(n for n in everything if n != "linkage")
    told = not_tried_sentence([LINKAGE])
    assert told.startswith(f"{len(everything) - 1} of {len(everything)} attacks were")
    assert "guess, homogeneity" in told
    assert not_tried_sentence([{"name": name} for name in everything]) == ""


def test_attacks_that_could_not_be_run_are_told_apart():
    told = coverage([LINKAGE], {"definetti": "the table is not swapped"})
    assert "15 of 17 attacks were not tried" in told
    assert told.endswith("1 could not be run: definetti.")


def test_results_that_were_kept_before_gains_were_judged_are_judged_now():
    assert JudgedAttack.of(LINKAGE).gain == pytest.approx(0.2747, abs=1e-4)
    assert JudgedAttack.of(LINKAGE).gain_size == "large"
