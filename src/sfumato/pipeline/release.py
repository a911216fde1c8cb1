"""The release that callers get, and how its files are written."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.call_arguments import path_of
from sfumato.data.file_labels import FileLabels, kept_labels
from sfumato.data.json_records import dump
from sfumato.data.result_classes import comes_from
from sfumato.data.safe_repr import SafeRepr, counted
from sfumato.errors import OutputError, RefusedError
from sfumato.io.atomic_files import own_directory, own_file
from sfumato.io.database_types import storable
from sfumato.io.databases import DatabaseSource
from sfumato.io.write import write_table
from sfumato.pipeline.compare_with_draft import DraftedRows
from sfumato.pipeline.earlier_release_proof import CandidateClaim
from sfumato.pipeline.linked_persons import LINKED, PERSON, LinkedPersons
from sfumato.pipeline.out_of_core import OutOfCore
from sfumato.pipeline.prove_written_files import (
    prove_counted,
    prove_files,
    prove_tables,
)
from sfumato.pipeline.release_files import TABLE_FILE
from sfumato.pipeline.release_to_database import (
    FileTakenError,
    TableTarget,
    new_table,
)
from sfumato.pipeline.reports import PRIVATE_REPORT, PUBLIC_REPORT, ReportSource
from sfumato.pipeline.saved_manifest import SavedManifest, check_command
from sfumato.pipeline.spark_release import published_frame, write_and_prove
from sfumato.pipeline.verification import GENERATED_VALUES, SOURCE_VALUES, Claim
from sfumato.pipeline.write_release import refuse_existing, repair, write_directory
from sfumato.pipeline.written_format import extension_of
from sfumato.report.card import card
from sfumato.report.html import prepare

RECORD_ROWS = 1 << 20
"""Rows of the private record that are written together."""


@comes_from("sfumato.anonymize(data, quasi=[…], k=5)")
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Release(SafeRepr):
    """A proven release: its tables, facts about them, and how to write it.

    Example:
        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> people = pa.table({"age": [23, 25, 31, 34], "ill": list("abab")})
        >>> release = sf.anonymize(people, quasi="age", sensitive="ill", k=2)
        >>> sorted(release.data.column("age").to_pylist())
        ['[23, 25]', '[23, 25]', '[31, 34]', '[31, 34]']
        >>> release.verdicts[0]["holds"], release.risk["prosecutor_max"]
        (True, 0.5)
        >>> round(release.utility["ncp"], 4)
        0.2273
    """

    table: pa.Table
    """The published table as Arrow."""
    beside: Mapping[str, pa.Table]
    """Further tables of the release, by file name."""
    notes: Mapping[str, str]
    """Further texts of the release, by file name."""
    manifest: Mapping[str, Any]
    """Publishable: policy without paths, verdicts, measures, versions."""
    facts: Mapping[str, Any]
    """Publishable: what the report shows beyond the manifest."""
    alternatives: tuple[Mapping[str, Any], ...]
    """Other solutions that met the policy, with their figures."""
    claim: Claim
    """Private: what the written file must prove again."""
    audit: Mapping[str, Any]
    """Private: the seed, and what is needed to repeat the run."""
    learned: Mapping[str, str]
    """Private: the hierarchies that were learned, by file name."""
    source_rows: npt.NDArray[np.int64]
    """Private: the source row of each published row."""
    group_of: npt.NDArray[np.int32]
    """Private: the group of each source row, −1 for suppressed ones."""
    subject_of: npt.NDArray[np.int32] | None
    """Private: the person behind each source row, as a number."""
    persons: LinkedPersons | None
    """Private: the person behind each source row, as a keyed hash."""
    together: CandidateClaim | None
    """Private: what the written file must prove together with earlier releases."""
    categories: frozenset[str]
    """Columns of categories, which files with types write as such."""
    out_of_core: OutOfCore | None = None
    """Where the tables are, if they do not fit in memory."""
    warnings: tuple[str, ...] = ()
    """Private: what the steward should know, such as an identifier that repeats."""
    origin: Any = None
    """What the caller passed in; sets the kind of `data` and the format of `save`."""
    delimiter: str = ","
    """The delimiter of the source's CSV file."""
    labels: FileLabels = field(default_factory=dict)
    """Labels of columns that are published as they were, from a statistical file."""
    source_sha256: str | None = None
    """Private: the hash of the source, where it is a file."""

    @property
    def data(self) -> Any:
        """Return the published table, as the kind of frame that was passed in."""
        held = self.out_of_core
        if held is not None and held.spark is not None:
            return published_frame(self.table, self.source_rows, held.spark)
        # Imported late: files need no library of frames.
        from sfumato.io.frames import like

        return like(self.origin, self.table)

    @property
    def on_spark(self) -> bool:
        """Whether the rows are on Spark, and `table` has some of their columns only."""
        return self.out_of_core is not None and self.out_of_core.spark is not None

    def whole_table(self) -> pa.Table:
        """The published table with all of its columns; refuse one that is on Spark."""
        if self.on_spark:
            raise RefusedError(
                "The rows of this release are on Spark.",
                hint="Save it, and give its directory.",
            )
        return self.table

    @property
    def verdicts(self) -> list[dict[str, Any]]:
        """Every requirement, measured on the published cells."""
        return list(self.manifest["requirements"])

    @property
    def judged(self) -> tuple[str, ...] | None:
        """The sensitive columns that a requirement is about; empty: nothing is judged
        for what can be learned about a person. None under a process model."""
        found = self.manifest.get("judged")
        return None if found is None else tuple(found)

    @property
    def utility(self) -> dict[str, float]:
        """The metrics that need no original; `ncp` is the share of detail lost."""
        return dict(self.manifest["utility"])

    @property
    def risk(self) -> dict[str, Any]:
        """The chance to find a person, and the rows that other columns single out."""
        return dict(self.manifest["risk"])

    def report(self, path: str | os.PathLike[str], *, private: bool = False) -> None:
        """Write the report as one self-contained page: the public edition, or, with
        `private`, the one that only the steward may see."""
        place = path_of(path, what="A report's place")
        source = report_source(self, self.manifest)
        text = source.private() if private else source.public()
        try:
            if private:
                place.unlink(missing_ok=True)
                own_file(place)
            place.write_text(text, encoding="utf-8")
        except OSError as fault:
            raise OutputError(
                f"'{place}' cannot be written: {fault.strerror}.",
                hint="Name another place.",
            ) from None

    def save(
        self,
        directory: str | os.PathLike[str],
        *,
        force: bool = False,
        to: str | None = None,
    ) -> SavedManifest:
        """Write the release, proven from its own bytes; returns the manifest.

        What it returns prints the command that proves the written release again, and
        has it as `check_command`. With `force` it replaces an older release, which stays
        until then. `to` puts the data into a new table of a database, `URL#table`, and
        the rest into the directory; both or neither appear.
        """
        place = path_of(directory, what="A release's place")
        if to is None:
            table = str(place / f"data.{self.extension}")
            manifest = write_directory(place, partial(fill, self), force=force)
        else:
            table = to
            manifest = _save_to_table(self, place, to, force=force)
        return SavedManifest(
            manifest,
            command=partial(check_command, self.claim, place, table),
            warnings=self.warnings,
        )

    @property
    def extension(self) -> str:
        """The ending of data files: the policy's format, or that of the source."""
        return extension_of(self.claim.policy, self.origin, on_spark=self.on_spark)

    def plot(self) -> Any:
        """Group sizes and losses as an Altair chart (`pip install 'sfumato[plots]'`)."""
        # Imported late: most releases are not drawn.
        from sfumato.report.plots import release_plot

        return release_plot(self.manifest, self.facts)

    def _repr_html_(self) -> str:
        return card(self.manifest)

    def _summary(self) -> str:
        rows, groups = self.manifest["rows_out"], self.manifest["groups"]
        held = [each["holds"] for each in self.manifest["requirements"]]
        return (
            f"{counted(rows, 'row')} in {counted(groups, 'group')}; "
            f"{sum(held)} of {counted(len(held), 'requirement')} met"
        )


