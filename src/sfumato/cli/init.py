"""`sfumato init`: propose a policy for a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.output import refuse_existing_file, write_new_text


def init(
    data: Annotated[Path, typer.Argument(metavar="DATA")],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Where the policy goes; '-' is stdout."),
    ] = Path("policy.toml"),
) -> int:
    """Propose a policy for a file, each choice with its reason.

    DATA is the file that is to be published. The policy is a proposal: read it before
    you run it.
    """
    to_stdout = str(output) == "-"
    if not to_stdout:
        refuse_existing_file(output)
    text = _proposal(data, beside=None if to_stdout else output)
    if to_stdout:
        typer.echo(text, nl=False)
        return 0
    write_new_text(output, text)
    typer.echo(f"Proposed a policy for '{data}' in '{output}'.")
    typer.echo(
        "Every role in it is a guess with its reason beside it: read it, then run"
    )
    typer.echo(f"  sfumato anonymize {output}")
    return 0


def _proposal(data: Path, *, beside: Path | None) -> str:
    """The proposed policy; its path to the data is as seen from the policy file."""
    from sfumato.io.read import read_source
    from sfumato.policy.propose import propose

    home = beside.resolve().parent if beside else Path.cwd()
    source = read_source(data)
    path = Path(os.path.relpath(data.resolve(), home)).as_posix()
    return propose(source, path=path).text
