"""What commands print and write when all went well."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import typer

from sfumato.errors import OutputError

HEAD = ("requirement", "required", "measured", "verdict")


@contextmanager
def reader_may_leave() -> Iterator[None]:
    """Print for a reader who may close the pipe early (`| head`), without an error."""
    try:
        yield
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes stdout at exit: it must not write to the closed pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def done(what: str) -> Iterator[None]:
    """Report finished work: a stream that fails does not undo it."""
    try:
        yield
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError):
        # Buffered output must not fail once more at exit.
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
        warn(f"{what} is complete, but stdout takes no more.")


def warn(text: str) -> None:
    """Print a warning to stderr, if possible."""
    with suppress(OSError, ValueError):
        typer.echo(f"Warning: {text}", err=True)


def print_json(record: Mapping[str, Any]) -> None:
    """Print one JSON object to stdout."""
    from sfumato.data.json_records import dump

    typer.echo(dump(record))


def print_columns(rows: Sequence[Sequence[str]], *, indent: str = "  ") -> None:
    """Print rows of text in aligned columns."""
    for line in column_lines(rows, indent=indent):
        typer.echo(line)


def column_lines(rows: Sequence[Sequence[str]], *, indent: str = "  ") -> Iterator[str]:
    """Format rows of text as lines with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (text.ljust(width) for text, width in zip(row, widths, strict=True))
        yield (indent + "  ".join(cells)).rstrip()


def requirement_rows(verdicts: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """Return one row per requirement: required, measured, verdict."""
    from sfumato.report.number_text import measured, settings

    rows: list[tuple[str, ...]] = [HEAD]
    for each in verdicts:
        required = settings(each["parameters"])
        rows.append((each["model"], required, measured(each), _verdict(each)))
    return rows


def print_unjudged(judged: Sequence[str] | None) -> None:
    """Print that no requirement is about a sensitive column; None: not applicable."""
    if judged is not None and not judged:
        from sfumato.models.common.judged_columns import NOTHING_JUDGED

        typer.echo(NOTHING_JUDGED)


def measure_rows(measures: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return one row per measure that is a number: its title and its value."""
    from sfumato.report.definitions import measure
    from sfumato.report.number_text import amount, percent

    named = [
        (measure(key), value)
        for key, value in measures.items()
        if not isinstance(value, Mapping)
    ]
    return [
        (words.title, percent(value) if words.share else amount(value))
        for words, value in named
    ]


def print_exact_columns(risk: Mapping[str, Any]) -> None:
    """Print how many rows the columns that are published exactly make unique."""
    from sfumato.report.exact_column_words import unique_sentence

    sentence = unique_sentence(risk)
    if sentence is not None:
        typer.echo(sentence)


def print_giveaways(columns: Mapping[str, Mapping[str, Any]]) -> None:
    """Print what columns that are not quasi-identifiers give away."""
    if not columns:
        return
    typer.echo(
        "\nRows with a unique value in columns other than the quasi-identifiers:"
    )
    rows = [("column", "role", "alone", "with the quasi-identifiers")]
    print_columns([*rows, *giveaway_rows(columns)])


def giveaway_rows(
    columns: Mapping[str, Mapping[str, Any]],
) -> list[tuple[str, str, str, str]]:
    """Return one row per column: its role, and both shares."""
    from sfumato.report.number_text import percent

    return [
        (
            name,
            each["role"],
            percent(each["unique"]),
            percent(each["unique_with_quasi"]),
        )
        for name, each in columns.items()
    ]


def warn_giveaways(risk: Mapping[str, Any]) -> None:
    """Warn about unchanged columns that give away many rows."""
    from sfumato.pipeline.unique_values import warnings

    for text in warnings(risk):
        warn(text)


def offenders(each: Mapping[str, Any]) -> str:
    """Describe what breaks a requirement: `2 groups (3 rows, 2 persons)`."""
    from sfumato.report.number_text import counted

    units = {"offending_rows": "row", "offending_persons": "person"}
    inside = [counted(each[key], unit) for key, unit in units.items() if key in each]
    groups = counted(each["offending_groups"], "group")
    return f"{groups} ({', '.join(inside)})" if inside else groups


def _verdict(each: Mapping[str, Any]) -> str:
    if each["holds"]:
        return "✓ holds"
    count = each.get("offending_groups", 0)
    if not count:
        return "✗ does not hold"
    return f"✗ broken by {offenders(each)}"


def write_new_text(
    path: Path, text: str, *, option: str, private: bool = False
) -> None:
    """Write a whole new file, never over an existing one; `option` named it.

    Only its owner can read a private file.
    """
    import secrets

    from sfumato.data.unfinished_files import UNFINISHED
    from sfumato.io.atomic_files import own_file

    refuse_existing_file(path, option=option)
    aside = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        with UNFINISHED.holding(aside):
            if private:
                own_file(aside)
            aside.write_text(text, encoding="utf-8")
            aside.replace(path)
    except OSError as fault:
        raise OutputError(
            f"'{path}' cannot be written: {fault.strerror}.",
            hint=f"Name another place with {option}.",
        ) from None
    finally:
        aside.unlink(missing_ok=True)


def refuse_existing_file(path: Path, *, option: str) -> None:
    """Refuse, before any work, a path where no new file can be written."""
    if path.is_symlink() and not path.exists():
        raise OutputError(
            f"'{path}' is a link to a place that does not exist.",
            hint=f"Remove the link, or name another file with {option}.",
        )
    if path.exists():
        raise OutputError(
            f"'{path}' exists already.",
            hint=f"Name another file with {option}, or move the old one away.",
        )
    if not path.absolute().parent.is_dir():
        raise OutputError(
            f"'{path.parent}' is not a directory.",
            hint=f"Create it, or name another file with {option}.",
        )
