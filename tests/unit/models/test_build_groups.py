"""Groups from coded rows, whichever way the keys are counted."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.rules import SUBJECT, View
from sfumato.errors import PolicyError
from sfumato.hierarchies.axis import CodedAxis
from sfumato.hierarchies.sensitive_axis import roll_up
from sfumato.models.common import groups as module
from sfumato.models.common.groups import build_groups, packed, run_lengths, value_shares
from sfumato.testing.random_groups import COLUMN, flat_axis, random_sample, tree_axis

COLUMNS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 9), st.integers(0, 3)),
    min_size=1,
    max_size=30,
)


@given(COLUMNS, st.sampled_from([20, 50, 2**63 - 1]))
def test_a_packed_key_tells_rows_apart_on_both_sides_of_the_border(rows, word):
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    key, number = packed(columns, [7, 10, 4], word=word)
    assert len(set(key.tolist())) == len(set(rows))
    assert int(key.max()) < number
    order = np.argsort(key, kind="stable")
    assert [rows[at] for at in order] == sorted(rows)


@given(st.lists(st.integers(0, 12), min_size=1, max_size=40), st.booleans())
def test_run_lengths_are_counts_dense_or_sorted(values, dense):
    number = 13 if dense else 10**9
    found, counts = run_lengths(np.array(values), number)
    assert dict(zip(found.tolist(), counts.tolist(), strict=True)) == Counter(values)
    assert found.tolist() == sorted(found.tolist())


def test_sorted_and_dense_counting_give_the_same_histogram(monkeypatch):
    sample = random_sample(np.random.default_rng(1), rows=40, groups=5)
    view = View(COLUMN)
    dense = whole(sample, [view]).histograms[view]
    monkeypatch.setattr(module, "DENSE", 0)
    ordered = whole(sample, [view]).histograms[view]
    for name in ("starts", "codes", "counts", "sizes", "reference"):
        assert getattr(dense, name).tolist() == getattr(ordered, name).tolist()


def whole(sample, views):
    return build_groups(
        sample.group_of,
        sample.count,
        sensitive=sample.sensitive,
        views=views,
        subject=sample.subject,
    )


def test_a_subject_is_counted_once_per_group_and_value():
    axis = flat_axis(COLUMN, 2)
    built = build_groups(
        np.array([0, 0, 0, 1]),
        2,
        sensitive={COLUMN: CodedAxis(axis, np.array([0, 0, 1, 1], dtype=np.int32))},
        views=[View(COLUMN), SUBJECT],
        subject=np.array([5, 5, 5, 5]),
    )
    histogram = built.histograms[View(COLUMN)]
    assert built.sizes.tolist() == [1, 1]
    assert built.rows.tolist() == [3, 1]
    assert histogram.dense().tolist() == [[1, 1], [0, 1]]
    assert histogram.reference.tolist() == [0.5, 0.5]
    assert built.everybody == 1
    assert not built.apart


def test_rows_left_out_are_in_the_source_alone():
    axis = flat_axis(COLUMN, 2)
    published, source = View(COLUMN), View(COLUMN, reference="source")
    built = build_groups(
        np.array([0, 0, -1, -1]),
        1,
        sensitive={COLUMN: CodedAxis(axis, np.array([0, 0, 1, 0], dtype=np.int32))},
        views=[published, source],
    )
    assert built.histograms[published].reference.tolist() == [1.0, 0.0]
    assert built.histograms[source].reference.tolist() == [0.75, 0.25]
    assert built.rows.tolist() == [2]


def test_weights_are_summed_per_group():
    built = build_groups(
        np.array([0, 1, 0, -1]),
        2,
        sensitive={},
        views=[],
        weights=np.array([1.5, 2.0, 3.0, 9.0]),
    )
    assert built.weights.tolist() == [4.5, 2.0]


def test_an_empty_group_is_refused():
    with pytest.raises(ValueError, match="none of them empty"):
        build_groups(np.array([0, 2]), 3, sensitive={}, views=[])


def test_no_rows_are_no_groups():
    built = build_groups(np.zeros(0, dtype=int), 0, sensitive={}, views=[])
    assert built.count == 0


def test_known_cells_alone_make_the_reference_where_gaps_may_be_anything():
    axis = flat_axis(COLUMN, 3, missing=2)
    shares = value_shares(axis, np.array([0, 1, 1, 2]), None, missing_any=True)
    assert shares.tolist() == pytest.approx([1 / 3, 2 / 3, 0.0])


TREE = tree_axis(
    COLUMN, np.array([range(5), [0, 0, 1, 1, 2], [0, 0, 0, 0, 1], [0] * 5]), missing=4
)


def test_rolling_up_makes_the_nodes_of_a_level_the_values():
    axis, codes = roll_up(TREE, 1)
    assert codes.tolist() == [0, 0, 1, 1, 2]
    assert axis.size == 3
    assert axis.levels.tolist()[0] == [0, 1, 2]
    assert axis.height == 3
    assert axis.missing == 2


def test_rolling_up_to_the_root_leaves_one_value():
    axis, codes = roll_up(TREE, 3)
    assert (axis.size, axis.height, axis.missing) == (1, 1, -1)
    assert set(codes.tolist()) == {0}


def test_a_level_that_does_not_exist_is_refused():
    with pytest.raises(PolicyError, match="has levels 0 to 3"):
        roll_up(TREE, 4)


def test_a_histogram_on_a_level_counts_nodes():
    column = CodedAxis(TREE, np.array([0, 1, 2, 4], dtype=np.int32))
    view = View(COLUMN, level=1)
    built = build_groups(
        np.array([0, 0, 0, 1]), 2, sensitive={COLUMN: column}, views=[view]
    )
    assert built.histograms[view].dense().tolist() == [[2, 1, 0], [0, 0, 1]]


def test_as_many_values_as_rows_take_one_entry_each():
    rows = 5000
    axis = flat_axis(COLUMN, rows)
    column = CodedAxis(axis, np.arange(rows, dtype=np.int32))
    built = build_groups(
        np.arange(rows), rows, sensitive={COLUMN: column}, views=[View(COLUMN)]
    )
    assert len(built.histograms[View(COLUMN)].codes) == rows
