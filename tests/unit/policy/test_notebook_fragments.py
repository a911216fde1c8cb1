"""Policies and hierarchies show names and counts in a notebook, and no cell."""

from __future__ import annotations

import pyarrow as pa

from sfumato.data.coding import code_column
from sfumato.hierarchies.build import build
from sfumato.policy import Policy

TEXT = """
[columns."<b>age"]
role = "quasi"
hierarchy = { intervals = [5, 10] }

[columns.town]
role = "quasi"
hierarchy = { tree = { North = ["Secretville"] } }

[columns.note]
drop = true

[columns.illness]
role = "sensitive"
order = ["Hidden"]
kind = "ordered"

[[require]]
model = "k-anonymity"
k = 5

[[require]]
model = "diversity"
where = { town = "Secretville" }
at_least = 3
"""


def test_a_policy_shows_roles_and_numbers():
    page = Policy.parse(TEXT)._repr_html_()
    assert "Policy: 4 columns" in page
    assert "left out" in page
    assert "k-anonymity (k = 5); diversity (at_least = 3)" in page
    assert "intervals" in page


def test_a_policy_shows_no_value_and_no_markup_of_names():
    page = Policy.parse(TEXT)._repr_html_()
    assert "Secretville" not in page
    assert "Hidden" not in page
    assert "<b>age" not in page
    assert "&lt;b&gt;age" in page


def test_a_hierarchy_shows_how_many_labels_each_level_has():
    cells = pa.chunked_array([["Peru", "Chile", "Spain", "Japan", "China"]])
    coded = build(code_column("land", cells), {"vocabulary": "country"})
    page = coded._repr_html_()
    assert page == coded.axis._repr_html_()
    assert "Hierarchy of land: tree, 5 values" in page
    assert "Peru" not in page
    assert "Asia" not in page
