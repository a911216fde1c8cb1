"""What every attack is judged by: the promise, the gain, and the worst person."""

from __future__ import annotations

import pandas as pd
import pytest

import sfumato as sf
from sfumato.risk.attacks.judgment import (
    GAIN_LIMITS,
    WORST_LIMITS,
    Light,
    PromiseVerdict,
    Size,
    gain_over,
    gain_size,
    joint_light,
    light_of,
    size_of,
)


def attacked(ages: list[int], ills: str, names: list[str], **settings):
    """Attacks on a table that is published as it is, under k = 1 if nothing is asked."""
    table = pd.DataFrame({"age": ages, "ill": list(ills)})
    policy = sf.Policy.build(quasi="age", sensitive="ill", **settings)
    return sf.attack(table, table, names, policy, insecure_seed=1)


@pytest.mark.parametrize(
    ("gain", "size"),
    [(-0.1, "small"), (0.09, "small"), (0.0901, "noticeable"), (0.2, "noticeable")],
)
def test_a_gain_that_equals_a_limit_is_not_above_it(gain, size):
    assert size_of(gain, GAIN_LIMITS) == size
    assert size_of(0.2001, GAIN_LIMITS) == "large"


def test_the_worst_person_has_limits_of_its_own():
    sizes = [size_of(share, WORST_LIMITS) for share in (1 / 3, 0.5, 0.95)]
    assert sizes == ["small", "noticeable", "large"]


def test_a_gain_is_the_share_of_what_guessing_misses():
    assert gain_over(0.61, 0.33) == pytest.approx(0.28 / 0.67)
    assert gain_over(0.275, 0.0004) == pytest.approx(0.2747, abs=1e-4)
    assert gain_over(1.0, 1.0) == 0.0


def test_a_handful_of_people_does_not_prove_a_small_gain():
    assert gain_size(0.0, 0.088) is Size.SMALL
    assert gain_size(0.0, 0.79) is Size.NOTICEABLE


@pytest.mark.parametrize(
    ("promise", "sizes", "light"),
    [
        (PromiseVerdict.HOLDS, (Size.SMALL, Size.SMALL), Light.GREEN),
        (PromiseVerdict.HOLDS, (Size.SMALL, None), Light.GREEN),
        (PromiseVerdict.HOLDS, (Size.NOTICEABLE, Size.SMALL), Light.AMBER),
        (PromiseVerdict.HOLDS, (Size.SMALL, Size.LARGE), Light.RED),
        (PromiseVerdict.HOLDS, (Size.LARGE, Size.SMALL), Light.RED),
        (PromiseVerdict.BROKEN, (Size.SMALL, Size.SMALL), Light.RED),
    ],
)
def test_the_color_is_the_worst_of_the_three(promise, sizes, light):
    assert light_of(promise, sizes) is light


def test_several_results_are_green_only_if_a_promise_holds():
    assert joint_light([PromiseVerdict.HOLDS], [Light.GREEN]) is Light.GREEN
    assert joint_light([PromiseVerdict.NONE], [Light.GREEN]) is Light.AMBER
    assert joint_light([], []) is Light.AMBER
    assert joint_light([PromiseVerdict.HOLDS], [Light.GREEN, Light.RED]) is Light.RED


def test_a_linkage_within_its_bound_is_red_where_it_finds_many_people():
    ages = [20, 20, 30, 30, 40, 40, 50, 50]
    found = attacked(ages, "abababab", ["linkage"], k=2)
    linkage = found["linkage"]
    assert (linkage.promise, linkage.gain_size) == ("holds", "large")
    assert linkage.gain == pytest.approx((1 / 2 - 1 / 8) / (1 - 1 / 8))
    assert found.holds
    assert found.light == "red"


def test_a_value_that_is_given_away_to_one_group_is_told_of_its_people():
    ages, ills = [20] * 3 + [30] * 297, "aaa" + "abc" * 99
    result = attacked(ages, ills, ["homogeneity"], k=3)["homogeneity"]
    assert (result.success, result.gain_size) == (pytest.approx(0.01), "small")
    assert (result.worst, result.worst_size, result.light) == (1.0, "large", "red")


def test_a_mean_figure_is_no_gain():
    result = attacked([20, 20, 30, 30], "abab", ["skewness"], k=2)["skewness"]
    assert (result.gain, result.gain_size, result.worst_size) == (None, None, None)


def test_membership_gains_what_it_is_right_about_beyond_false_alarms():
    ages = [20, 20, 30, 30]
    table = pd.DataFrame({"age": ages, "sex": list("fmfm"), "ill": list("abab")})
    shown = table[["age", "sex", "ill"]]
    policy = sf.Policy.build(quasi=["age", "sex"], sensitive="ill")
    result = sf.attack(shown, table, "membership", policy)["membership"]
    # Everybody who can be made up of these columns is in the table.
    assert (result.success, result.baseline, result.gain) == (1.0, 1.0, 0.0)
    assert result.gain == result.success - result.baseline


def test_guessing_is_the_control_where_there_is_one():
    table = pd.DataFrame({"age": [20, 20, 30, 30], "ill": list("abab")})
    policy = sf.Policy.build(quasi="age", sensitive="ill", kinds={"age": "integer"})
    others = pd.DataFrame({"age": [20, 30, 40, 50], "ill": list("abab")})
    result = sf.attack(table, table, "membership", policy, control=others)["membership"]
    assert result.control == 0.5
    assert result.gain == 0.5


def test_the_record_has_what_is_judged_and_keeps_what_it_had():
    record = attacked([20, 20, 30, 30], "abab", ["linkage"], k=2).record()
    assert {"private", "holds", "light", "summary"} <= record.keys()
    assert {"attacks", "skipped", "not_tried", "stopped"} <= record.keys()
    (linkage,) = record["attacks"]
    assert linkage["promise"] == "holds"
    assert {"gain", "gain_size", "worst_size", "light", "exceeded"} <= linkage.keys()
    assert type(linkage["gain_size"]) is str
