"""Cells leave bits open by how often their values occur."""

from __future__ import annotations

import json
import math

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.grouping import Grouping
from sfumato.data.seeds import Seed
from sfumato.hierarchies.axis import CodedAxis
from sfumato.pipeline.learned_hierarchies import FIRST_LINE
from sfumato.pipeline.open_bits import mixed_sets, open_bits, share_lost
from sfumato.publish.group_spans import Extent
from sfumato.testing.random_groups import flat_axis
from tests.unit.algorithms.mondrian_cases import free_axis

CITIES = ["Graz"] * 4 + ["Linz"] * 4 + ["Rome"] * 8 + ["Narni"] * 8
COUNTRIES = ["AT"] * 8 + ["IT"] * 16


def coded(codes: list[int], values: int, name: str = "city") -> CodedAxis:
    return CodedAxis(flat_axis(name, values), np.array(codes, dtype=np.int32))


def found(codes: list[int], groups: list[int], values: int):
    axis = coded(codes, values)
    grouping = Grouping(np.array(groups, dtype=np.int32), max(groups) + 1)
    sets = [
        len({c for c, g in zip(codes, groups, strict=True) if g == group})
        for group in range(grouping.count)
    ]
    ncp = axis.axis.set_ncp(np.array(sets))[:, None]
    return open_bits([Extent.of(axis, grouping, 0)], ncp)


def test_a_row_leaves_open_its_share_among_the_rows_of_its_set():
    """Two rows of a rare value, six of a common one, mixed in one group."""
    (column,) = found([0, 0, 1, 1, 1, 1, 1, 1], [0] * 8, 2)
    expected = 2 * math.log2(8 / 2) + 6 * math.log2(8 / 6)
    assert column.lost == pytest.approx(expected)
    assert share_lost([column]) == pytest.approx(1.0)


def test_groups_of_one_value_leave_nothing_open():
    assert share_lost(found([0, 0, 1, 1], [0, 0, 1, 1], 2)) == 0.0


def test_rows_left_out_are_lost_in_full():
    (column,) = found([0, 0, 1, 1], [0, 0, -1, -1], 2)
    assert column.lost == pytest.approx(2 * math.log2(2))


def test_an_interval_does_not_cover_missing_values():
    """Two rows show all numbers, the third is missing and alone."""
    axis = free_axis([0.0, 4.0, float("nan")])
    coded_rows = CodedAxis(axis, np.array([0, 1, 2], dtype=np.int32))
    grouping = Grouping(np.array([0, 0, 1], dtype=np.int32), 2)
    (column,) = open_bits(
        [Extent.of(coded_rows, grouping, 0)], np.array([[1.0], [0.0]])
    )
    assert column.lost == pytest.approx(2 * math.log2(2 / 1))


def test_a_star_covers_everything():
    axis = free_axis([0.0, 1.0, 4.0])
    coded_rows = CodedAxis(axis, np.array([0, 1, 2, 2], dtype=np.int32))
    grouping = Grouping(np.array([0, 0, 1, 1], dtype=np.int32), 2)
    (column,) = open_bits(
        [Extent.of(coded_rows, grouping, 0)], np.array([[1.0], [0.0]])
    )
    assert column.lost == pytest.approx(2 * math.log2(4 / 1))


def test_the_worst_columns_and_groups_are_named_first():
    codes = [0, 1, 2, 3, 4, 4, 4, 4, 5, 5, 5, 5]
    groups = [0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]
    mixed = mixed_sets(found(codes, groups, 6))
    assert [each["values"] for each in mixed["groups"]] == [4, 2]
    assert mixed["groups"][0]["rows"] == 4
    assert mixed["columns"][0]["column"] == "city"


POLICY = """
version = 1
[algorithm]
name = "best"
[[require]]
model = "k-anonymity"
k = 6
[columns.city]
role = "quasi"
hierarchy = {hierarchy}
[columns.country]
role = "quasi"
"""


def release(hierarchy: str) -> sf.Release:
    policy = sf.Policy.parse(POLICY.format(hierarchy=json.dumps(hierarchy)))
    table = pa.table({"city": CITIES, "country": COUNTRIES})
    return sf.anonymize(table, policy, seed=Seed.guessable(1))


def test_the_share_of_bits_is_that_of_an_assessment_and_stays_private():
    made = release("flat")
    source = pa.table({"city": CITIES, "country": COUNTRIES})
    assessed = sf.assess(source, made.table, policy=made.claim.policy)
    expected = assessed.utility["non_uniform_entropy"]
    found = made.audit["report"]["utility"]["non_uniform_entropy"]
    assert found == pytest.approx(expected)
    assert "non_uniform_entropy" not in made.utility


def test_a_learned_tree_joins_cities_of_one_country_and_is_written_for_review(tmp_path):
    made = release("learned")
    assert set(made.table.column("city").to_pylist()) <= {
        "{Graz|Linz}",
        "Rome",
        "Narni",
        "{Narni|Rome}",
    }
    made.save(tmp_path / "out")
    (file,) = (tmp_path / "out" / "private").glob("learned_*.csv")
    assert file.read_text().startswith(FIRST_LINE)
    assert file.stat().st_mode & 0o077 == 0
    again = release(str(file))
    assert again.table.column("city").to_pylist().count("{Graz|Linz}") == 8


def test_the_private_report_names_where_sets_are_most_mixed(tmp_path):
    made = release("flat")
    made.report(tmp_path / "private.html", private=True)
    made.report(tmp_path / "public.html")
    assert "Where sets are most mixed" in (tmp_path / "private.html").read_text()
    assert "Where sets are most mixed" not in (tmp_path / "public.html").read_text()
