"""Read the private record of a release: what its published cells do not show."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.data.json_records import parse
from sfumato.errors import DataError
from sfumato.io.read import read_source
from sfumato.pipeline.verification import GENERATED_VALUES, SOURCE_VALUES, Private

HINT = "Give the rows.parquet that was written with this table."
NEEDED = frozenset({"published_row", "group"})


class Alignment(NamedTuple):
    """Which original row each published row is, and its group."""

    source_row: npt.NDArray[np.int64]
    group: npt.NDArray[np.int32]


def read_private(place: Path, source: pa.Table, *, swapped: bool) -> Private:
    """Read what the record says of a published table, in the order of its rows."""
    record = _record(place)
    kept = _published(record, place, source.num_rows)
    groups = _numbers(kept, "group", place)
    subject = None
    if "subject" in kept.column_names:
        subject = _numbers(kept, "subject", place)
    return Private(
        subject=subject,
        groups=groups if swapped else None,
        source_values=_value_counts(record, SOURCE_VALUES, place),
        generated_values=_value_counts(record, GENERATED_VALUES, place),
    )


def read_alignment(place: Path, *, published: int, original: int) -> Alignment:
    """Read the source row and the group of each published row from a record."""
    kept = _published(_record(place), place, published)
    if "source_row" not in kept.column_names:
        raise _damaged(place, "source_row")
    rows = _numbers(kept, "source_row", place)
    if len(rows) and rows.max() >= original:
        raise DataError(
            f"The private record '{place}' is about more than the {original} rows of "
            "the original.",
            hint="Give the original that the release was made from.",
        )
    return Alignment(rows.astype(np.int64), _numbers(kept, "group", place))


def recorded_rows(place: Path) -> int:
    """How many rows the source of a release had, those left out included."""
    return int(_record(place).num_rows)


def _published(record: pa.Table, place: Path, rows: int) -> pa.Table:
    """The rows of the record that were published, in publishing order."""
    kept = record.filter(record["published_row"].is_valid()).sort_by("published_row")
    if kept.num_rows != rows:
        raise DataError(
            f"The private record '{place}' has {kept.num_rows:,} published rows; the "
            f"table has {rows:,}.",
            hint=HINT,
        )
    return kept


def _record(place: Path) -> pa.Table:
    """Read the record, and check that it lists every published row once."""
    record = read_source(place, format="parquet")
    lacking = NEEDED.difference(record.column_names)
    if lacking:
        raise DataError(
            f"'{place}' is not a private record: it has no column '{min(lacking)}' among "
            f"its {record.num_columns:,}.",
            hint=HINT,
        )
    rows = _integers(record, "published_row", place).drop_null()
    if len(rows) and not _counts_up(rows):
        raise _damaged(place, "published_row")
    return record


def _counts_up(rows: pa.ChunkedArray) -> bool:
    """Whether the numbers 0, 1, 2, … each occur once."""
    ends = pc.min_max(rows).as_py()
    distinct = pc.count_distinct(rows).as_py()
    return bool(
        ends["min"] == 0 and ends["max"] == len(rows) - 1 and distinct == len(rows)
    )


def _numbers(record: pa.Table, name: str, place: Path) -> npt.NDArray[np.int32]:
    """A column of non-negative codes without nulls."""
    found = _integers(record, name, place)
    if found.null_count or (len(found) and not _small(found)):
        raise _damaged(place, name)
    codes: npt.NDArray[np.int32] = found.to_numpy().astype(np.int32)
    return codes


def _small(found: pa.ChunkedArray) -> bool:
    ends = pc.min_max(found).as_py()
    return bool(ends["min"] >= 0 and ends["max"] <= np.iinfo(np.int32).max)


def _integers(record: pa.Table, name: str, place: Path) -> pa.ChunkedArray:
    column = record[name]
    if not pa.types.is_integer(column.type):
        raise _damaged(place, name)
    return column


def _value_counts(
    record: pa.Table, key: bytes, place: Path
) -> dict[str, dict[str, int]]:
    """Value counts of the source, which are in the file's metadata."""
    text = (record.schema.metadata or {}).get(key, b"{}")
    name = key.decode().removeprefix("sfumato.")
    try:
        found = parse(text)
    except ValueError:
        raise _damaged(place, name) from None
    if not isinstance(found, dict) or not all(map(_are_counts, found.values())):
        raise _damaged(place, name)
    return found


def _are_counts(values: Any) -> bool:
    return isinstance(values, dict) and all(
        type(count) is int and 0 <= count < 2**63 for count in values.values()
    )


def _damaged(place: Path, name: str) -> DataError:
    return DataError(
        f"'{place}' is a damaged private record: '{name}' does not hold what a release "
        "writes there.",
        hint=HINT,
    )
