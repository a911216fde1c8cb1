"""What commands print and write when all went well."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from sfumato.errors import OutputError

HEAD = ("requirement", "required", "measured", "verdict")


@contextmanager
def reader_may_leave() -> Iterator[None]:
    """Print for a reader who may have seen enough (`| head`): no fault of anybody."""
    try:
        yield
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        # Python writes what is left at its end: it must not go to the closed pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_json(record: Mapping[str, Any]) -> None:
    """Machine output: one JSON object on stdout."""
    from sfumato.data.record import dump

    typer.echo(dump(record))


def print_columns(rows: Sequence[Sequence[str]], *, indent: str = "  ") -> None:
    """Rows of text, their columns one under the other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (text.ljust(width) for text, width in zip(row, widths, strict=True))
        typer.echo((indent + "  ".join(cells)).rstrip())


def requirement_rows(verdicts: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """One row per requirement: required, measured, verdict."""
    from sfumato.report.phrases import measured, settings

    rows: list[tuple[str, ...]] = [HEAD]
    for each in verdicts:
        required = settings(each["parameters"])
        rows.append((each["model"], required, measured(each), _verdict(each)))
    return rows


def _verdict(each: Mapping[str, Any]) -> str:
    if each["holds"]:
        return "✓ holds"
    count = each.get("offending_groups", 0)
    if not count:
        return "✗ does not hold"
    return f"✗ broken by {count:,} {'group' if count == 1 else 'groups'}"


def write_new_text(path: Path, text: str) -> None:
    """Write a file whole, and never over another one."""
    import secrets

    refuse_existing_file(path)
    aside = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        aside.write_text(text, encoding="utf-8")
        aside.replace(path)
    except OSError as fault:
        raise OutputError(
            f"'{path}' cannot be written: {fault.strerror}.",
            hint="Name another place with -o.",
        ) from fault
    finally:
        aside.unlink(missing_ok=True)


def refuse_existing_file(path: Path) -> None:
    """Say before any work that a file would be lost."""
    if path.exists():
        raise OutputError(
            f"'{path}' exists already.",
            hint="Name another file with -o, or move the old one away.",
        )
