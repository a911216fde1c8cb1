"""The format of a release's file, and what is refused for it before any search."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from sfumato.data.schema import Role
from sfumato.hierarchies.axis import CodedAxis
from sfumato.io.batch_files import many_files
from sfumato.io.databases import database_source
from sfumato.io.format_limits import (
    LIMITS,
    refuse_cells,
    refuse_names,
    refuse_size,
    refuse_texts,
)
from sfumato.io.formats import Format, format_of, written_as
from sfumato.pipeline.run import Run
from sfumato.policy import Policy


def extension_of(policy: Policy, origin: Any, *, on_spark: bool = False) -> str:
    """The ending of data files: the policy's format, or that of the source."""
    asked = policy.publish.format
    if on_spark:
        return Format.PARQUET
    if asked is not None:
        return asked
    if database_source(origin) is not None:
        return Format.PARQUET
    if not isinstance(origin, str | os.PathLike):
        return Format.CSV
    if many_files(os.fspath(origin)):
        return Format.PARQUET
    return written_as(format_of(os.fspath(origin)))


def refuse_unwritable_names(run: Run) -> None:
    """Refuse names, and numbers of rows and columns, that the format cannot hold."""
    form = _limited(run)
    if form is None:
        return
    names = _published(run)
    refuse_names(names, form)
    refuse_size(len(names), _fewest_rows(run), form)


def refuse_unwritable_cells(
    run: Run, source: pa.Table, quasi: Sequence[CodedAxis]
) -> None:
    """Refuse cells and labels that the format cannot hold.

    Sets and intervals of a quasi-identifier are not there yet: they are looked at
    before they are written.
    """
    form = _limited(run)
    if form is None:
        return
    axes = {coded.name: coded.axis for coded in quasi}
    hashed = run.policy.pseudonymized()
    exact = [n for n in _published(run) if n not in axes and n not in hashed]
    refuse_cells(source.select(exact), form)
    for name, axis in axes.items():
        refuse_texts(name, pa.array(axis.node_labels, pa.large_string()), form)


def _limited(run: Run) -> Format | None:
    """The format that a run is for, if it has limits."""
    form = format_of(f"data.{extension_of(run.policy, run.origin)}")
    return form if form in LIMITS else None


def _published(run: Run) -> list[str]:
    """The columns of the source that a release shows."""
    hashed, out = run.policy.pseudonymized(), (None, Role.IDENTIFIER, Role.SUBJECT)
    roles = {name: run.policy.role(name) for name in run.source.column_names}
    return [name for name, role in roles.items() if role not in out or name in hashed]


def _fewest_rows(run: Run) -> int:
    """How many rows are published for certain."""
    leaves_out = run.policy.data.missing_as == "drop" or run.policy.process_models()
    share = 1 - run.policy.publish.max_suppressed
    return 0 if leaves_out else int(run.source.num_rows * share)
