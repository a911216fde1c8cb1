"""`sfumato report`: make both editions of a report again, and sign them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.success_output import done, print_columns, print_json


def report(
    release: Annotated[
        Path, typer.Argument(metavar="RELEASE_DIR", help="A release directory.")
    ],
    approver: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Who approves the release, by name."),
    ] = None,
    note: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="A remark of the approver."),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="One JSON object on stdout.")
    ] = False,
) -> int:
    """Make the report of a release again, and sign it.

    Both editions are made again, without the source, with the attacks and assessments
    that ran since. With --approver, both show name, date, note and the hash of the data.
    """
    from sfumato.pipeline.reports import report_again

    written = report_again(release, approver=approver, note=note)
    with done(f"The report of '{release}'"):
        if json:
            print_json(written)
        else:
            signature = written["signature"]
            said = "not signed" if signature is None else _signed(signature)
            typer.echo(f"Report made again, {said}:")
            print_columns(
                [
                    (written["public"], "safe to publish"),
                    (written["private"], "private; do not share it"),
                ]
            )
    return 0


def _signed(signature: dict[str, str]) -> str:
    return f"approved by {signature['approver']} on {signature['date']}"
