"""What cannot be promised where a missing quasi-identifier may be any value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.data.cells import packed_key
from sfumato.data.rules import RuleKind
from sfumato.data.table import Table
from sfumato.errors import RefusedError
from sfumato.models.base import OutputModel

COUNTED = frozenset({RuleKind.SIZE, RuleKind.DISTINCT, RuleKind.POPULATION})
"""Rules that more rows, or persons, can only meet better."""
HINT = 'Set data.missing_as to "value" or "drop".'


def refuse_open_cells(table: Table, models: Sequence[OutputModel]) -> None:
    """Refuse what groups may meet one by one and break as one another's candidates."""
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
                "rows with different quasi-identifiers, so that groups that meet it may "
                "break it together.",
                hint=HINT,
            )


def _counts(table: Table, model: OutputModel) -> bool:
    """Whether a model counts rows, persons or values, and nothing else."""
    rules = model.rules(table.schema.sensitive, subjects=True)
    return all(rule.kind in COUNTED for rule in rules)


def _shares_persons(table: Table) -> bool:
    """Whether a person has rows with different quasi-identifiers."""
    if table.schema.subject is None:
        return False
    codes = [table.columns[name].codes for name in table.schema.quasi]
    subject = table.columns[table.schema.subject].codes
    both = np.unique(packed_key([subject, *codes], table.rows))
    return len(both) > len(np.unique(subject))