def _save_to_table(
    release: Release, place: Path, address: str, *, force: bool
) -> Mapping[str, Any]:
    release.whole_table()
    if release.beside:
        raise RefusedError(
            "An anatomized release has two tables and cannot be written to one.",
            hint="Write it to files, or use another operator.",
        )
    refuse_existing(place, force=force)
    # Before any work: it refuses columns that the database does not keep.
    storable(release.table, DatabaseSource.of(address).place.system)
    repair(place, address)
    try:
        return _fill_new_table(release, place, address, force=force)
    except FileTakenError:
        # The file of another process is complete, so the table goes into that one.
        return _fill_new_table(release, place, address, force=force)


def _fill_new_table(
    release: Release, place: Path, address: str, *, force: bool
) -> Mapping[str, Any]:
    with new_table(address) as target:
        publish = partial(_write_table_and_prove, target)
        filled = partial(fill, release, publish=publish)
        return write_directory(place, filled, force=force, commit=target.publish)


def _write_table_and_prove(
    target: TableTarget, release: Release, aside: Path
) -> dict[str, Any]:
    draft = DraftedRows(name=target.name, table=release.table, system=target.system)

    def prove(back: pa.Table) -> None:
        prove_tables(back, draft, release.claim, release.together)

    _write_json(aside / TABLE_FILE, {"address": target.address})
    return target.write(release.table, prove)


def _write_files_and_prove(release: Release, aside: Path) -> dict[str, Any]:
    held = release.out_of_core
    if held is not None and held.spark is not None:
        return write_and_prove(
            release.table,
            release.source_rows,
            aside / "data.parquet",
            spark=held.spark,
            claim=release.claim,
        )
    tables = {"data": release.table, **release.beside}
    places = {name: aside / f"{name}.{release.extension}" for name in tables}
    for name, table in tables.items():
        write_table(
            table,
            own_file(places[name]),
            delimiter=release.delimiter,
            spreadsheet_safe=release.claim.policy.publish.spreadsheet_safe,
            categories=release.categories,
            labels=kept_labels(release.labels, table, release.labels),
        )
    if release.out_of_core is not None:
        release.out_of_core.disk.release()
        return prove_counted(
            places["data"],
            release.table,
            release.claim,
            release.out_of_core,
            categories=release.categories,
            delimiter=release.delimiter,
        )
    return prove_files(
        places,
        tables,
        release.claim,
        release.together,
        categories=release.categories,
        delimiter=release.delimiter,
    )


