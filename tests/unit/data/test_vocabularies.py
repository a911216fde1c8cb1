"""Built-in vocabularies group common values, whatever their language."""

from __future__ import annotations

import pytest

from sfumato.data.vocabularies import NAMES, group, recognized


@pytest.mark.parametrize(
    ("vocabulary", "value", "narrow", "broad"),
    [
        ("country", "Österreich", "Western Europe", "Europe"),
        ("country", "BRA", "South America", "Americas"),
        ("country", "Côte d'Ivoire", "Western Africa", "Africa"),
        ("us_state", "tx", "West South Central", "South"),
        ("education", "PhD", "Master's level or above", "Higher education"),
        (
            "education",
            "Abitur",
            "Upper secondary school",
            "Upper secondary or vocational",
        ),
        (
            "marital",
            "verheiratet",
            "Lives with a spouse or partner",
            "Has or had a spouse",
        ),
        ("marital", "Soltera", "Never married", "Never had a spouse"),
        ("employment", "Self-employed", "Self-employed", "In paid work"),
        ("occupation", "Krankenpflegerin", "Health", "Office and expert work"),
        ("occupation", "truck driver", "Machines and transport", "Manual work"),
    ],
)
def test_values_find_their_groups(vocabulary, value, narrow, broad):
    found = group(vocabulary, value)
    assert found is not None
    assert (found.narrow, found.broad) == (narrow, broad)


def test_the_longest_spelling_decides():
    some = group("education", "Some high school")
    diploma = group("education", "High school")
    assert some is not None
    assert diploma is not None
    assert (some.narrow, diploma.narrow) == (
        "Lower secondary school",
        "Upper secondary school",
    )


def test_a_short_code_inside_a_value_is_no_country():
    assert group("country", "born in Mars") is None


def test_the_known_share_counts_distinct_values():
    assert recognized("country", ["France", "Atlantis"]) == 0.5
    assert recognized("country", []) == 0.0


@pytest.mark.parametrize("vocabulary", NAMES)
def test_every_vocabulary_can_be_read_and_knows_nothing_of_nonsense(vocabulary):
    assert group(vocabulary, "qwrtzp") is None
