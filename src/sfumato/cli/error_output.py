"""How a command that fails says so: a message, a hint and an exit code.

No cell of the data is printed unless the steward asks with `--show-values`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import typer

from sfumato.cli.signals import INTERRUPTED, STOPPED
from sfumato.errors import SfumatoError

OUR_FAULT = 70
USAGE = 2
MOST_VALUES = 50
"""How many offending values are printed; the rest are only counted."""
DEBUG = "SFUMATO_DEBUG"
Misuse: type[Exception] = typer.BadParameter.__mro__[2]
"""Every command line that cannot be understood.

Typer depends on Click, or from 0.26 on includes a copy of it. In both cases it exports
one of the errors; this is their common base class."""


@dataclass(frozen=True)
class ErrorFormat:
    """How errors are to be reported."""

    as_json: bool
    show_values: bool

    @classmethod
    def of(cls, words: Sequence[str]) -> ErrorFormat:
        """Read the format from the raw words, which may not be a valid command."""
        return cls(as_json="--json" in words, show_values="--show-values" in words)


def explain(fault: SfumatoError, error_format: ErrorFormat) -> int:
    """Report an error that we raised on purpose."""
    values = fault.values if error_format.show_values else ()
    kind = type(fault).__name__
    return _tell(kind, fault.message, fault.hint, fault.exit_code, error_format, values)


def misused(fault: Any, error_format: ErrorFormat) -> int:
    """Report a command line that cannot be understood."""
    context = getattr(fault, "ctx", None)
    path = context.command_path if context else "sfumato"
    hint = f"'{path} --help' shows what there is."
    return _tell("UsageError", _once(fault.format_message()), hint, USAGE, error_format)


def _once(message: str) -> str:
    """Remove a repeated last sentence: some versions of Typer repeat it."""
    sentences = message.split(" Did you mean ")
    return " Did you mean ".join(dict.fromkeys(sentences))


def interrupted(error_format: ErrorFormat) -> int:
    """Report that Ctrl-C was received."""
    return _tell("Interrupted", STOPPED, None, INTERRUPTED, error_format)


def unexpected(fault: Exception, error_format: ErrorFormat) -> int:
    """Report an internal error without its text, which may quote a cell."""
    if os.environ.get(DEBUG):
        sys.excepthook(type(fault), fault, fault.__traceback__)
    return _tell(
        type(fault).__name__,
        f"Sfumato failed in a way it should not ({type(fault).__name__}). "
        "The fault is ours, not yours. Nothing is left half-written.",
        f"{DEBUG}=1 shows where it happened; that text may contain cells of your data.",
        OUR_FAULT,
        error_format,
    )


def _tell(
    kind: str,
    message: str,
    hint: str | None,
    exit_code: int,
    error_format: ErrorFormat,
    values: Sequence[str] = (),
) -> int:
    # Even if nothing can be printed, the exit code says it.
    with suppress(OSError, ValueError):
        in_words = not error_format.as_json
        if error_format.as_json:
            printed = _tell_machines(kind, message, hint, exit_code, values)
            in_words = printed and redirected()
        if in_words:
            _tell_people(message, hint, values)
    return exit_code


def redirected() -> bool:
    """Return whether stdout goes to a file or a program, so that stderr is the log."""
    return sys.stdout is None or not sys.stdout.isatty()


def _tell_machines(
    kind: str,
    message: str,
    hint: str | None,
    exit_code: int,
    values: Sequence[str],
) -> bool:
    """Print an error as JSON; return whether stdout took it."""
    import json

    error: dict[str, Any] = {
        "kind": kind,
        "message": message,
        "hint": hint,
        "exit_code": exit_code,
    }
    if values:
        error["values"] = list(values)
    return _print_json(json.dumps({"error": error}, indent=2, ensure_ascii=False))


def _print_json(text: str) -> bool:
    """Print JSON to stdout, or to stderr if stdout is closed or full."""
    try:
        typer.echo(text)
    except OSError:
        typer.echo(text, err=True)
        return False
    return True


def _tell_people(message: str, hint: str | None, values: Sequence[str]) -> None:
    typer.echo(f"Error: {_harmless(message)}", err=True)
    if hint:
        typer.echo(f"Hint: {_harmless(hint)}", err=True)
    if values:
        typer.echo(f"Values: {_shown(values)}", err=True)


def _shown(values: Sequence[str]) -> str:
    shown = ", ".join(repr(value) for value in values[:MOST_VALUES])
    rest = len(values) - MOST_VALUES
    return f"{shown} and {rest} more" if rest > 0 else shown


def _harmless(text: str) -> str:
    """Remove control characters: a column's name must not control a terminal."""
    return "".join(
        c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text
    )
