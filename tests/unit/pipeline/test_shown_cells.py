"""What published cells stand for, as the report draws them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.algorithms.private.node_labels import shown_axes
from sfumato.data.coding import code_column
from sfumato.data.schema import Kind
from sfumato.hierarchies.build import build
from sfumato.hierarchies.declared_domain import Declared, declared_axis
from sfumato.pipeline.shown_cells import _node_runs


def test_nodes_that_an_algorithm_added_stand_for_what_their_texts_say():
    column = code_column(
        "age", pa.chunked_array([list("0123456789")]), kind=Kind.INTEGER
    )
    coded = build(column, {"intervals": [2, 4]})
    low = np.array([[0], [1], [7], [0]], dtype=np.int32)
    high = np.array([[3], [6], [7], [9]], dtype=np.int32)
    (shown,), nodes = shown_axes((coded,), low, high, hierarchies=False)
    first, last = _node_runs(shown.axis)
    assert first[nodes[:, 0]].tolist() == low[:, 0].tolist()
    assert last[nodes[:, 0]].tolist() == high[:, 0].tolist()


def test_leaves_that_are_intervals_lie_in_the_runs_they_are_part_of():
    """Ends such as 0.3 are no floats: leaves begin there by their texts."""
    declared = Declared(
        name="share",
        kind=Kind.DECIMAL,
        hierarchy={"intervals": [0.1, 0.5], "bottom": 0, "top": 1},
    )
    coded = declared_axis(declared, pa.chunked_array([["0.25", "0.3", "0.95"]]))
    size = coded.axis.size
    known = [code for code in range(size) if code != coded.axis.missing]
    pairs = np.array([(a, b) for a in known for b in known if a <= b], np.int32)
    low, high = pairs[:, :1], pairs[:, 1:]
    (shown,), nodes = shown_axes((coded,), low, high, hierarchies=False)
    first, last = _node_runs(shown.axis)
    stars = [shown.axis.node_labels[node] == "*" for node in nodes[:, 0]]
    assert sum(stars) <= 1
    kept = ~np.array(stars)
    assert first[nodes[kept, 0]].tolist() == low[kept, 0].tolist()
    assert last[nodes[kept, 0]].tolist() == high[kept, 0].tolist()


def test_a_release_of_cells_beyond_the_hierarchy_has_its_figures():
    cells = {"age": [20 + n % 60 for n in range(400)], "ill": ["a", "b"] * 200}
    release = sf.anonymize(
        pa.table(cells),
        quasi=["age"],
        sensitive=["ill"],
        kinds={"age": "integer"},
        hierarchies={
            "age": {"intervals": [5, 10, 20], "bottom": 15, "top": 90},
            "ill": {"tree": {"x": ["a"], "y": ["b"]}},
        },
        require=[{"model": "differential-privacy", "epsilon": 4}],
        k=2,
        algorithm={"name": "dp-anonym", "hierarchies": False, "depth": 2},
        max_loss=1,
    )
    assert "correlations" in release.audit["report"]
