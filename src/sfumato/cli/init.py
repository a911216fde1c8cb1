"""`sfumato init`: propose a policy for a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.common_options import CsvDelimiter, CsvEncoding
from sfumato.cli.success_output import (
    done,
    reader_may_leave,
    refuse_existing_file,
    write_new_text,
)

if TYPE_CHECKING:
    import pyarrow as pa


def init(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="The file to publish.")],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="Where to write the policy; '-' is stdout."
        ),
    ] = Path("policy.toml"),
    delimiter: CsvDelimiter = None,
    encoding: CsvEncoding = None,
    missing: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MARK",
            help="Text that marks a missing value; may be repeated. Default: guessed.",
        ),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option("--k", help="How many people are to look alike. Default: 5."),
    ] = None,
) -> int:
    """Propose a policy for a file, each choice with its reason.

    The policy runs as it is; read it before you publish.
    """
    to_stdout = str(output) == "-"
    if not to_stdout:
        refuse_existing_file(output, option="-o")
    source = _source(data, delimiter, encoding)
    text = _proposal(source, data, missing, k, beside=None if to_stdout else output)
    if to_stdout:
        with reader_may_leave():
            typer.echo(text, nl=False)
        return 0
    write_new_text(output, text, option="-o")
    with done(f"The proposal '{output}'"):
        _suggest(data, output)
    return 0


def _suggest(data: Path, output: Path) -> None:
    typer.echo(f"Proposed a policy for '{data}' in '{output}'.")
    typer.echo("Every choice in it has its reason beside it: read it, then run")
    typer.echo(f"  sfumato anonymize {output}")


def _source(data: Path, delimiter: str | None, encoding: str | None) -> pa.Table:
    from sfumato.io.read import read_source

    return read_source(data, delimiter=delimiter, encoding=encoding)


def _proposal(
    source: pa.Table,
    data: Path,
    missing: list[str] | None,
    k: int | None,
    *,
    beside: Path | None,
) -> str:
    """Build the proposed policy; the data path is relative to the policy file."""
    from sfumato.io.decimals import pointed
    from sfumato.policy.propose import propose

    home = beside.resolve().parent if beside else Path.cwd()
    path = Path(os.path.relpath(data.resolve(), home)).as_posix()
    table, decimal = pointed(source)
    return propose(table, path=path, missing=missing, decimal=decimal, k=k).text
