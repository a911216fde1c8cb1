"""Counted lines prove what all rows prove, whatever the model."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sfumato.data.batch_source import table_batches
from sfumato.engines.duckdb_engine import DuckDBEngine
from sfumato.engines.memory_engine import MemoryEngine
from sfumato.pipeline.check_table import (
    AskedCheck,
    GivenTables,
    check_on_engine,
    check_table,
)
from sfumato.policy import Policy

LIMIT = 10**8
MODELS = [
    {"model": "k-anonymity", "k": 2},
    {"model": "l-diversity", "l": 2},
    {"model": "l-diversity", "kind": "entropy", "l": 1.5},
    {"model": "l-diversity", "kind": "recursive", "l": 2, "c": 2.0},
    {"model": "t-closeness", "t": 0.3},
    {"model": "alpha-k", "alpha": 0.6, "k": 2},
    {"model": "beta-likeness", "beta": 1.0},
    {"model": "delta-disclosure", "delta": 1.0},
    {"model": "p-sensitive", "p": 2, "k": 2},
    {"model": "n-t-closeness", "n": 3, "t": 0.4},
    {"model": "average-risk", "at_most": 0.4},
    {"model": "uniqueness", "of": "sample", "at_most": 0.2},
    {"model": "range-disclosure", "r": 0.5, "at_most": 0.5},
    {"model": "diversity", "where": {"s": "flu"}, "at_least": 2, "at_most": 5},
    {"model": "lkc", "l": 1, "k": 2, "c": 0.8},
]
QUASI = [["[1, 2]", "3", "*", None], ["a", "b", ""], ["{x|y}", "x", "y"]]
NUMBERS = [1.0, 2.0, 2.5, -0.0, 0.0, None, float("nan")]


def random_table(draw: np.random.Generator) -> pa.Table:
    rows = int(draw.integers(1, 13))
    columns = {
        f"q{j}": pa.array(
            draw.choice(np.array(values, dtype=object), rows), pa.string()
        )
        for j, values in enumerate(QUASI[: int(draw.integers(1, 4))])
    }
    kinds = draw.integers(0, 2)
    if kinds:
        cells = draw.choice(np.array(NUMBERS, dtype=object), rows)
        columns["s"] = pa.array(cells.tolist(), pa.float64())
    else:
        cells = draw.choice(np.array(["flu", "cold", "?"], dtype=object), rows)
        columns["s"] = pa.array(cells.tolist(), pa.string())
    columns["note"] = pa.array(draw.integers(0, 5, rows))
    return pa.table(columns)


def random_policy(draw: np.random.Generator, table: pa.Table) -> Policy:
    quasi = [name for name in table.column_names if name.startswith("q")]
    columns = {name: {"role": "quasi"} for name in quasi}
    chosen = draw.choice(len(MODELS), int(draw.integers(1, 4)), replace=False)
    missing_as = str(draw.choice(["value", "value", "any"]))
    return Policy.model_validate(
        {
            "data": {"missing": ["?"], "missing_as": missing_as},
            "columns": {**columns, "s": {"role": "sensitive"}},
            "require": [MODELS[at] for at in chosen],
            "unlisted": "keep",
        }
    )


def outcome(result):
    def told(verdict):
        measured = verdict["measured"]
        return {
            **{key: each for key, each in verdict.items() if key != "details"},
            "measured": None if measured is None else pytest.approx(measured),
            "missing_as": {
                name: (each["holds"], each["offending_groups"])
                for name, each in verdict.get("missing_as", {}).items()
            },
        }

    verdicts = [told(verdict) for verdict in result.verdicts]
    return result.rows, result.groups, result.risk, result.kinds, verdicts


def test_counted_lines_get_the_verdicts_of_all_rows():
    draw = np.random.default_rng(19)
    first = table_batches(pa.table({"q0": ["a"]}))
    with DuckDBEngine(first, memory_limit=LIMIT) as duckdb:
        for _ in range(250):
            table = random_table(draw)
            asked = AskedCheck(policy=random_policy(draw, table))
            expected = outcome(check_table(asked, GivenTables(table=table)))
            duckdb.source = table_batches(table, rows=int(draw.integers(1, 6)))
            assert outcome(check_on_engine(asked, duckdb)) == expected
            memory = MemoryEngine(duckdb.source)
            assert outcome(check_on_engine(asked, memory)) == expected
