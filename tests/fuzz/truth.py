"""Whether what was published is true of the source, cell by cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from tests.fuzz.meaning import NUMERIC, STAR, Reader, number_of
from tests.fuzz.release import Release

ROUNDING = Fraction(1, 10**12)


def untrue(release: Release) -> Iterator[str]:
    """What is wrong, in words without cells."""
    if release.manifest.get("privacy", {}).get("synthetic"):
        return
    wrong = list(_wrong_rows(release))
    yield from wrong
    if wrong:
        return
    for name in release.case.names("quasi"):
        yield from _wrong_quasi(release, name)
    for name in _kept_columns(release):
        yield from _changed(release, name)
    yield from _wrong_columns(release)


def _wrong_rows(release: Release) -> Iterator[str]:
    if len(release.rows) != len(release.source_row):
        yield "the file has other rows than the private record says"
    if len(set(release.source_row)) != len(release.source_row):
        yield "a source row is published twice"
    if release.manifest["rows_out"] != len(release.rows):
        yield "the manifest counts other rows than the file has"


def _wrong_columns(release: Release) -> Iterator[str]:
    """Columns that must not be there."""
    case, published = release.case, release.rows[0]
    for name, section in case.policy["columns"].items():
        hidden = section.get("role") in ("identifier", "subject")
        if name in published and (
            section.get("drop") or (hidden and not section.get("pseudonymize"))
        ):
            yield f"the withheld column '{name}' is published"


def _kept_columns(release: Release) -> list[str]:
    """Columns that leave as they came."""
    case = release.case
    roles = ["insensitive", "weight"]
    if release.operator not in ("swap", "anatomize"):
        roles.append("sensitive")
    names = [name for role in roles for name in case.names(role)]
    if case.policy.get("unlisted") == "keep":
        names += [n for n in case.columns if n not in case.policy["columns"]]
    whole = (
        release.manifest.get("privacy", {}).get("covers", "").startswith("the whole")
    )
    return [] if whole or "privacy" in release.manifest else names


def _changed(release: Release, name: str) -> Iterator[str]:
    if name not in release.rows[0]:
        yield f"the column '{name}' is lost"
        return
    source, reader = release.source(name), release.reader(name)
    for row, at in zip(release.rows, release.source_row, strict=True):
        cell = row[name]
        if isinstance(cell, str) or cell is None:
            same = reader.key(cell) == reader.key(source[at])
        else:
            same = str(source[at]) in str(cell)
        if not same:
            yield f"a cell of '{name}' left otherwise than it came"
            return


def _wrong_quasi(release: Release, name: str) -> Iterator[str]:
    if any(each not in release.rows[0] for each in release.shown_as(name)):
        yield f"the quasi-identifier '{name}' is lost"
        return
    numbers = release.case.policy.get("publish", {}).get("numbers")
    reader = release.reader(name)
    if release.operator == "microaggregate":
        numbers = numbers or "mean"
        if reader.kind not in NUMERIC:
            numbers = "mode"
    elif numbers != "mean" or reader.kind not in NUMERIC:
        yield from _uncovered(release, name, reader)
        return
    yield from _unrepresentative(release, name, reader, numbers)


def _uncovered(release: Release, name: str, reader: Reader) -> Iterator[str]:
    """Cells that do not contain their source value."""
    source, shown = release.source(name), release.shown_as(name)
    exact = release.operator in ("suppress", "swap", "anatomize")
    for row, at in zip(release.rows, release.source_row, strict=True):
        cells, value = [row[each] for each in shown], source[at]
        if len(cells) == 2:
            true = reader.between(cells[0], cells[1], value)
        elif exact and not (release.operator == "suppress" and cells[0] == STAR):
            true = reader.key(cells[0]) == reader.key(value)
        else:
            true = reader.covers(cells[0], value)
        if not true:
            yield f"a cell of '{name}' does not contain its source value"
            return


def _unrepresentative(
    release: Release, name: str, reader: Reader, numbers: str
) -> Iterator[str]:
    """Cells that are not the mean, median or mode of their group."""
    source = release.source(name)
    members: dict[int, list[int]] = {}
    for row, group in enumerate(release.private_group):
        members.setdefault(group, []).append(row)
    for rows in members.values():
        values = [source[release.source_row[row]] for row in rows]
        known = [str(v) for v in values if not reader.missing(v)]
        for cell in {release.rows[row][name] for row in rows}:
            if not _stands_for(cell, known, reader, numbers):
                yield f"a cell of '{name}' is not the {numbers} of its group"
                return


def _stands_for(
    cell: str | None, known: list[str], reader: Reader, numbers: str
) -> bool:
    if not known:
        return reader.missing(cell)
    if cell is None:
        return False
    if numbers == "mode":
        counts = Counter(reader.key(value) for value in known)
        return counts.get(reader.key(cell), 0) == max(counts.values())
    shown = number_of(cell, reader.kind)
    found = [number_of(value, reader.kind) for value in known]
    if shown is None or None in found:
        return False
    ranked = sorted(n for n in found if n is not None)
    if numbers == "median":
        return shown == ranked[(len(ranked) - 1) // 2]
    mean = sum(ranked, Fraction()) / len(ranked)
    within = ranked[0] <= shown <= ranked[-1]
    step = Fraction(1, 2) if reader.kind in ("date", "datetime") else Fraction(0)
    largest = max(abs(ranked[0]), abs(ranked[-1]))
    return within and abs(shown - mean) <= max(step, largest * ROUNDING)