Publish = Callable[["Release", Path], dict[str, Any]]
"""Writes the tables of a release and proves them; returns their hashes, and what else the
manifest says of them."""


def fill(
    release: Release, aside: Path, *, publish: Publish = _write_files_and_prove
) -> Mapping[str, Any]:
    """Write every file of a release and prove the tables; returns the manifest."""
    own_directory(aside / "private")
    with ThreadPoolExecutor() as pool:
        kept = pool.submit(_write_private, release, aside / "private")
        pool.submit(prepare)
        hashes = publish(release, aside)
    kept.result()
    manifest = {**release.manifest, **hashes}
    for name, text in release.notes.items():
        _write_text(aside / name, text)
    _write_json(aside / "manifest.json", manifest)
    source = report_source(release, manifest)
    _write_text(aside / PUBLIC_REPORT, source.public())
    _write_text(aside / PRIVATE_REPORT, source.private())
    return manifest


def report_source(release: Release, manifest: Mapping[str, Any]) -> ReportSource:
    """What the report of a release is made from; the manifest may have hashes."""
    audit = _audit(release)
    return ReportSource(manifest=manifest, facts=audit["facts"], audit=audit)


def _audit(release: Release) -> dict[str, Any]:
    """The private record: what repeats the run, and what its report says."""
    record: dict[str, Any] = dict(release.audit)
    if release.source_sha256 is not None:
        record["source_sha256"] = release.source_sha256
    if isinstance(release.origin, str | os.PathLike):
        record["source_file"] = Path(os.fspath(release.origin)).name
    file = {"name": f"data.{release.extension}", "delimiter": release.delimiter}
    return record | {
        "manifest": release.manifest,
        "facts": {**release.facts, "file": file},
    }


def _write_private(release: Release, place: Path) -> None:
    _write_json(place / "audit.json", _audit(release))
    for name, text in release.learned.items():
        _write_text(place / name, text)
    published = _published_rows(release)
    # Opened here, because Arrow takes no path whose name is not UTF-8.
    with own_file(place / "rows.parquet").open("wb") as sink:
        parts = _row_record(release, published)
        first = next(parts)
        with _record_writer(sink, first.schema) as writer:
            for part in chain([first], parts):
                writer.write_table(part)


def _record_writer(sink: IO[bytes], schema: pa.Schema) -> pq.ParquetWriter:
    """Write numbers as differences: row numbers hardly repeat, and are mostly dense.

    That takes half the time and half the space of dictionaries and compression.
    """
    numbers = {each.name for each in schema if pa.types.is_integer(each.type)}
    return pq.ParquetWriter(
        sink,
        schema,
        use_dictionary=[name for name in schema.names if name not in numbers],
        compression={n: "none" if n in numbers else "snappy" for n in schema.names},
        column_encoding=dict.fromkeys(numbers, "DELTA_BINARY_PACKED"),
    )


def _published_rows(release: Release) -> npt.NDArray[np.int64]:
    """The published row of each source row; −1 for those left out."""
    published = np.full(len(release.group_of), -1, dtype=np.int64)
    published[release.source_rows] = np.arange(len(release.source_rows))
    return published


def _row_record(
    release: Release, published: npt.NDArray[np.int64]
) -> Iterator[pa.Table]:
    """Published row, source row and group of every source row, in parts; private."""
    for start in range(0, max(len(published), 1), RECORD_ROWS):
        rows = slice(start, start + RECORD_ROWS)
        yield _record_part(release, published[rows], rows)


def _record_part(
    release: Release, published: npt.NDArray[np.int64], rows: slice
) -> pa.Table:
    gone = published < 0
    columns = {
        "published_row": pa.array(published, mask=gone),
        "source_row": pa.array(np.arange(rows.start, rows.start + len(gone))),
        "group": pa.array(release.group_of[rows], mask=gone),
    }
    if release.subject_of is not None:
        columns["subject"] = pa.array(release.subject_of[rows])
    told: dict[str | bytes, str] = {
        SOURCE_VALUES: json.dumps(release.claim.private.source_values),
        GENERATED_VALUES: json.dumps(release.claim.private.generated_values),
    }
    if release.persons is not None:
        columns[PERSON] = pa.array(release.persons.hashes[rows].astype(str))
        told[LINKED] = release.persons.origin()
    return pa.table(columns).replace_schema_metadata(told)


def _write_json(path: Path, record: Mapping[str, Any]) -> None:
    _write_text(path, dump(record) + "\n")


def _write_text(path: Path, text: str) -> None:
    own_file(path).write_text(text, encoding="utf-8")
