"""What is drawn is well formed."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato import registry
from sfumato.data.schema import Role
from sfumato.hierarchies.axis import Shape
from sfumato.testing.awkward_tables import request_for
from sfumato.testing.strategies import axes, groupings, models, tables


@given(tables(max_rows=7, max_columns=2, subjects=True, sensitive=1))
def test_a_drawn_table_is_within_its_limits(table):
    assert 1 <= table.rows <= 7
    assert 1 <= len(table.names(Role.QUASI)) <= 2
    assert len(table.names(Role.SENSITIVE)) == 1
    assert request_for(table, ()).subject is not None


@given(tables(missing=False))
def test_a_table_without_missing_cells_has_none(table):
    assert all(column.null_count == 0 for column in table.source.columns)


@given(st.integers(1, 9).flatmap(lambda rows: groupings(rows)))
def test_drawn_groups_are_numbered_without_gaps(grouping):
    kept = grouping.group_of[grouping.kept]
    assert set(kept.tolist()) == set(range(grouping.count))


@given(axes())
def test_every_level_of_an_axis_coarsens_the_one_below(axis):
    assert (axis.levels[0] == np.arange(axis.size)).all()
    assert len(set(axis.levels[-1].tolist())) == 1
    for lower, upper in zip(axis.levels, axis.levels[1:], strict=False):
        pairs = set(zip(lower.tolist(), upper.tolist(), strict=True))
        assert len(pairs) == len(set(lower.tolist()))


@given(axes())
def test_every_node_of_an_axis_covers_one_run_of_codes(axis):
    for level in axis.levels:
        for node in set(level.tolist()):
            covered = np.flatnonzero(level == node)
            assert covered[-1] - covered[0] + 1 == len(covered)


@given(axes(shape=Shape.FREE))
def test_a_line_is_in_the_order_of_its_numbers(axis):
    known = axis.positions[~np.isnan(axis.positions)]
    assert (np.diff(known) > 0).all()


@given(models())
def test_a_drawn_model_is_in_the_catalogue(model):
    assert model.name in registry.names("models")
