"""Published texts of any tool, read against the axis of the original."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.data.schema import Kind
from sfumato.hierarchies.build import build
from sfumato.hierarchies.cell_readings import exact, read
from tests.unit.hierarchies.conftest import make_column

AGES = ["20", "25", "30", "41", "60"]
CODES = ["12345", "12346", "12399", "98765"]
CITIES = ["Bari", "Rome", "Turin", "Pisa"]


def axis_of(cells, kind=Kind.INTEGER, spec=None, **more):
    return build(make_column(cells, kind, **more), spec).axis


def shown(axis, text):
    """The values that a text may stand for."""
    (row,) = read(axis, [text]).cover(np.array([0]))
    return [axis.labels[leaf] for leaf in np.flatnonzero(row)]


@pytest.mark.parametrize(
    "text",
    ["[20, 30]", "[20, 41)", "[20, 31[", "20~30", "20-30", "[20-30]", "20 to 30"],
)
def test_every_spelling_of_an_interval_covers_its_ages(text):
    assert shown(axis_of(AGES), text) == ["20", "25", "30"]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (">= 41", ["41", "60"]),
        ("41+", ["41", "60"]),
        ("< 25", ["20"]),
        ("]20, 30]", ["25", "30"]),
        ("25.0", ["25"]),
        ("{20|41}", ["20", "41"]),
        ("{20, 41}", ["20", "41"]),
        ("*", AGES),
    ],
)
def test_other_cells_of_numbers_cover_what_they_say(text, values):
    assert shown(axis_of(AGES), text) == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1234*", ["12345", "12346"]),
        ("123**", ["12345", "12346", "12399"]),
        ("1****", ["12345", "12346", "12399"]),
        ("**765", ["98765"]),
        ("*****", []),
        ("12***3", []),
        ("123***", []),
    ],
)
def test_a_mask_covers_the_codes_that_fit_it(text, values):
    assert shown(axis_of(CODES, Kind.CODE), text) == values


def test_one_star_stands_for_any_rest_where_lengths_differ():
    axis = axis_of(["12", "123", "1234", "9"], Kind.CODE)
    assert shown(axis, "12*") == ["123", "1234"]


@pytest.mark.parametrize(
    "text", ["{Bari|Pisa}", "{Pisa, Bari}", "Bari,Pisa", "Pisa; Bari"]
)
def test_every_spelling_of_a_set_covers_its_members(text):
    assert shown(axis_of(CITIES, Kind.CATEGORY), text) == ["Bari", "Pisa"]


def test_two_spellings_of_a_set_have_one_meaning():
    axis = axis_of(CITIES, Kind.CATEGORY)
    first, second, other = read(axis, ["Rome,Bari", "Bari,Rome", "Rome"]).meaning
    assert first == second
    assert first != other


def test_a_set_with_an_unknown_member_is_not_understood():
    axis = axis_of(CITIES, Kind.CATEGORY)
    assert read(axis, ["{Bari|Oslo}", "Bari,Oslo"]).understood.tolist() == [False] * 2


def test_nonsense_is_not_understood_and_covers_nothing():
    reading = read(axis_of(AGES), ["about thirty"])
    assert not reading.understood[0]
    assert reading.sizes[0] == 0


def test_a_text_that_is_not_understood_loses_everything():
    assert read(axis_of(AGES), ["about thirty"]).ncp().tolist() == [1.0]


def test_a_number_that_the_original_lacks_is_a_point():
    reading = read(axis_of(AGES), ["27.5", "25"])
    assert reading.points.tolist() == [True, False]
    assert reading.low[0] == 27.5


def test_a_missing_cell_is_the_missing_value():
    axis = axis_of([*AGES, "?"], missing=["?"])
    assert shown(axis, None) == ["?"]


def test_a_missing_cell_may_hide_any_value():
    axis = axis_of(AGES)
    reading = read(axis, [None], missing_hides=True)
    assert reading.sizes.tolist() == [5]
    assert reading.ncp().tolist() == [1.0]


def test_an_interval_loses_its_share_of_the_range():
    reading = read(axis_of(AGES), ["[20, 30]", "30", "10-30", "*"])
    assert reading.ncp().tolist() == [0.25, 0.0, 0.25, 1.0]


def test_a_set_loses_its_share_of_the_values():
    reading = read(axis_of(CITIES, Kind.CATEGORY), ["Bari,Rome", "Bari", "*"])
    assert reading.ncp().tolist() == [0.5, 0.0, 1.0]
    assert reading.loss() == pytest.approx([1 / 3, 0.0, 1.0])


def test_a_node_loses_what_its_hierarchy_says():
    tree = {"tree": {"South": ["Bari"], "North": ["Turin", "Pisa", "Rome"]}}
    reading = read(axis_of(CITIES, Kind.CATEGORY, tree), ["North", "South"])
    assert reading.ncp().tolist() == [0.75, 0.25]
    assert reading.sizes.tolist() == [3, 1]


def test_leaves_that_are_no_run_are_covered_one_by_one():
    reading = read(axis_of(CITIES, Kind.CATEGORY), ["{Bari|Turin}", "Rome"])
    texts, leaves = np.array([0, 0, 0, 1]), np.array([0, 1, 3, 2])
    assert reading.covers(texts, leaves).tolist() == [True, False, True, True]


def test_exact_numbers_decide_where_floats_are_equal():
    axis = axis_of(["0.1", "0.2"], Kind.DECIMAL)
    assert shown(axis, "[0.10000000000000000001, 0.2]") == ["0.2"]


def test_an_original_shows_every_value():
    reading = exact(axis_of(AGES))
    assert reading.sizes.tolist() == [1] * 5
    assert reading.ncp().tolist() == [0.0] * 5
