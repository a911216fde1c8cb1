"""Hash the rows of a Spark table where they are, whatever their order.

Each row becomes a text in one way only: every cell with its length before it, and a mark
where a cell is missing. The SHA-256 of all rows are added up, in four parts of 64 bits;
nothing but their sums reaches the driver.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sfumato.engines.spark_engine import SparkTable, collected
from sfumato.engines.spark_types import carried_as

PARTS, DIGITS = 4, 16
"""Parts of a hash, and how many hexadecimal digits each has."""


def hashed_rows(table: SparkTable) -> tuple[int, int]:
    """The number of rows, and the sum of their hashes."""
    return hashed_beginnings(table, [len(table.names)])[0]


def hashed_beginnings(
    table: SparkTable, counts: Sequence[int]
) -> list[tuple[int, int]]:
    """The number of rows and the sum of their hashes, for some counts of first columns."""
    rows = [_row(table, table.names[:count]) for count in counts]
    hashed = table.frame.selectExpr(
        *(f"sha2({row}, 256) as h{number}" for number, row in enumerate(rows))
    )
    sums = [_sum(number, part) for number in range(len(rows)) for part in range(PARTS)]
    totals = collected(hashed.selectExpr("count(*) as n", *sums))
    count = int(totals.column("n")[0].as_py())
    return [(count, _total(totals, number)) for number in range(len(rows))]


def _row(table: SparkTable, names: Sequence[str]) -> str:
    """The expression of a row's text."""
    cells = [_cell(carried_as(n, table.schema.field(n).type)) for n in names]
    return f"concat({', '.join(cells)})"


def _cell(carried: str) -> str:
    text = f"cast({carried} as string)"
    return f"coalesce(concat(length({text}), ':', {text}), '-')"


def _sum(number: int, part: int) -> str:
    digits = f"substring(h{number}, {1 + part * DIGITS}, {DIGITS})"
    return f"sum(cast(conv({digits}, 16, 10) as decimal(20, 0))) as s{number}_{part}"


def _total(totals: Any, number: int) -> int:
    parts = [totals.column(f"s{number}_{part}")[0].as_py() for part in range(PARTS)]
    return sum(int(part or 0) << (4 * DIGITS * at) for at, part in enumerate(parts))
