"""A requirement comes and goes, and every comment of the policy stays."""

from __future__ import annotations

from sfumato.policy import Policy
from sfumato.studio.requirement_text import with_requirement, without_requirement

TEXT = """\
version = 1

# people nearby know these
[columns.age]
role = "quasi"

[[require]]
model = "k-anonymity"
k = 5  # five

[[require]]
model = "l-diversity"
l = 2

# how it looks
[publish]
operator = "generalize"
"""


def test_a_new_requirement_comes_after_the_others():
    text = with_requirement(Policy.parse(TEXT), TEXT, {"model": "group-size", "k": 3})
    assert text == TEXT.replace(
        "l = 2\n", 'l = 2\n\n[[require]]\nmodel = "group-size"\nk = 3\n'
    )


def test_the_first_requirement_of_a_policy_comes_at_its_end():
    text = "version = 1\n"
    made = with_requirement(Policy.parse(text), text, {"model": "k-anonymity", "k": 3})
    assert made == 'version = 1\n\n[[require]]\nmodel = "k-anonymity"\nk = 3\n'


def test_a_requirement_is_cut_out():
    text = without_requirement(Policy.parse(TEXT), TEXT, 0)
    assert text == TEXT.replace(
        '[[require]]\nmodel = "k-anonymity"\nk = 5  # five\n\n', ""
    )


def test_the_comment_of_the_next_table_stays():
    text = without_requirement(Policy.parse(TEXT), TEXT, 1)
    assert "# how it looks\n[publish]" in text
    assert [each.model for each in Policy.parse(text).require] == ["k-anonymity"]


def test_requirements_in_one_line_are_written_anew():
    text = 'version = 1\nrequire = [{ model = "k-anonymity", k = 2 }]\n'
    made = with_requirement(Policy.parse(text), text, {"model": "k-anonymity", "k": 3})
    found = [each.settings["k"] for each in Policy.parse(made).require]
    assert found == [2, 3]
