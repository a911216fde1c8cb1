"""The hash that a manifest has of a table in a database, in its new and its old forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.data.cell_text import as_text
from sfumato.errors import DataError
from sfumato.io.formats import hash_bytes
from sfumato.io.row_hashes import hash_table

HASH = "data_sha256"
FORM = "data_sha256_form"
"""The manifest's entry that says how rows were hashed; files have none."""
TYPED_ROW_SUM = "typed-row-sum"
"""The form of `io/row_hashes.py`."""
ROW_SUM = "row-sum"
"""The same without the kinds of the columns. Not for new manifests: a table whose numbers
became texts can share it."""
CELL, ROW, NOTHING = "\x1f", "\n", "\0"
"""What separated cells and rows in the old form, and what a null was there."""


def hash_entries(table: pa.Table) -> dict[str, str]:
    """The hash of a table and its form, as a manifest has them."""
    return {HASH: hash_table(table), FORM: TYPED_ROW_SUM}


def is_described(table: pa.Table, manifest: Mapping[str, Any]) -> bool:
    """Return whether a table has the hash that a manifest has of it."""
    form = manifest.get(FORM)
    if form is not None and form not in _FORMS:
        raise DataError(
            "The manifest has a hash of rows in a form that this version does not know.",
            hint="Take the version of Sfumato that made the release, or a newer one.",
        )
    return _FORMS[form](table) == manifest.get(HASH)


def row_texts(table: pa.Table) -> Any:
    """A text for each row, to put rows in one order; two rows may share a text."""
    cells = [pc.fill_null(as_text(c), NOTHING) for c in table.columns]
    return pc.binary_join_element_wise(*cells, CELL)


def _old_hash(table: pa.Table) -> str:
    """The hash of sorted rows. Not for new manifests: tables can share it."""
    lines = row_texts(table)
    ordered = lines.take(pc.sort_indices(lines)).to_pylist()
    return hash_bytes(pa.py_buffer(ROW.join([*table.column_names, *ordered]).encode()))


_FORMS: Mapping[str | None, Callable[[pa.Table], str]] = MappingProxyType(
    {
        None: _old_hash,
        ROW_SUM: partial(hash_table, typed=False),
        TYPED_ROW_SUM: hash_table,
    }
)
