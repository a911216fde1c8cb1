"""Sensitive cells that do not say which value they are: the worst that they allow."""

from __future__ import annotations

from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from pyarrow.csv import write_csv

import sfumato as sf
from sfumato.cli.assessment_text import assessment_lines

TREE = {"tree": {"lungs": ["flu", "cold"], "skin": ["acne", "rash"]}}
VALUES = ("flu", "cold", "acne", "rash")
MEANING = {
    **{value: (value,) for value in VALUES},
    "lungs": VALUES[:2],
    "skin": VALUES[2:],
    "{cold|acne}": VALUES[1:3],
    "*": VALUES,
}
HOME = list("aaabbb")
ILL = ["flu", "cold", "acne", "flu", "rash", "rash"]


def policy(**more):
    return sf.Policy.build(
        quasi=["home"],
        sensitive=["ill"],
        hierarchies={"ill": TREE},
        kinds={"home": "category", "ill": "category"},
        **more,
    )


def assessed(shown, *, ill=ILL, home=HOME, **more):
    original = pa.table({"home": home, "ill": ill})
    published = pa.table({"home": home, "ill": shown})
    return sf.assess(original, published, policy(**more))


def figures(shown, **more):
    return assessed(shown, **more).risk["sensitive"]["ill"]


def brute_force(shown, home, ill):
    """l, θ and t over all values that cells may have; t by the plain definition."""
    worst = [len(home), 0.0, 0.0]
    reference = {value: ill.count(value) / len(ill) for value in VALUES}
    for group in sorted(set(home)):
        cells = [MEANING[s] for s, h in zip(shown, home, strict=True) if h == group]
        for values in product(*cells):
            share = {value: values.count(value) / len(values) for value in VALUES}
            worst[0] = min(worst[0], len(set(values)))
            worst[1] = max(worst[1], max(share.values()))
            worst[2] = max(worst[2], hierarchical(share, reference))
    return worst


def hierarchical(share, reference):
    """The earth mover's distance on the tree: half a step within a part, 1 across."""
    extra = {value: share[value] - reference[value] for value in VALUES}
    within = 0.0
    across = 0.0
    for part in (VALUES[:2], VALUES[2:]):
        plus = sum(max(extra[value], 0.0) for value in part)
        minus = sum(max(-extra[value], 0.0) for value in part)
        within += 0.5 * min(plus, minus)
        across += max(plus - minus, 0.0)
    return within + across


def test_exact_cells_are_measured_as_before():
    found = figures(ILL)
    assert (found["l"], found["theta"]) == (2, pytest.approx(2 / 3))
    assert found["t"] == pytest.approx(brute_force(ILL, HOME, ILL)[2])
    assert "uncertain_cells" not in found


def test_a_star_is_no_further_value():
    # In the first group the star may be flu or cold; in the second it may be rash.
    shown = ["flu", "cold", "*", "*", "rash", "rash"]
    assert figures(shown)["l"] == 1
    assert figures(shown)["theta"] == 1.0
    assert figures(shown)["uncertain_cells"] == 2


def test_labels_without_a_value_in_common_are_two_values():
    shown = ["lungs", "lungs", "skin", "flu", "skin", "skin"]
    assert figures(shown)["l"] == 2
    assert figures(shown)["theta"] == pytest.approx(2 / 3)


def test_a_group_of_one_label_may_have_one_value():
    assert figures(["lungs", "lungs", "skin", "flu", "skin", "{cold|acne}"])["l"] == 2
    assert figures(["lungs", "lungs", "lungs", "flu", "skin", "skin"])["l"] == 1


@pytest.mark.parametrize("seed", range(60))
def test_figures_bound_all_values_that_cells_may_have(seed):
    draw = np.random.default_rng(seed)
    home = [*"aabb", *draw.choice(list("abc"), 5)]
    # A cell can only stand for values that the original has: here it has all.
    ill = [*VALUES, *(str(value) for value in draw.choice(VALUES, 5))]
    shown = [
        str(draw.choice([text for text, means in MEANING.items() if value in means]))
        for value in ill
    ]
    if shown == ill:
        shown[0] = "*"
    found = figures(shown, ill=ill, home=home)
    fewest, most, furthest = brute_force(shown, home, ill)
    if not any("{" in text for text in shown):
        assert (found["l"], found["theta"]) == (fewest, pytest.approx(most))
    assert found["l"] <= fewest
    assert found["theta"] >= most - 1e-9
    assert found["t"] >= furthest - 1e-9
    # Hiding one more cell makes nothing look better.
    at = int(draw.integers(len(shown)))
    hidden = figures([*shown[:at], "*", *shown[at + 1 :]], ill=ill, home=home)
    assert hidden["l"] <= found["l"]
    assert hidden["theta"] >= found["theta"] - 1e-9
    assert hidden["t"] >= found["t"] - 1e-9


def test_intervals_of_a_sensitive_number_are_read():
    original = pa.table({"home": HOME, "cost": [1, 5, 9, 2, 6, 7]})
    published = pa.table({"home": HOME, "cost": ["1", "[4, 6]", "9", "*", "6", "7"]})
    asked = sf.Policy.build(
        quasi=["home"], sensitive=["cost"], kinds={"cost": "integer"}
    )
    found = sf.assess(original, published, asked).risk["sensitive"]["cost"]
    assert (found["l"], found["theta"]) == (2, pytest.approx(2 / 3))


def test_a_text_that_means_nothing_may_be_any_value():
    found = assessed(["flu", "cold", "???", "flu", "rash", "rash"])
    assert found.risk["sensitive"]["ill"]["l"] == 2
    assert found.unrecognized_cells == {"ill": 1}


def test_requirements_on_such_a_column_are_judged_at_their_worst_or_not_at_all():
    shown = ["lungs", "lungs", "skin", "flu", "rash", "rash"]
    found = assessed(
        shown,
        require=[
            {"model": "k-anonymity", "k": 3},
            {"model": "l-diversity", "l": 3},
            {"model": "theta-diversity", "theta": 0.7},
            {"model": "t-closeness", "t": 0.9},
        ],
    )
    judged = {each["model"]: each["holds"] for each in found.risk["requirements"]}
    assert judged == {
        "k-anonymity": True,
        "l-diversity": False,
        "theta-diversity": True,
    }
    assert "Not judged, because of such cells: t-closeness." in found.notes


def test_people_read_that_figures_are_the_worst_case():
    said = "\n".join(assessment_lines(assessed(["*", *ILL[1:]])))
    assert "at worst (1 uncertain cell)" in said
    assert "1 cell of 'ill' does not say which value it is" in said


def test_an_anatomy_with_labels_is_measured_by_its_groups(tmp_path):
    data = pa.table({"home": HOME, "group": ["1", "1", "1", "2", "2", "2"]})
    values = pa.table(
        {
            "group": ["1", "1", "2", "2"],
            "ill": ["lungs", "skin", "*", "rash"],
            "count": [2, 1, 1, 2],
        }
    )
    for name, table in (("data", data), ("sensitive", values)):
        write_csv(table, tmp_path / f"{name}.csv")
    original = pa.table({"home": HOME, "ill": ILL})
    asked = policy(publish={"operator": "anatomize"})
    found = sf.assess(original, tmp_path / "data.csv", asked).risk["sensitive"]["ill"]
    assert (found["l"], found["theta"], found["uncertain_cells"]) == (1, 1.0, 4)
