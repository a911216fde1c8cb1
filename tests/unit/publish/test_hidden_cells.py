"""Cells that an algorithm hides although all rows of the group share them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sfumato.data.coding import code_column
from sfumato.data.grouping import Grouping
from sfumato.data.schema import Attribute, Role, Schema
from sfumato.data.seeds import Seed
from sfumato.data.table import Table
from sfumato.hierarchies.build import build
from sfumato.publish.base import Material
from sfumato.publish.generalize import Generalize
from sfumato.publish.suppress import Suppress

CELLS = {
    "zip": ["0010", "0010", "0100", "0100"],
    "age": ["30", "30", "40", "50"],
    "sex": ["F", "F", "M", "M"],
}


def draft(operator, hidden: list[list[bool]], group_of=(0, 0, 1, 1)):
    """Two groups of two rows; `hidden` per group: zip, age, sex."""
    source = pa.table(CELLS)
    columns = {name: code_column(name, source.column(name)) for name in CELLS}
    specs = {"zip": {"prefix": [3, 2]}}
    attributes = [
        Attribute(name=name, role=Role.QUASI, kind=column.kind)
        for name, column in columns.items()
    ]
    grouping = Grouping(np.array(group_of, dtype=np.int32), 2, hidden=np.array(hidden))
    material = Material(
        table=Table(Schema(tuple(attributes)), source, columns),
        quasi=tuple(build(columns[name], specs.get(name)) for name in CELLS),
        grouping=grouping,
        rows=np.arange(4),
        seed=Seed.guessable(1),
    )
    return operator.publish(material)


ALL = [[True, True, True], [False, False, False]]


def test_a_hidden_cell_is_a_star_when_suppressed():
    published = draft(Suppress(), ALL)
    assert published.table.to_pylist()[0] == {"zip": "*", "age": "*", "sex": "*"}
    assert published.table.to_pylist()[2] == {"zip": "0100", "age": "*", "sex": "M"}
    assert published.ncp.tolist() == [[1, 1, 1], [0, 1, 0]]


def test_a_hidden_cell_shows_the_next_node_when_generalized():
    published = draft(Generalize(), ALL)
    first = published.table.to_pylist()[0]
    assert first == {"zip": "001*", "age": "*", "sex": "*"}
    assert published.table.to_pylist()[2]["age"] == "[40, 50]"


@pytest.mark.parametrize("measure", ["ncp", "loss"])
def test_a_hidden_cell_without_a_hierarchy_is_lost_in_full(measure):
    losses = getattr(draft(Generalize(), ALL), measure)
    assert losses[0, 1:].tolist() == [1, 1]


def test_a_hidden_flat_cell_is_a_star_where_sets_are():
    published = draft(Generalize(flat="star"), ALL)
    assert published.table.to_pylist()[0]["sex"] == "*"
    assert published.table.to_pylist()[2]["sex"] == "M"


def test_a_hidden_cell_of_rows_that_differ_still_covers_them_all():
    """A row that joined a group with a hidden value: 001* would not be true of it."""
    published = draft(Generalize(), ALL, group_of=[0, 0, 0, 1])
    assert published.table.column("zip").to_pylist()[:3] == ["*"] * 3
