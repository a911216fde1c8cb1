"""What published cells stand for, as the report draws them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.algorithms.private.node_labels import shown_axes
from sfumato.data.coding import code_column
from sfumato.data.schema import Kind
from sfumato.hierarchies.build import build
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
