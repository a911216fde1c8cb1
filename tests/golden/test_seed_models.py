"""The worked examples of the seed documents, as they are printed there."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.models.alpha_k import AlphaK
from sfumato.models.beta_likeness import BetaLikeness
from sfumato.models.common.distances import s_diversity
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.l_diversity import LDiversity
from sfumato.models.p_sensitive import PSensitive
from sfumato.models.range_disclosure import RangeDisclosure
from sfumato.models.t_closeness import TCloseness
from sfumato.models.theta_diversity import ThetaDiversity
from sfumato.testing.random_groups import COLUMN, sample_of, tree_axis


def verdict(model, sample):
    return model.verify(sample.groups(model))


def measured(model, sample):
    return verdict(model, sample).measured


# Boger 2020, figures 1 to 3.

FIGURE_1 = sample_of(
    ["20-30 Bachelors"] * 3 + ["30-40 Doctorate"] * 3,
    ["Sales"] * 3 + ["Prof-specialty", "Exec-managerial", "Armed-Forces"],
)
FIGURE_2 = sample_of(
    ["20-30 Bachelors"] * 4 + ["30-40 Doctorate"] * 4,
    [
        "Sales",
        "Sales",
        "Sales",
        "Craft-repair",
        "Sales",
        "Armed-Forces",
        "Prof-specialty",
        "Sales",
    ],
)
FIGURE_3 = sample_of(
    ["cluster"] * 4, ["Sales", "Armed-Forces", "Sales", "Craft-repair"]
)


def test_figure_1_is_3_anonymous_but_not_2_diverse():
    assert measured(KAnonymity(k=3), FIGURE_1) == 3
    found = verdict(LDiversity(l=2), FIGURE_1)
    assert (found.holds, found.measured, found.offending) == (False, 1, 1)


def test_figure_2_is_3_anonymous_and_2_diverse():
    assert verdict(KAnonymity(k=3), FIGURE_2).holds
    assert verdict(LDiversity(l=2), FIGURE_2).holds


def test_figure_2_is_not_half_theta_diverse():
    found = verdict(ThetaDiversity(theta=0.5), FIGURE_2)
    assert (found.holds, found.measured, found.offending) == (False, 0.75, 1)


def test_figure_3_is_4_anonymous_3_diverse_and_half_theta_diverse():
    assert measured(KAnonymity(k=4), FIGURE_3) == 4
    assert measured(LDiversity(l=3), FIGURE_3) == 3
    found = verdict(ThetaDiversity(theta=0.5), FIGURE_3)
    assert (found.holds, found.measured) == (True, 0.5)


# Kuksina 2023, tables 2.1 to 2.4.

DIAGNOSES = [
    *("Stroke", "Infarction", "Rosacea", "Flu"),
    *("Arrhythmias", "Hypertension", "Infarction", "Hypertension"),
    *("Cirrhosis", "Cirrhosis", "Hemophilia", "Hemophilia"),
]
TABLE_2_1 = sample_of(range(12), DIAGNOSES)
TABLE_2_2 = sample_of(
    [">45 * 705**"] * 4 + [">45 * 7037*"] * 4 + ["≤45 * 7017*"] * 4, DIAGNOSES
)
TABLE_2_3 = sample_of([">60 * 70535"] * 4, ["Yes", "Yes", "No", "No"])
TABLE_2_4 = sample_of(
    ["[20-35] M 705**"] * 4, ["Acne", "Psoriasis", "Alopecia", "Dermatitis"]
)


def test_table_2_1_is_1_anonymous():
    assert measured(KAnonymity(k=4), TABLE_2_1) == 1


def test_table_2_2_is_4_anonymous_in_three_groups():
    found = sorted(TABLE_2_2.groups().sizes.tolist())
    assert found == [4, 4, 4]
    assert verdict(KAnonymity(k=4), TABLE_2_2).holds


def test_table_2_2_is_2_sensitive():
    assert measured(PSensitive(p=2, k=4), TABLE_2_2) == 2


def test_ruling_out_hemophilia_leaves_one_value_in_table_2_2():
    """The background knowledge attack: (c, 3)-diversity holds for no c."""
    assert measured(LDiversity(l=3, kind="recursive", c=9.0), TABLE_2_2) is None


def test_table_2_3_is_2_diverse_in_every_kind():
    assert measured(LDiversity(l=2), TABLE_2_3) == 2
    assert measured(LDiversity(l=2, kind="entropy"), TABLE_2_3) == pytest.approx(2)
    assert verdict(LDiversity(l=2, kind="recursive", c=1.5), TABLE_2_3).holds


def test_the_skewness_attack_on_table_2_3_is_seen_by_t_and_beta():
    """Half the group is positive, but 5 % of the table: 45 points apart, 10 times."""
    rest = ["Yes"] * 2 + ["No"] * 74
    sample = sample_of(["group"] * 4 + ["rest"] * 76, ["Yes", "Yes", "No", "No", *rest])
    assert measured(TCloseness(t=0.2), sample) == pytest.approx(0.45)
    assert measured(BetaLikeness(beta=1), sample) == pytest.approx(9)


def test_table_2_4_is_4_diverse():
    assert measured(LDiversity(l=4), TABLE_2_4) == 4
    assert measured(LDiversity(l=4, kind="entropy"), TABLE_2_4) == pytest.approx(4)


def test_the_similarity_attack_on_table_2_4_is_seen_one_level_up():
    """All four are skin disorders: on that level there is one value."""
    labels = ("Acne", "Alopecia", "Dermatitis", "Psoriasis", "Flu")
    skin = tree_axis(
        COLUMN, np.array([range(5), [0, 0, 0, 0, 1], [0] * 5]), labels=labels
    )
    sample = sample_of(["group"] * 4, list(labels[:4]), skin)
    assert measured(LDiversity(l=4, level=1), sample) == 1


# The slides: 5 of 7 Exec-managerial, 663 of 5,000 in the table (13.26 %).


def skewed():
    rest = ["Exec-managerial"] * 658 + ["Adm-clerical"] * 4000 + ["Sales"] * 335
    group = ["Craft-repair", "Transport-moving"] + ["Exec-managerial"] * 5
    return sample_of(["group"] * 7 + ["rest"] * 4993, group + rest)


def test_5_of_7_against_13_26_percent_is_3_diverse():
    assert measured(LDiversity(l=3), skewed()) == 3


def test_5_of_7_is_a_share_of_71_4_percent():
    sample = sample_of(["group"] * 7, ["a", "b"] + ["Exec-managerial"] * 5)
    assert measured(AlphaK(alpha=0.5, k=7), sample) == pytest.approx(5 / 7)


def test_5_of_7_against_13_26_percent_gains_more_than_fourfold():
    """(5/7 − 0.1326) / 0.1326 for that value; the two single rows gain far more."""
    histogram = BetaLikeness(beta=1).histograms(skewed().groups(BetaLikeness(beta=1)))[
        0
    ]
    code = histogram.axis.labels.index("Exec-managerial")
    at = int(np.flatnonzero(histogram.codes[:3] == code)[0])
    gain = histogram.shares[at] / histogram.reference[code] - 1
    assert gain == pytest.approx((5 / 7 - 0.1326) / 0.1326)


def test_5_of_7_against_13_26_percent_is_far_from_the_table():
    """Equal distance: all of the group's surplus, 5/7 − 0.1326 + 2 (1/7 − 1/5000)."""
    expected = 5 / 7 - 0.1326 + 2 * (1 / 7 - 1 / 5000)
    assert measured(TCloseness(t=0.2), skewed()) == pytest.approx(expected)


