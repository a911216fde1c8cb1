"""Random tables with a key, in every type that Spark keeps, and policies for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

import sfumato as sf

REQUIREMENTS: dict[str, list[dict[str, Any]]] = {
    "k": [{"model": "k-anonymity", "k": 3}],
    "l": [{"model": "k-anonymity", "k": 2}, {"model": "l-diversity", "l": 2}],
    "t": [{"model": "k-anonymity", "k": 2}, {"model": "t-closeness", "t": 0.6}],
}
CARRIED = ("ward", "note", "score", "seen", "paid")


def people(seed: int, rows: int) -> pa.Table:
    """A table whose rows have no order but that of their key."""
    draw = np.random.default_rng(seed)

    def column(values: Any, kind: Any = None) -> Any:
        cells = draw.choice(np.array([*values, None], dtype=object), rows)
        return pa.array(cells.tolist(), kind)

    return pa.table(
        {
            "id": pa.array(draw.permutation(rows)),
            "name": pa.array([f"person {row}" for row in range(rows)]),
            "age": column(range(20, 60), pa.int64()),
            "weight": column([50.5, 61.25, 70.0, -0.0, 0.0], pa.float64()),
            "job": column(["nurse", "cook", "smith, black", ""], pa.string()),
            "born": column([1, 40, 400, 4000], pa.int32()).cast(pa.date32()),
            "ill": column(["flu", "cold", "gout", "ache"], pa.string()),
            "ward": column([True, False], pa.bool_()),
            "note": column(["=1", "-x", "-5", "plain"], pa.string()),
            "score": column([0.0, -0.0, 1.5, float("nan")], pa.float64()),
            "seen": column([1, 10**15, -5]).cast(pa.timestamp("us")),
            "paid": column(["0.10", "7.25"], pa.string()).cast(pa.decimal128(9, 2)),
        }
    )


def policy(algorithm: dict[str, Any], requirements: list[dict[str, Any]]) -> sf.Policy:
    """A policy for these people."""
    columns: dict[str, Any] = {
        "id": {"role": "identifier"},
        "name": {"role": "identifier"},
        "age": {"role": "quasi", "hierarchy": {"intervals": [5, 20]}},
        "weight": {"role": "quasi"},
        "job": {"role": "quasi"},
        "born": {"role": "quasi", "hierarchy": {"calendar": ["year"]}},
        "ill": {"role": "sensitive"},
    }
    exact = {"role": "insensitive", "keep_as_is": True}
    columns |= dict.fromkeys(CARRIED, exact)
    return sf.Policy.model_validate(
        {
            "data": {"key": ["id"]},
            "columns": columns,
            "require": requirements,
            "algorithm": algorithm,
            "publish": {"max_suppressed": 0.2, "max_loss": 1.0},
        }
    )


def without_carried(table: pa.Table, asked: sf.Policy) -> tuple[pa.Table, sf.Policy]:
    """The same without the columns that stay on Spark."""
    kept = {n: each for n, each in asked.columns.items() if n not in CARRIED}
    return table.drop_columns(list(CARRIED)), asked.model_copy(update={"columns": kept})
