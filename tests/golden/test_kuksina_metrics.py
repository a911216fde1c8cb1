"""Table 6.1 of Kuksina (2023): two groups of three rows, as another tool would print it."""

from __future__ import annotations

import pyarrow as pa

import sfumato as sf

ORIGINAL = {
    "age": ["25", "30", "35", "55", "60", "65"],
    "zip": ["77021", "77023", "77029", "77011", "77014", "77018"],
    "class": ["Private", "Self-employed", "Private", "State", "Federal", "Federal"],
    "disease": [
        "Acne",
        "Psoriasis",
        "Hemophilia",
        "Hypertension",
        "Cirrhosis",
        "Hypertension",
    ],
}
PUBLISHED = {
    "age": ["[25-35]"] * 3 + ["[55-65]"] * 3,
    "zip": ["7702*"] * 3 + ["7701*"] * 3,
    "class": ["Non-Government"] * 3 + ["Government"] * 3,
    "disease": ORIGINAL["disease"],
}
CLASSES = {
    "tree": {
        "Non-Government": ["Private", "Self-employed"],
        "Government": ["State", "Federal"],
    }
}


def assessed():
    return sf.assess(
        pa.table(ORIGINAL),
        pa.table(PUBLISHED),
        quasi=["age", "zip", "class"],
        sensitive="disease",
        kinds={"zip": "code"},
        hierarchies={"class": CLASSES},
        k=3,
    )


def test_discernibility_is_18():
    assert assessed().utility["discernibility"] == 18


def test_the_average_class_is_as_small_as_k_allows():
    assert assessed().utility["average_class_size"] == 1


def test_every_cell_of_the_table_is_recognized():
    assert assessed().unrecognized_cells == {}


def test_the_table_is_3_anonymous():
    assert assessed().risk["k"] == 3


def test_losses_are_those_of_the_printed_cells():
    # Ages take 10 of 40 years, codes 3 of 6, classes 2 of 4.
    assert assessed().utility["ncp"] == (10 / 40 + 3 / 6 + 2 / 4) / 3