# Loukides and Shao 2008, table 1, with the hierarchy
# root(Cancer, x(HIV, respiratory(Flu, Bronchitis, Pneumonia))).

DISEASES = ("Cancer", "HIV", "Flu", "Bronchitis", "Pneumonia")
FIGURE_3_TREE = tree_axis(
    COLUMN,
    np.array([range(5), [0, 1, 2, 2, 2], [0, 1, 1, 1, 1], [0, 0, 0, 0, 0]]),
    labels=DISEASES,
)
TABLE_1 = sample_of(
    ["g1"] * 3 + ["g2"] * 3 + ["g3"] * 3,
    [
        "Cancer",
        "HIV",
        "Flu",
        "Bronchitis",
        "Flu",
        "Pneumonia",
        "Bronchitis",
        "Flu",
        "HIV",
    ],
    FIGURE_3_TREE,
)


@pytest.mark.parametrize(
    ("group", "r", "printed"),
    [(0, 0.5, 0.333), (1, 0.5, 0.733), (2, 0.5, 0.467), (2, 0.7, 0.644)],
)
def test_s_diversity_is_as_printed(group, r, printed):
    model = RangeDisclosure(r=r, at_most=0.5)
    found = s_diversity(model.histograms(TABLE_1.groups(model))[0], r=r)
    assert found[group] == pytest.approx(printed, abs=5e-4)


def test_range_disclosure_of_table_1_is_that_of_its_second_group():
    found = verdict(RangeDisclosure(r=0.5, at_most=0.5), TABLE_1)
    assert (found.holds, found.offending) == (False, 1)
    assert found.measured == pytest.approx(0.7333, abs=1e-4)


def test_entropy_of_exactly_log_3_is_3_diverse():
    sample = sample_of([0] * 6, ["a", "a", "b", "b", "c", "c"])
    found = verdict(LDiversity(l=3, kind="entropy"), sample)
    assert found.holds
    assert found.measured == pytest.approx(3)
