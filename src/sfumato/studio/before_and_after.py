"""The same records before and after, side by side; hidden until asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sfumato.data.cell_text import as_text, has_text
from sfumato.pipeline.release_files import ReleaseFiles
from sfumato.policy import Policy
from sfumato.publish.generalize import BOUNDS

SHOWN = 10
HIDDEN = "•••"


def before_and_after(
    place: Path, source: pa.Table, policy: Policy, *, page: int, shown: bool
) -> dict[str, Any] | None:
    """Ten published rows with their source rows; None where rows stand for nobody."""
    files = ReleaseFiles.of(place)
    if files.record is None:
        return None
    table, _ = files.tables(policy)
    rows = pq.read_table(files.record, columns=["published_row", "source_row"])
    kept = rows.filter(pc.is_valid(rows["published_row"]))
    if kept.num_rows == 0 or table.num_rows == 0:
        return None
    pages = max(1, -(-table.num_rows // SHOWN))
    at = min(max(page, 1), pages)
    first = (at - 1) * SHOWN
    near = pc.and_(
        pc.greater_equal(kept["published_row"], first),
        pc.less(kept["published_row"], first + SHOWN),
    )
    part = kept.filter(near).sort_by("published_row")
    before = source.take(part["source_row"])
    after = table.take(part["published_row"])
    return {
        "page": at,
        "pages": pages,
        "shown": shown,
        "columns": _columns(before, after),
        "rows": _rows(before, after, shown=shown),
    }


def _columns(before: pa.Table, after: pa.Table) -> list[str]:
    return [name for name in before.column_names if _names(name, after)]


def _names(name: str, after: pa.Table) -> list[str]:
    if name in after.column_names:
        return [name]
    both = [name + end for end in BOUNDS]
    return both if all(each in after.column_names for each in both) else []


def _rows(
    before: pa.Table, after: pa.Table, *, shown: bool
) -> list[list[tuple[str, str, bool]]]:
    """For each record the cell before, the cell after, and whether they differ."""
    found = []
    for name in _columns(before, after):
        one = _texts(before, name)
        parts = [_texts(after, each) for each in _names(name, after)]
        other = [
            " to ".join(dict.fromkeys(cells)) for cells in zip(*parts, strict=True)
        ]
        found.append(
            [
                (a if shown else HIDDEN, b if shown else HIDDEN, a != b)
                for a, b in zip(one, other, strict=True)
            ]
        )
    return [list(row) for row in zip(*found, strict=True)]


def _texts(table: pa.Table, name: str) -> list[str]:
    column = table.column(name)
    if not has_text(column):
        return ["(no text)"] * len(column)
    return ["" if t is None else t for t in as_text(column, name=name).to_pylist()]
