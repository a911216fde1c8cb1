"""Refuse an original that the published table cannot have been made from."""

from __future__ import annotations

from sfumato.data.safe_repr import counted
from sfumato.errors import DataError
from sfumato.pipeline.pair import PairFiles
from sfumato.pipeline.private_record import recorded_rows
from sfumato.risk.table_pair import Pair, PublishedForm
from sfumato.risk.unexplained_rows import unexplained_rows

MOST_UNEXPLAINED = 0.1
"""The share of published rows that may fit no row of the original.

A faulty tool publishes some false cells, and an original may have been corrected since;
other people fit a table much worse.
"""
FEW = 5
"""Up to so many unexplained rows are no proof, unless they are more than half of all."""
HINT = (
    "Give the original that the table was published from. If values were swapped or "
    "rows are synthetic, say so: form 'swapped' or 'synthetic'."
)


def check_original(files: PairFiles, pair: Pair) -> list[str]:
    """Refuse another table or other people as the original; return what to note."""
    _check_columns(pair)
    _check_rows(files, pair)
    found = unexplained_rows(pair)
    many = found.rows > FEW or found.share > 0.5
    if many and found.share > MOST_UNEXPLAINED:
        raise DataError(
            f"This is not the original of the published table: {found.rows:,} of "
            f"{found.checked:,} published rows ({found.share:.0%}) can be none of its "
            f"{pair.rows:,} rows.",
            hint=HINT,
        )
    if not found.rows:
        return []
    return [
        f"{found.rows:,} of {found.checked:,} published rows that were compared can be "
        "no row of the original."
    ]


def _check_columns(pair: Pair) -> None:
    """Refuse tables that have no compared column in common, or none that is read."""
    shared = [name for name in pair.published if name not in pair.dropped]
    read = [name for name in shared if _is_read(pair, name)]
    if not read:
        raise DataError(
            "This is not the original of the published table: of its "
            f"{counted(len(pair.published), 'compared column')}, {len(shared):,} are "
            "published, and none has a cell that fits the original.",
            hint="Give the original that the table was published from, and its policy.",
        )


def _is_read(pair: Pair, name: str) -> bool:
    """Whether some cell of a column says something about the original."""
    column = pair.published[name]
    sensible = column.reading.understood & (column.reading.sizes > 0)
    if pair.form.truthful:
        return bool(column.counts[sensible].sum())
    return bool(column.counts[column.reading.understood].sum())


def _check_rows(files: PairFiles, pair: Pair) -> None:
    """Refuse an original with too few rows, or other rows than the record has."""
    if pair.rows_out > pair.rows and pair.form is not PublishedForm.SYNTHETIC:
        raise DataError(
            f"The published table has {pair.rows_out:,} rows, the original {pair.rows:,}.",
            hint='Give the whole original, or say form "synthetic" if the rows stand '
            "for nobody.",
        )
    recorded = None if files.record is None else recorded_rows(files.record)
    if recorded is not None and recorded != pair.rows:
        raise DataError(
            f"The release was made from {recorded:,} rows, the original has "
            f"{pair.rows:,}.",
            hint="Give the original that the release was made from.",
        )
