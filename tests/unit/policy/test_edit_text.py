"""Settings change in the text of a policy, and everything else stays as it is."""

from __future__ import annotations

import tomllib

import pytest

import sfumato as sf
from sfumato.policy.edit_text import toml_value

TEXT = """\
# Written by hand.
version = 1
unlisted = "drop"  # only these

[columns.age]
role = "quasi"          # known to neighbors
hierarchy = { intervals = [5, 10] }

[columns."job title"]
role = "quasi"

[[require]]
model = "k-anonymity"
k = 5   # nobody # stands out

[[require]]
model = "l-diversity"
l = 2
on = [
  "illness",  # the main one
]

[columns.illness]
role = "sensitive"
"""
INLINE = """\
version = 1
require = [{ model = "k-anonymity", k = 5 }]
[columns]
age = { role = "quasi" }  # inline
town.role = "quasi"
"""


def edited(text: str, **settings: object) -> str:
    return sf.Policy.parse(text).edited(
        {key.replace("__", "."): value for key, value in settings.items()}
    )


def changed_lines(before: str, after: str) -> list[str]:
    """The lines of a text that another does not have."""
    return [line for line in after.splitlines() if line not in before.splitlines()]


def test_a_value_is_replaced_and_the_old_one_stays_in_the_comment():
    after = edited(TEXT, require__0__k=4)
    assert changed_lines(TEXT, after) == ["k = 4  # was 5"]
    assert len(after.splitlines()) == len(TEXT.splitlines())


def test_the_second_requirement_is_not_the_first():
    after = edited(TEXT, require__1__l=3)
    assert changed_lines(TEXT, after) == ["l = 3  # was 2"]


def test_a_new_setting_goes_into_its_table():
    after = edited(TEXT, columns__age__drop=True).splitlines()
    assert after[after.index("drop = true") - 1].startswith("hierarchy")


def test_a_column_whose_name_needs_quotes_is_found():
    after = sf.Policy.parse(TEXT).edited({'columns."job title".drop': True})
    assert changed_lines(TEXT, after) == ["drop = true"]


def test_a_new_table_goes_to_the_end():
    after = edited(TEXT, publish__max_suppressed=0.01)
    assert after == TEXT + "\n[publish]\nmax_suppressed = 0.01\n"


def test_a_setting_above_all_tables_stays_there():
    after = edited(TEXT, unlisted="keep")
    assert changed_lines(TEXT, after) == ['unlisted = "keep"  # was "drop"']


def test_none_takes_a_setting_away():
    after = edited(TEXT, columns__age__hierarchy=None)
    assert "hierarchy" not in after
    assert "# known to neighbors" in after


def test_a_list_over_several_lines_is_replaced_whole():
    text = TEXT.replace("[columns.illness]", "[columns.cost]\nrole = 'sensitive'\n$&")
    text = text.replace("$&", "[columns.illness]")
    after = sf.Policy.parse(text).edited({"require.1.on": ["illness", "cost"]})
    assert tomllib.loads(after)["require"][1]["on"] == ["illness", "cost"]
    assert "# Written by hand." in after


@pytest.mark.parametrize(
    ("key", "value"),
    [("require.0.k", 3), ("columns.age.drop", True), ("columns.town.drop", True)],
)
def test_inline_tables_and_dotted_keys_are_changed_in_place(key, value):
    policy = sf.Policy.parse(INLINE)
    after = policy.edited({key: value})
    assert sf.Policy.parse(after) == policy.with_setting(key, value)
    assert "# inline" in after


def test_a_policy_that_has_no_text_is_written_anew():
    policy = sf.Policy.build(quasi=["age"], k=5)
    assert sf.Policy.parse(policy.edited({"require.0.k": 7})).require[0].settings == {
        "k": 7
    }


def test_text_that_cannot_be_changed_in_place_is_written_anew():
    text = TEXT.replace("k = 5", '"k" = 5').replace("[[require]]", "[[ require ]]", 1)
    after = sf.Policy.parse(text).edited({"require.0.k": 7})
    assert sf.Policy.parse(after).require[0].settings == {"k": 7}


@pytest.mark.parametrize(
    "value",
    [True, 3, 0.25, 'a "b"\n', ["x", 1], {"intervals": [5, 10], "a b": {"c": "d"}}, {}],
)
def test_values_are_read_back_as_they_were(value):
    assert tomllib.loads(f"x = {toml_value(value)}")["x"] == value


def test_the_first_value_stays_in_the_comment():
    once = edited(TEXT, require__0__k=4)
    twice = edited(once, require__0__k=7)
    assert changed_lines(TEXT, twice) == ["k = 7  # was 5"]


def test_a_reason_that_an_earlier_version_kept_goes_with_the_next_change():
    text = TEXT.replace("# nobody # stands out", "# was 3; nobody stands out from 2")
    assert changed_lines(text, edited(text, require__0__k=7)) == ["k = 7  # was 3"]


def test_a_value_that_comes_back_needs_no_comment():
    once = edited(TEXT, require__0__k=4)
    assert changed_lines(TEXT, edited(once, require__0__k=5)) == ["k = 5"]


def test_a_value_that_does_not_change_keeps_its_comment():
    assert edited(TEXT, require__0__k=5) == TEXT.replace("k = 5   #", "k = 5  #")


def test_the_comment_of_an_inline_table_goes_with_a_setting_that_it_may_speak_of():
    text = 'version = 1\n[columns]\nage = { role = "quasi" }  # known to neighbors\n'
    after = edited(text, columns__age__role="sensitive")
    assert "neighbors" not in after
    assert "neighbors" in edited(text, columns__age__kind="integer")
