"""Describe an axis as text, or write it as a hierarchy file."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.errors import OutputError
from sfumato.hierarchies.axis import Axis


def describe(axis: Axis) -> dict[str, Any]:
    """The size and shape of an axis, without any of its values."""
    return {
        "kind": str(axis.kind),
        "shape": axis.shape.name.lower(),
        "levels": axis.height,
        "nodes": [len(np.unique(level)) for level in axis.levels],
        "leaves": axis.size,
        "missing": axis.missing >= 0,
        "fitted": axis.fitted,
    }


def write_csv(axis: Axis, path: Path) -> None:
    """Write the leaves that occur, one row each from leaf to root, without a header."""
    rows = [[axis.node_labels[node] for node in leaf] for leaf in axis.levels.T]
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    except OSError as error:
        raise OutputError(
            f"Hierarchy file '{path}' cannot be written: {error.strerror}.",
            hint="Name a file in a directory that exists and may be written to.",
        ) from None
