"""Find the files of a release: its table, its policy and its private record."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.errors import DataError, UsageError
from sfumato.io.batch_files import read_many
from sfumato.io.csv_grammar import LineBreaks, line_breaks
from sfumato.io.formats import Format, format_of
from sfumato.io.read import read_source
from sfumato.io.spreadsheet import unguarded
from sfumato.pipeline.column_kinds import MULTILINE
from sfumato.pipeline.release_to_database import read_released
from sfumato.pipeline.source_types import with_source_types
from sfumato.policy import Policy
from sfumato.policy.redact import hides_a_file

TABLE_FILE = Path("private") / "table.json"
"""Where a release into a database says which table it is."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ReleaseFiles:
    """A release directory, or a single published file, and the files next to it."""

    data: Path
    """Its table; where the table is in a database, there is no such file."""
    address: str | None = None
    """`URL#table` of a release into a database; its rows have no order."""
    sensitive: Path | None = None
    """The second table of an anatomy."""
    record: Path | None = None
    """`private/rows.parquet`, which says which row is whose."""
    manifest: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, place: Path) -> ReleaseFiles:
        """The files of a directory that Sfumato wrote, or one file of any tool."""
        if place.is_file():
            return cls(data=place)
        found = sorted(place.glob("data.*")) if place.is_dir() else []
        address = None if found else _address(place)
        if address is not None:
            manifest = _manifest(place / "manifest.json")
            return cls(data=place / "data", address=address, manifest=manifest)
        if not found:
            raise DataError(
                f"'{place}' is neither a release directory nor a published file.",
                hint="Name the directory that 'sfumato anonymize --out' wrote.",
            )
        second = sorted(place.glob("sensitive.*"))
        record = place / "private" / "rows.parquet"
        return cls(
            data=found[0],
            sensitive=second[0] if second else None,
            record=record if record.is_file() else None,
            manifest=_manifest(place / "manifest.json"),
        )

    @property
    def private(self) -> Path | None:
        """Return the private part of the release, if it is there."""
        place = self.data.parent / "private"
        return place if self.manifest and place.is_dir() else None

    def policy(self) -> Policy:
        """The policy that the manifest records; files of hierarchies are not in it."""
        recorded = self.manifest.get("policy")
        if not isinstance(recorded, dict) or _hides_files(recorded):
            raise UsageError(
                f"Nothing says how to read '{self.data}': its manifest is not there, or "
                "leaves out files and trees that its policy names.",
                hint="Give the policy: --policy POLICY.",
            )
        return Policy.model_validate(_without_files(recorded))

    def tables(self, policy: Policy) -> tuple[pa.Table, dict[str, pa.Table]]:
        """The published table, and the second one of an anatomy."""
        if self.address is not None:
            return read_released(self.address, self.manifest), {}
        safe = policy.publish.spreadsheet_safe or bool(
            self.manifest.get("spreadsheet_safe")
        )
        breaks = line_breaks(
            multiline=policy.data.multiline or bool(self.manifest.get(MULTILINE))
        )

        def read(path: Path) -> pa.Table:
            table = _read(path, policy, breaks, safe=safe)
            return with_source_types(table, self.manifest)

        beside = {} if self.sensitive is None else {"sensitive": read(self.sensitive)}
        return read(self.data), beside


def _address(place: Path) -> str | None:
    """Where the table of a release is, if it is in a database."""
    found = _manifest(place / TABLE_FILE).get("address")
    return found if isinstance(found, str) else None


def _without_files(recorded: Mapping[str, Any]) -> dict[str, Any]:
    """A recorded policy without the ledger and the key, which tell nothing of cells."""
    told = recorded.get("privacy", {})
    kept = {key: value for key, value in told.items() if value is not True}
    return {**recorded, "privacy": kept} if told else dict(recorded)


def _hides_files(recorded: Mapping[str, Any]) -> bool:
    """Return whether the manifest only says that there was a hierarchy."""
    columns = recorded.get("columns", {}).values()
    return any(hides_a_file(section.get("hierarchy")) for section in columns)


def _manifest(place: Path) -> dict[str, Any]:
    try:
        found = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _read(place: Path, policy: Policy, breaks: LineBreaks, *, safe: bool) -> pa.Table:
    if place.is_dir():
        return read_many(place)
    table = read_source(place, delimiter=policy.data.delimiter, breaks=breaks)
    marked = safe and format_of(place) is Format.CSV
    return unguarded(table) if marked else table
