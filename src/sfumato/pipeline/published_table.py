"""A published table and what is declared about it, to be read without its source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.data.arrays import Counts
from sfumato.data.coding import infer_kind
from sfumato.data.published_cells import CellTexts as Texts
from sfumato.data.published_cells import as_intervals, coded_cells
from sfumato.data.schema import DateOrder, Kind, Role
from sfumato.errors import DataError, RefusedError, UsageError
from sfumato.hierarchies.axis import STAR
from sfumato.hierarchies.build import Spec, written_labels
from sfumato.hierarchies.hierarchy_files import LabelTable
from sfumato.hierarchies.labels import parse_set
from sfumato.hierarchies.possible_values import CellTexts
from sfumato.pipeline.column_kinds import MULTILINE, PRIVACY, read_manifest
from sfumato.pipeline.foreign_tables import whole_numbers
from sfumato.pipeline.given_tables import (
    Source,
    as_meant,
    is_path,
    read_published,
    second_table,
)
from sfumato.pipeline.missing_cells import with_empty_mark, with_marks
from sfumato.pipeline.release import Release
from sfumato.pipeline.release_files import ReleaseFiles
from sfumato.policy import Policy
from sfumato.publish.anatomize import COUNT
from sfumato.publish.base import Form, Operator
from sfumato.publish.generalize import BOUNDS

READ = ("version", "unlisted", "data", "columns", "publish")
"""The parts of a recorded policy that say how cells are read."""
BANDED = ("bands", "bottom", "top")
"""Keys that make a column coarser that is no quasi-identifier."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PublishedTable:
    """The tables of a release, its policy, and its manifest where there is one."""

    policy: Policy
    table: pa.Table
    times: Counts | None = None
    """How many published rows each row of the table stands for; None: one."""
    beside: Mapping[str, pa.Table] = field(default_factory=dict)
    manifest: Mapping[str, Any] = field(default_factory=dict)
    base: Path | None = None

    @property
    def rows(self) -> int:
        """How many rows are published."""
        return self.table.num_rows if self.times is None else int(self.times.sum())

    @property
    def noisy(self) -> bool:
        """Whether the release was made under differential privacy."""
        return PRIVACY in self.manifest or bool(self.policy.process_models())

    @cached_property
    def operator(self) -> Operator:
        """The operator that published the table, with its options."""
        return self.policy.operator_instance()

    def column(self, name: str) -> PublishedColumn:
        """Read a column; two columns of bounds are read as one."""
        ends = [name + end for end in BOUNDS]
        table, times = self.table, self.times
        second = self.beside.get("sensitive")
        if second is not None and name in second.column_names:
            table, times = second, whole_numbers(second, COUNT)
        names = [name] if name in table.column_names else ends
        if not set(names) <= set(table.column_names):
            raise DataError(
                f"The published table has no column '{name}'.",
                hint=f"Its columns: {', '.join(table.column_names)}.",
            )
        marks = self.policy.data.missing
        # A bound that is not there is an empty cell of a CSV file.
        parts = coded_cells(table, names, marks if len(names) == 1 else (*marks, ""))
        cells = as_intervals(*parts) if len(parts) == 2 else parts[0]
        counts = np.bincount(cells.codes, times, len(cells.texts))
        texts = [STAR if t is None and len(parts) == 2 else t for t in cells.texts]
        return PublishedColumn(
            name=name,
            published=self,
            texts=tuple(texts),
            counts=counts.astype(np.int64),
            cells=table.column(names[0]),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class PublishedColumn:
    """The distinct texts of a published column, and what they are."""

    name: str
    published: PublishedTable
    texts: Texts
    counts: Counts
    """How many rows show each text."""
    cells: pa.ChunkedArray
    """The cells as they are published; of two columns of bounds, the first."""

    @property
    def rows(self) -> int:
        """How many rows the column has."""
        return int(self.counts.sum())

    @cached_property
    def counted(self) -> tuple[tuple[str | None, int], ...]:
        """The texts that rows show, with their number; None where there is no value."""
        pairs = zip(self.texts, self.counts.tolist(), strict=True)
        return tuple((self._without_gaps(text), rows) for text, rows in pairs if rows)

    def _without_gaps(self, text: str | None) -> str | None:
        empty = text is not None and text.lower() in ("", "nan")
        return None if empty and self.kind.numeric else text

    @property
    def role(self) -> Role | None:
        return self.published.policy.role(self.name)

    @property
    def grouped(self) -> bool:
        """Whether cells show what a group has in common."""
        cells = self.published.operator.form is Form.CELLS
        return cells and self.role is Role.QUASI

    @cached_property
    def reader(self) -> CellTexts:
        """How the texts are read."""
        policy = self.published.policy
        return CellTexts(
            kind=self.kind,
            exact=self._plain,
            hierarchy=self._hierarchy,
            written=self._written,
            marks=frozenset(policy.data.missing),
            dates=DateOrder(self._recorded_kind["dates"])
            if "dates" in self._recorded_kind
            else None,
            complete=policy.data.missing_as == "drop"
            and self.role in (Role.QUASI, Role.SENSITIVE),
        )

    @cached_property
    def kind(self) -> Kind:
        """What its values are: by the manifest, the policy, or the cells."""
        section = self.published.policy.column(self.name)
        # Requirements judge bands as ordered words; their cells are intervals of numbers.
        if "kind" in self._recorded_kind and not self._banded:
            return Kind(self._recorded_kind["kind"])
        if section.kind is not None or section.order is not None:
            return section.kind or Kind.ORDERED
        if isinstance(self._hierarchy, Mapping) and "calendar" in self._hierarchy:
            return Kind.DATE
        return self._inferred()

    @property
    def _recorded_kind(self) -> Mapping[str, str]:
        """What the manifest says about the kind of the values."""
        recorded: Mapping[str, Mapping[str, str]] = self.published.manifest.get(
            "kinds", {}
        )
        return recorded.get(self.name, {})

    @property
    def _plain(self) -> bool:
        """Whether the cells are those of the source."""
        return not self.grouped and not self._banded

    @property
    def _banded(self) -> bool:
        section = self.published.policy.column(self.name)
        return any(getattr(section, key, None) is not None for key in BANDED)

    @property
    def _hierarchy(self) -> Spec:
        """The hierarchy that shapes the cells; refuse one that is not at hand."""
        if not self.grouped:
            return None
        spec = self.published.policy.column(self.name).hierarchy
        tables = spec if isinstance(spec, Mapping) else {}
        if spec == "file" or True in (tables.get("file"), tables.get("tree")):
            raise RefusedError(
                f"The labels of '{self.name}' are those of a hierarchy that the "
                "manifest does not publish.",
                hint="Give the policy of the release, with its hierarchy files.",
            )
        return spec

    @cached_property
    def _written(self) -> LabelTable | None:
        base = self.published.base
        return written_labels(self.name, self._hierarchy, kind=self.kind, base=base)

    def _inferred(self) -> Kind:
        """The kind of the values that the cells are made of."""
        if self._plain:
            missing = self.published.policy.data.missing
            return infer_kind(self.cells, missing=missing)[0]
        base = self.published.base
        written = written_labels(
            self.name, self._hierarchy, kind=Kind.CATEGORY, base=base
        )
        pieces = [piece for text in self.texts for piece in _pieces(text)]
        values = pa.array(pieces if written is None else written.leaves, pa.string())
        return infer_kind(pa.chunked_array([values]))[0]


def published_table(
    published: Release | Source,
    policy: Policy | None,
    *,
    manifest: Path | None,
    base: Path | None,
) -> PublishedTable:
    """Read what was published, with the policy given or the one that is recorded."""
    if isinstance(published, Release):
        reading_policy = policy or published.claim.policy
        table, beside = published.whole_table(), published.beside
        record = published.manifest
    elif is_path(published) and manifest is None and Path(published).is_dir():
        files = ReleaseFiles.of(Path(published))
        record = files.manifest
        reading_policy = policy or recorded_policy(record)
        if files.address is None:
            table, beside = _tables(files.data, reading_policy, record)
        else:
            table, beside = files.tables(reading_policy)
    else:
        record = {} if manifest is None else read_manifest(manifest)
        reading_policy = policy or recorded_policy(record)
        table, beside = _tables(published, reading_policy, record)
    marks = record.get("policy", {}).get("data", {}).get("missing", ())
    return PublishedTable(
        policy=with_empty_mark(
            with_marks(reading_policy, tuple(map(str, marks))), table
        ),
        table=table,
        beside=beside,
        manifest=record,
        base=base or reading_policy.base,
    )


def recorded_policy(manifest: Mapping[str, Any]) -> Policy:
    """What the policy in a manifest says about cells."""
    recorded = manifest.get("policy")
    if not isinstance(recorded, dict):
        raise UsageError(
            "Nothing says how the cells of the published table are to be read.",
            hint="Give the policy of the release, or manifest='manifest.json'.",
        )
    return Policy.model_validate(
        {key: recorded[key] for key in READ if key in recorded}
    )


def _tables(
    published: Source, policy: Policy, manifest: Mapping[str, Any]
) -> tuple[pa.Table, dict[str, pa.Table]]:
    safe = policy.publish.spreadsheet_safe or bool(manifest.get("spreadsheet_safe"))
    several = policy.data.multiline or bool(manifest.get(MULTILINE))
    table = read_published(published, policy, {}, multiline=several)
    form = policy.operator_instance().form
    beside = second_table(published, form, safe=safe, multiline=several)
    return as_meant(published, table, safe=safe), beside


def _pieces(text: str | None) -> Sequence[str]:
    """The values that a cell is made of."""
    if text in (None, STAR):
        return ()
    members = parse_set(text)
    if members is not None:
        return members
    if text.startswith("["):
        return text[1:-1].split(", ")
    sign, _, end = text.partition(" ")
    return (end,) if sign in ("<", "<=", ">=", ">") else (text,)
