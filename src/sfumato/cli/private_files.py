"""Print or keep what is computed from an original: private, and it says so."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from sfumato.cli.success_output import reader_may_leave, write_new_text


def print_or_keep(
    record: Mapping[str, Any] | None,
    text: str,
    out: Path | None,
    *,
    private: bool = True,
) -> None:
    """Print a private result, or write it to a file that only its owner can read.

    Writes the record as JSON if there is one, and the text otherwise. Where no cell was
    read, the file is an ordinary one.
    """
    shown = text if record is None else private_json(record)
    if out is None:
        with reader_may_leave():
            typer.echo(shown)
        return
    write_new_text(out, shown + "\n", option="--out", private=private)
    with reader_may_leave():
        typer.echo(f"Private, in {out}." if private else f"Written to {out}.")


def private_json(record: Mapping[str, Any]) -> str:
    """Format a record as JSON; its first line says that it is private."""
    from sfumato.data.json_records import dump

    return dump(record).replace("{\n  ", "{ ", 1)
