"""`sfumato list`: the catalogue."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.common_options import AsJson
from sfumato.cli.success_output import print_json, reader_may_leave

if TYPE_CHECKING:
    from sfumato.registry import CatalogueEntry


class CataloguePart(StrEnum):
    """The parts of the catalogue."""

    ALGORITHMS = "algorithms"
    MODELS = "models"
    OPERATORS = "operators"
    METRICS = "metrics"
    ATTACKS = "attacks"


def catalogue(
    kind: Annotated[
        CataloguePart | None,
        typer.Argument(
            metavar="PART", show_default=False, help="One part of the catalogue."
        ),
    ] = None,
    help_me_choose: Annotated[
        bool,
        typer.Option(
            "--help-me-choose",
            help="Say which model, algorithm and operator fit, with measured figures.",
        ),
    ] = False,
    json: AsJson = False,
) -> int:
    """List what can be named in a policy, with one line each.

    PART is algorithms, models, operators, metrics or attacks; left out, all of them.
    """
    from sfumato import registry

    if help_me_choose:
        return _help_to_choose(json=json)
    parts = list(CataloguePart) if kind is None else [kind]
    found = {part.value: list(registry.catalogue(part.value)) for part in parts}
    with reader_may_leave():
        if json:
            print_json({s: [_record(e) for e in all_] for s, all_ in found.items()})
        else:
            _print_shelves(found)
    return 0


def _help_to_choose(*, json: bool) -> int:
    """Print what to take when."""
    from sfumato.cli import choices

    with reader_may_leave():
        if json:
            print_json({"choices": choices.records()})
        else:
            for line in (*choices.lines(), "", *CHOOSING):
                typer.echo(line)
    return 0


CHOOSING = (
    "Figures are medians over four real tables of at most 3,000 rows. Several cases may",
    "apply: take the strictest model. 'sfumato advise POLICY' says what fits your table,",
    "'sfumato compare POLICY' measures candidates on it.",
)


def _record(entry: CatalogueEntry) -> dict[str, str]:
    record = {"name": entry.name, "sentence": entry.sentence}
    return record | ({"blind_spot": entry.blind_spot} if entry.blind_spot else {})


def _print_shelves(found: dict[str, list[CatalogueEntry]]) -> None:
    for number, (part, entries) in enumerate(found.items()):
        if number:
            typer.echo()
        typer.echo(part.capitalize())
        _print_entries(entries)


def _print_entries(entries: list[CatalogueEntry]) -> None:
    if not entries:
        typer.echo("  (none in this version)")
    width = max((len(entry.name) for entry in entries), default=0)
    for entry in entries:
        typer.echo(f"  {entry.name.ljust(width)}  {entry.sentence}")
        if entry.blind_spot:
            typer.echo(f"  {' ' * width}  Not: {entry.blind_spot}")
