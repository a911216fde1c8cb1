"""Missing cells: which they are, and what they rule out if they match any value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as types

from sfumato.data.published_cells import packed_key
from sfumato.data.table import Table
from sfumato.engines.base import Engine
from sfumato.errors import RefusedError
from sfumato.models.base import OutputModel
from sfumato.policy import Policy

HINT = 'Set data.missing_as to "value" or "drop".'
EMPTY = ""


def with_empty_mark(policy: Policy, source: pa.Table) -> Policy:
    """Add the empty text to the policy's missing marks if the source has nulls.

    A CSV file cannot tell the two apart. Under a process model the policy stays as it
    is: declared domains decide its cells.
    """
    marks = policy.data.missing
    if EMPTY in marks or policy.process_models() or not any(map(_nulls, source)):
        return policy
    return with_marks(policy, (EMPTY,))


def empty_marked(policy: Policy, engine: Engine) -> Policy:
    """The same for a source that is not in memory."""
    if EMPTY in policy.data.missing or policy.process_models() or not engine.missing():
        return policy
    return with_marks(policy, (EMPTY,))


def with_marks(policy: Policy, marks: Sequence[str]) -> Policy:
    """Add marks to the policy's missing marks, where it does not have them."""
    known = policy.data.missing
    more = [mark for mark in marks if mark not in known]
    if not more:
        return policy
    data = policy.data.model_copy(update={"missing": (*known, *more)})
    return policy.model_copy(update={"data": data})


def _nulls(column: pa.ChunkedArray) -> bool:
    """Whether a column has nulls or NaNs."""
    if types.is_dictionary(column.type):
        known = any(chunk.dictionary.null_count for chunk in column.chunks)
        return known or bool(column.null_count)
    if types.is_floating(column.type):
        return bool(pc.any(pc.is_null(column, nan_is_null=True)).as_py())
    return bool(pc.any(pc.is_null(column)).as_py())


def refuse_open_cells(table: Table, models: Sequence[OutputModel]) -> None:
    """Refuse models that single groups may meet but unions of groups may break."""
    columns = [table.columns[name] for name in table.schema.quasi]
    if all(column.missing < 0 for column in columns):
        return
    for model in models:
        if not model.holds_for_unions:
            raise RefusedError(
                f'{model.name} cannot be promised with missing_as = "any": groups that '
                "meet it may break it together, and a missing quasi-identifier makes "
                "them candidates for the same person.",
                hint=HINT,
            )
        if _shares_persons(table) and not _counts(table, model):
            raise RefusedError(
                f'{model.name} cannot be promised with missing_as = "any": persons have '
                "rows with different quasi-identifiers, so groups that meet it may "
                "break it together.",
                hint=HINT,
            )


def _counts(table: Table, model: OutputModel) -> bool:
    """Return whether a model only counts rows, persons or values, so more only help."""
    rules = model.rules(table.schema.sensitive, subjects=True)
    return all(rule.traits.monotone for rule in rules)


def _shares_persons(table: Table) -> bool:
    """Whether a person has rows with different quasi-identifiers."""
    if table.schema.subject is None:
        return False
    codes = [table.columns[name].codes for name in table.schema.quasi]
    subject = table.columns[table.schema.subject].codes
    both = np.unique(packed_key([subject, *codes], table.rows))
    return len(both) > len(np.unique(subject))
