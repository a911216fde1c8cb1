"""`sfumato init`: propose a policy for a file."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.common_options import CsvDelimiter, CsvEncoding, CsvLines
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
    multiline: CsvLines = False,
    missing: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MARK",
            help="Text that marks a missing value; may be repeated; default: guessed.",
        ),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option("--k", help="The smallest size of a group; default: 5."),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Rules to start from: ema-0070, hipaa-safe-harbor, public-use or "
            "research-use.",
        ),
    ] = None,
    interactive: Annotated[
        bool,
        typer.Option(
            "--interactive", help="Ask on the terminal where the data leave it open."
        ),
    ] = False,
) -> int:
    """Propose a policy for a file, each choice with its reason.

    The policy runs as it is; read it before you publish.
    """
    to_stdout = str(output) == "-"
    if not to_stdout:
        refuse_existing_file(output, option="-o")
    if interactive:
        _require_terminal()
    source = _source(data, delimiter, encoding, multiline=multiline)
    asked = {
        "missing": missing,
        "k": k,
        "profile": profile,
        "multiline": multiline,
    }
    beside = None if to_stdout else output
    text = _proposal(source, data, asked, beside=beside, interactive=interactive)
    if to_stdout:
        with reader_may_leave():
            typer.echo(text, nl=False)
        return 0
    write_new_text(output, text, option="-o")
    with done(f"The proposal '{output}'"):
        _suggest(data, output, text)
    return 0


def _suggest(data: Path, output: Path, text: str) -> None:
    from sfumato.data.schema import Role
    from sfumato.policy import Policy

    typer.echo(f"Proposed a policy for '{data}' in '{output}'.")
    if not Policy.parse(text).names(Role.QUASI):
        typer.echo("No column looks like a quasi-identifier. Name one in it, then run")
        typer.echo(f"  sfumato anonymize {output}")
        return
    typer.echo("Every choice in it has its reason beside it: read it, then run")
    typer.echo(f"  sfumato anonymize {output}")


def _require_terminal() -> None:
    from sfumato.errors import UsageError

    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError(
            "--interactive asks questions, and there is no terminal to answer at.",
            hint="Leave it out, and edit the policy instead.",
        )


def _source(
    data: Path, delimiter: str | None, encoding: str | None, *, multiline: bool
) -> pa.Table:
    from sfumato.errors import Caller, hints_for
    from sfumato.io.csv_grammar import UNLIKE_ROWS, line_breaks
    from sfumato.io.read import read_source

    breaks = line_breaks(multiline=multiline, otherwise=UNLIKE_ROWS)
    with hints_for(Caller.OPTION):
        return read_source(data, delimiter=delimiter, encoding=encoding, breaks=breaks)


def _proposal(
    source: pa.Table,
    data: Path,
    asked: dict[str, Any],
    *,
    beside: Path | None,
    interactive: bool,
) -> str:
    """Build the proposed policy; the data path is relative to the policy file."""
    from sfumato.io.decimals import pointed
    from sfumato.policy.propose import propose

    home = beside.resolve().parent if beside else Path.cwd()
    path = Path(os.path.relpath(data.resolve(), home)).as_posix()
    table, decimal = pointed(source)
    settings = {**asked, "path": path, "decimal": decimal}
    if interactive:
        from sfumato.cli.init_questions import answered

        settings |= answered(table, settings, _prompt)
    return propose(table, **settings).text


def _prompt(question: str) -> str:
    """Ask on the terminal; questions go to stderr, so that stdout stays the policy."""
    typer.echo(question, nl=False, err=True)
    return sys.stdin.readline()
