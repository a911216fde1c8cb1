"""Find the people of one original in the private record of another release."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from sfumato.data.arrays import Ints
from sfumato.errors import DataError
from sfumato.io.read import read_source
from sfumato.pipeline.linked_persons import PERSON
from sfumato.pipeline.private_record import Alignment, read_alignment


def same_people(
    record: Path, published: int, *, mine: Path | None, rows: int
) -> Alignment:
    """The rows of another release, numbered as the people of this original are.

    People are known by their keyed hashes, where both records have them; else both
    releases must be of one original, whose rows are counted alike. People who are not
    in this original get numbers after its last row.
    """
    theirs = read_source(record, format="parquet")
    ours = None if mine is None else read_source(mine, format="parquet")
    aligned = read_alignment(record, published=published, original=theirs.num_rows)
    if (
        ours is not None
        and PERSON in ours.column_names
        and PERSON in theirs.column_names
    ):
        number = _numbers(ours, theirs, rows)
        return Alignment(number[aligned.source_row], aligned.group)
    if theirs.num_rows != rows:
        raise DataError(
            f"'{record}' is about {theirs.num_rows:,} rows, the original has {rows:,}, and "
            "nothing says who is who.",
            hint="Make both releases with privacy.link_key, or of one original.",
        )
    return aligned


def _numbers(ours: pa.Table, theirs: pa.Table, rows: int) -> Ints:
    """For each row of the other original the row of ours with the same person."""
    known = {
        person: row
        for row, person in zip(
            ours["source_row"].to_pylist(), ours[PERSON].to_pylist(), strict=True
        )
    }
    found = [
        known.setdefault(person, rows + at)
        for at, person in enumerate(theirs[PERSON].to_pylist())
    ]
    return np.array(found, dtype=np.int64)
