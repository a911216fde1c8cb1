"""Which labels of a statistical file may be published with its columns."""

from __future__ import annotations

import pyarrow as pa

from sfumato.data.file_labels import FileLabels, kept_labels, labels_of
from sfumato.data.schema import Role
from sfumato.policy import Policy

UNTOUCHED = (Role.SENSITIVE, Role.INSENSITIVE, Role.WEIGHT)
"""Roles of columns whose values are published as they were."""


def labels_published(policy: Policy, source: pa.Table) -> FileLabels:
    """The labels of columns that no operator transforms; none under a process model.

    A label says what a source column was. That is true of a published column only if it
    still shows the same values.
    """
    if policy.process_models():
        return {}
    untouched = [n for n in source.column_names if policy.role(n) in UNTOUCHED]
    names = [name for name in untouched if policy.bands(name) is None]
    return kept_labels(labels_of(source), source, names)
