"""Decide once, on the source, what kind of values each column holds.

The manifest publishes the names of kinds and distances. The values of the source, in
their order, go only to the private record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.data.coding import infer_kind
from sfumato.data.json_records import parse
from sfumato.data.rules import Distance
from sfumato.data.safe_repr import SafeRepr
from sfumato.data.schema import DateOrder, Kind, Role
from sfumato.data.table import Table
from sfumato.errors import DataError
from sfumato.hierarchies.axis import Axis, CodedAxis
from sfumato.hierarchies.sensitive_axis import ground_distance
from sfumato.policy import Policy

READ = (Role.QUASI, Role.SENSITIVE, Role.WEIGHT)
"""The roles of columns whose kind matters."""
VALUES = "values"
"""Where the private record keeps the values of the source."""
MULTILINE = "multiline"
"""The key of a manifest whose CSV file has cells of several lines."""
PRIVACY = "privacy"
"""The manifest's entry under a process model; kinds are declared, so none are named."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Decided(SafeRepr):
    """What kind of values one column holds, and where that came from."""

    origin: str
    """Where it came from: the "source", a "manifest", the "policy", or the "cells"."""
    kind: Kind | None = None
    """None: inferred from the cells."""
    dates: DateOrder | None = None
    order: tuple[str, ...] | str | None = None
    """The values of an ordered category, from low to high, or the order's name."""
    distance: str | None = None
    """How far apart values are, unless a requirement says otherwise."""
    labels: tuple[str | None, ...] = ()
    """The values of the source, in their order; None is the missing one."""
    axis: Axis | None = None
    """The source's own axis."""

    def _summary(self) -> str:
        return f"{self.kind or 'open'}, by the {self.origin}"

    def names(self) -> dict[str, str]:
        """The part that may be published: names only."""
        said = {"kind": self.kind, "dates": self.dates, "distance": self.distance}
        return {key: str(value) for key, value in said.items() if value is not None}


def decide(
    table: Table, sensitive: Mapping[str, CodedAxis], quasi: Iterable[CodedAxis] = ()
) -> dict[str, Decided]:
    """Decide what kind of values the columns of the source hold.

    For quasi-identifiers the axes decide: shared with a population, a column may be of
    another kind than in the source alone.
    """
    found = {
        name: _of_source(table, name, sensitive.get(name))
        for name in table.schema.names(*READ)
    }
    others = [q for q in quasi if q.name in found and q.axis.kind != found[q.name].kind]
    return found | {q.name: Decided(origin="source", kind=q.axis.kind) for q in others}


def _of_source(table: Table, name: str, coded: CodedAxis | None) -> Decided:
    column = table.columns[name]
    labels: tuple[str | None, ...] = column.labels
    if column.missing >= 0:
        labels = (*column.labels[: column.missing], None)
    known = tuple(label for label in labels if label is not None)
    return Decided(
        origin="source",
        kind=column.kind,
        dates=column.dates,
        order=known if column.kind is Kind.ORDERED else None,
        distance=None if coded is None else distance_name(coded.axis),
        labels=() if coded is None else labels,
        axis=None if coded is None else coded.axis,
    )


def distance_name(axis: Axis) -> str:
    """The name of the distance between values of an axis."""
    return ground_distance(axis, Distance.DEFAULT).name.lower()


def names(decided: Mapping[str, Decided]) -> dict[str, dict[str, str]]:
    """Kinds and distances by column; publishable."""
    return {name: each.names() for name, each in decided.items()}


def values(
    decided: Mapping[str, Decided], columns: Iterable[str]
) -> dict[str, list[str | None]]:
    """The values of the source in their order; private."""
    return {name: list(decided[name].labels) for name in columns if name in decided}


def from_manifest(place: Path) -> dict[str, Decided]:
    """Read the kinds of columns from a manifest or an audit record."""
    record = _record(place)
    manifest = record.get("manifest", record)
    if PRIVACY in manifest:
        return {}
    try:
        told = manifest["kinds"]
        known = record.get(VALUES, {})
        return {n: _summary(each, known.get(n, ())) for n, each in told.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise _no_manifest(place) from None


def marks_formulas(place: Path) -> bool:
    """Return whether a manifest says that CSV cells are marked for spreadsheets."""
    record = _record(place)
    return bool(record.get("manifest", record).get("spreadsheet_safe"))


def has_lines(place: Path) -> bool:
    """Return whether a manifest says that cells of its CSV file have several lines."""
    record = _record(place)
    return bool(record.get("manifest", record).get(MULTILINE))


def published_hashes(place: Path) -> dict[str, str]:
    """The hashes that a manifest has of published tables, by their names: `data`, …"""
    ending = "_sha256"
    return {
        key.removesuffix(ending): value
        for key, value in read_manifest(place).items()
        if key in {f"data{ending}", f"sensitive{ending}"} and isinstance(value, str)
    }


def read_manifest(path: Path) -> dict[str, Any]:
    """Read a manifest, or the one in an audit record."""
    record = _record(path)
    manifest: dict[str, Any] = record.get("manifest", record)
    return manifest


def missing_marks(place: Path) -> tuple[str, ...]:
    """Read the marks of missing values from a manifest, if it names them.

    A release of a table with nulls has a mark that its policy does not name.
    """
    record = _record(place)
    policy = record.get("manifest", record).get("policy", {})
    try:
        return tuple(map(str, policy.get("data", {}).get("missing", ())))
    except (AttributeError, TypeError):
        raise _no_manifest(place) from None


def _record(place: Path) -> dict[str, Any]:
    try:
        record = parse(place.read_text(encoding="utf-8"))
    except OSError as fault:
        raise DataError(
            f"'{place}' cannot be read: {fault.strerror}.",
            hint="Give the manifest.json of the release.",
        ) from None
    except ValueError:
        raise _no_manifest(place) from None
    if not isinstance(record, dict) or not isinstance(record.get("manifest", {}), dict):
        raise _no_manifest(place)
    return record


def _no_manifest(place: Path) -> DataError:
    return DataError(
        f"'{place}' is not a manifest that names the kinds of columns.",
        hint="Give the manifest.json that was written with the release.",
    )


def _summary(each: Mapping[str, str], labels: Iterable[str | None]) -> Decided:
    kind, values = Kind(each["kind"]), tuple(labels)
    known = tuple(label for label in values if label is not None)
    return Decided(
        origin="manifest",
        kind=kind,
        dates=DateOrder(each["dates"]) if "dates" in each else None,
        order=known if kind is Kind.ORDERED and known else None,
        distance=each.get("distance"),
        labels=values,
    )


def declared(policy: Policy, name: str) -> Decided:
    """What the policy declares about a column; the rest is inferred from cells."""
    section = policy.column(name)
    if policy.bands(name) is not None:
        return Decided(origin="policy", kind=Kind.ORDERED)
    if section.kind is not None or section.order is not None:
        return Decided(origin="policy", kind=section.kind, order=section.order)
    if section.domain is None:
        return Decided(origin="cells")
    listed = _listed(section.domain)
    texts = pa.chunked_array([pa.array(listed, pa.string())])
    return Decided(origin="policy", kind=infer_kind(texts)[0])


def _listed(domain: Mapping[str, Any] | tuple[Any, ...]) -> tuple[str, ...]:
    """The values that a domain lists, or its two ends."""
    if isinstance(domain, Mapping):
        return tuple(str(domain[end]) for end in ("low", "high") if end in domain)
    return tuple(map(str, domain))
