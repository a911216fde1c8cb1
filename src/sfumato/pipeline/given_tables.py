"""Read the tables that a call passes: files, frames and releases."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from sfumato.data.arrays import Codes
from sfumato.data.batch_source import BatchSource
from sfumato.data.schema import Role
from sfumato.engines.engine_choice import EngineChoice
from sfumato.engines.spark_engine import is_spark, spark_table
from sfumato.errors import DataError, UsageError
from sfumato.io.batch_files import batch_source, many_files, read_many
from sfumato.io.csv_grammar import LineBreaks, line_breaks
from sfumato.io.databases import database_source, read_database
from sfumato.io.formats import Format, sibling
from sfumato.io.read import Seen, read_source
from sfumato.io.spreadsheet import unguarded
from sfumato.io.trim import trimmed
from sfumato.io.write import format_of
from sfumato.pipeline.earlier_releases import earlier_hashes
from sfumato.pipeline.pair import PairFiles
from sfumato.pipeline.private_record import Alignment
from sfumato.pipeline.release import Release
from sfumato.pipeline.release_files import ReleaseFiles
from sfumato.pipeline.source_order import by_key
from sfumato.pipeline.spark_source import spark_source
from sfumato.policy import Policy
from sfumato.publish.anatomize import GROUP
from sfumato.publish.base import Form
from sfumato.risk.table_pair import PublishedForm

Source = Any
"""A path, a pandas, polars or Arrow frame, or a table of a database."""


def read_table(
    data: Source,
    policy: Policy | None,
    settings: Mapping[str, Any],
    *,
    seen: Seen | None = None,
    coded: bool = False,
    breaks: LineBreaks | None = None,
) -> pa.Table:
    """Read a file as the policy or the settings declare it, or take a frame.

    With `coded`, texts of a CSV file may come as dictionaries. `breaks` says where cells
    may have line breaks; left out, in columns that the policy does not publish. If the
    policy says so, blanks at the end of texts are cut.
    """
    table = _read(data, policy, settings, seen, breaks, coded=coded)
    trims = settings.get("trim") if policy is None else policy.publish.trim
    return trimmed(table) if trims else table


def _read(
    data: Source,
    policy: Policy | None,
    settings: Mapping[str, Any],
    seen: Seen | None,
    breaks: LineBreaks | None,
    *,
    coded: bool,
) -> pa.Table:
    database = database_source(data)
    if database is not None:
        return read_database(database)
    if not is_path(data):
        from sfumato.io.frames import to_arrow

        return to_arrow(data)
    if many_files(data):
        return read_many(data)
    declared = policy.data if policy is not None else None
    return read_source(
        Path(data),
        delimiter=declared.delimiter if declared else settings.get("delimiter"),
        encoding=declared.encoding if declared else settings.get("encoding"),
        decimal=declared.decimal if declared else settings.get("decimal"),
        format=declared.format if declared else None,
        sheet=declared.sheet if declared else settings.get("sheet"),
        seen=seen,
        coded=coded,
        breaks=breaks or source_breaks(policy, settings),
    )


def source_breaks(policy: Policy | None, settings: Mapping[str, Any]) -> LineBreaks:
    """Where cells of a source may have line breaks: not in columns to be published."""

    def published(names: Sequence[str]) -> frozenset[str]:
        asked = policy or Policy.build(columns=list(names), **settings)
        return asked.published(names)

    return line_breaks(
        multiline=_multiline(policy, settings), otherwise=LineBreaks(published)
    )


def published_breaks(
    policy: Policy | None,
    settings: Mapping[str, Any],
    *,
    multiline: bool = False,
) -> LineBreaks:
    """Where cells of a published file may have line breaks: only where declared.

    `multiline` is what the manifest of the file declares.
    """
    return line_breaks(multiline=multiline or _multiline(policy, settings))


def _multiline(policy: Policy | None, settings: Mapping[str, Any]) -> bool:
    said = settings.get("multiline") if policy is None else policy.data.multiline
    return bool(said)


def read_published(
    data: Source,
    policy: Policy | None,
    settings: Mapping[str, Any],
    *,
    multiline: bool = False,
) -> pa.Table:
    """Read a table that may be a release.

    A policy says how its source is written. A release is UTF-8, in the format that its
    name says. Where the file cannot be read that way, it is read like the source.
    `multiline` is whether its manifest says that cells have line breaks.
    """
    breaks = published_breaks(policy, settings, multiline=multiline)
    if policy is None or not is_path(data):
        return read_table(data, policy, settings, breaks=breaks)
    if many_files(data):
        return read_many(data)
    said, place = policy.data, Path(data)
    try:
        table = read_source(
            place, delimiter=said.delimiter, decimal=said.decimal, breaks=breaks
        )
        # A release of a frame has commas, whatever the policy says of a file.
        alone = said.delimiter is not None and table.num_columns == 1
        if not alone or table.column_names[0] in policy.columns:
            return table
        return read_source(place, decimal=said.decimal, breaks=breaks)
    except DataError as fault:
        with suppress(DataError):
            return read_table(data, policy, settings, breaks=breaks)
        # Other tools use other delimiters.
        with suppress(DataError):
            return read_source(place, decimal=said.decimal, breaks=breaks)
        raise fault from None


def published_batches(
    data: Source,
    policy: Policy | None,
    settings: Mapping[str, Any],
    *,
    safe: bool = False,
    choice: EngineChoice | None = None,
    multiline: bool = False,
) -> BatchSource:
    """Open a published file, or Parquet files, to be read in batches."""
    if choice is not None and choice.on_spark:
        return spark_source(data, choice)
    if not is_path(data):
        return source_batches(data, policy, settings)
    said = policy.data if policy is not None else None
    return batch_source(
        data,
        delimiter=said.delimiter if said else settings.get("delimiter"),
        encoding=None if said else settings.get("encoding"),
        decimal=said.decimal if said else settings.get("decimal"),
        safe=safe,
        breaks=published_breaks(policy, settings, multiline=multiline),
    )


def source_batches(
    data: Source,
    policy: Policy | None,
    settings: Mapping[str, Any] = MappingProxyType({}),
    *,
    choice: EngineChoice | None = None,
    cells: bool = True,
) -> BatchSource:
    """Open a source to be read in batches, as the policy or the settings declare it.

    Without `cells`, only its columns are wanted, and its cells are not checked.
    """
    if choice is not None and choice.on_spark:
        return spark_source(data, choice)
    if is_spark(data):
        return spark_table(data)
    if not is_path(data):
        from sfumato.io.frames import batches_of

        return batches_of(data)
    said = policy.data if policy is not None else None
    return batch_source(
        data,
        delimiter=said.delimiter if said else settings.get("delimiter"),
        encoding=said.encoding if said else settings.get("encoding"),
        decimal=said.decimal if said else settings.get("decimal"),
        format=said.format if said else None,
        breaks=source_breaks(policy, settings) if cells else None,
    )


def columns_of(
    data: Source, policy: Policy | None, settings: Mapping[str, Any]
) -> pa.Table:
    """A table without rows that has the columns of a source."""
    return source_batches(data, policy, settings, cells=False).schema.empty_table()


def is_path(data: Source) -> bool:
    """Return whether something names a file; it may be a frame or a database."""
    named = isinstance(data, str | os.PathLike)
    return named and database_source(data) is None


def second_table(
    data: Source, form: Form, *, safe: bool, multiline: bool = False
) -> dict[str, pa.Table]:
    """Read the second table of an anatomized release from the same directory."""
    if form is not Form.ANATOMIZED or not is_path(data):
        return {}
    place = sibling(Path(data), "sensitive")
    table = read_source(place, breaks=line_breaks(multiline=multiline))
    return {"sensitive": as_meant(place, table, safe=safe)}


def as_meant(data: Source, table: pa.Table, *, safe: bool) -> pa.Table:
    """Strip the marks that protect spreadsheets from formulas in CSV cells."""
    marked = safe and is_path(data) and format_of(data) is Format.CSV
    return unguarded(table) if marked else table


def pair_files(
    original: Source,
    published: Release | Source,
    policy: Policy,
    *,
    form: PublishedForm | None = None,
    base: Path | None = None,
) -> PairFiles:
    """Read an original and a published table, to be made a pair.

    A release directory brings its private record along.
    """
    refuse_swapped(original)
    held = isinstance(published, Release)
    if not held and is_path(published) and Path(str(published)).is_dir():
        return replace(attacked_files(published, original, policy, base), form=form)
    source = read_table(original, policy, {})
    if isinstance(published, Release):
        kept = published.source_rows
        return PairFiles(
            policy=policy,
            original=by_key(source, policy),
            published=published.whole_table(),
            beside=published.beside,
            base=base,
            known_rows=Alignment(kept, published.group_of[kept]),
            form=form,
        )
    safe = policy.publish.spreadsheet_safe
    table = as_meant(published, read_published(published, policy, {}), safe=safe)
    apart = form is PublishedForm.ANATOMIZED or _apart(published, table, policy)
    shape = Form.ANATOMIZED if apart else Form.CELLS
    return PairFiles(
        policy=policy,
        original=source,
        published=table,
        beside=second_table(
            published, shape, safe=safe, multiline=policy.data.multiline
        ),
        base=base,
        form=form,
    )


def refuse_swapped(original: object) -> None:
    """Refuse a release in the place of its original."""
    if isinstance(original, Release):
        raise UsageError(
            "The original table is itself a release.",
            hint="The order is assess(original, published), attack(release, original).",
        )


def attacked_files(
    release: Release | Source,
    original: Source,
    policy: Policy | None,
    base: Path | None,
) -> PairFiles:
    """Read a release (in memory, written, or another tool's) and its original."""
    refuse_swapped(original)
    if isinstance(release, Release):
        asked = policy or release.claim.policy
        return pair_files(original, release, asked, base=base or asked.base)
    if not is_path(release):
        if policy is None:
            raise UsageError(
                "Nothing says how to read the published table.", hint="Give a policy."
            )
        return pair_files(original, release, policy, base=base or policy.base)
    found = ReleaseFiles.of(Path(release))
    asked = policy or found.policy()
    table, beside = found.tables(asked)
    return PairFiles(
        policy=asked,
        original=by_key(read_table(original, asked, {}), asked),
        published=table,
        beside=beside,
        base=base or asked.base,
        record=found.record,
    )


def made_after(release: Release | Source) -> tuple[str, ...]:
    """The hashes of the releases that a release was made after, by its manifest."""
    if isinstance(release, Release):
        return earlier_hashes(release.manifest)
    if is_path(release):
        return earlier_hashes(ReleaseFiles.of(Path(release)).manifest)
    return ()


def _apart(published: Source, table: pa.Table, policy: Policy) -> bool:
    """Return whether a file is the first of an anatomized pair."""
    if not is_path(published):
        return False
    second = sibling(Path(published), "sensitive")
    lacks = not set(policy.names(Role.SENSITIVE)) & set(table.column_names)
    return GROUP in table.column_names and lacks and second.exists()


@dataclass(frozen=True, eq=False, repr=False)
class ShownTables:
    """What a recipient has of a release, and the policy that it is read by."""

    policy: Policy
    table: pa.Table
    beside: Mapping[str, pa.Table]
    swap_groups: Codes | None = None
    """The group of each row of a swapped release that is at hand."""


def shown_tables(release: Release | Source, policy: Policy | None) -> ShownTables:
    """Read what a recipient sees of a release, a release directory, or any table."""
    if isinstance(release, Release):
        groups = release.group_of[release.source_rows]
        policy = policy or release.claim.policy
        return ShownTables(policy, release.whole_table(), release.beside, groups)
    if is_path(release):
        files = ReleaseFiles.of(Path(release))
        policy = policy or files.policy()
        return ShownTables(policy, *files.tables(policy))
    policy = policy or Policy()
    return ShownTables(policy, read_table(release, policy, {}), {})
