"""`sfumato attack`: attack a release, and look a person up in it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.anonymize import source_of
from sfumato.cli.common_options import AsJson, RepeatableSeed
from sfumato.cli.requirements import split_names
from sfumato.cli.success_output import (
    print_columns,
    print_json,
    reader_may_leave,
    warn,
)
from sfumato.errors import RefusedError, UsageError
from sfumato.pipeline.private_notes import PRIVATE

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.io.databases import DatabaseSource
    from sfumato.pipeline.attack_run import Attacked
    from sfumato.pipeline.lookup import LookedUp
    from sfumato.policy import Policy
    from sfumato.risk.attacks.base import AttackResult
    from sfumato.risk.attacks.judgment import Size

EXCEEDED = 1
LOOK_UP = "lookup"
SHOWN = 10
"""How many groups, and values of a column, a lookup prints."""


def attack(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="An attack, all, or lookup.")
    ],
    release: Annotated[
        Path,
        typer.Argument(metavar="RELEASE_DIR", help="A release, or a published file."),
    ],
    original: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The source of the release; left out: the policy's."
        ),
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option(help="Roles, hierarchies and requirements of the release."),
    ] = None,
    known: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="The columns that the attacker knows."),
    ] = None,
    control: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A table of people who are not in the source."
        ),
    ] = None,
    other: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="RELEASE_DIR",
            help="Another release of the same people; may be repeated.",
        ),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Attack at most N people (10000)."),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="For lookup: one person's values; - is stdin."
        ),
    ] = None,
    groups: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="For lookup: private/rows.parquet, the groups of a swapped release.",
        ),
    ] = None,
    insecure_seed: RepeatableSeed = None,
    json: AsJson = False,
) -> int:
    """Attack a release as others might, or look one person up in it.

    NAME is an attack ('sfumato list attacks'), all, or lookup. RELEASE_DIR is a release,
    or a published file of any tool. Ends with 1 if a promised bound is exceeded. What
    is printed is private: it is computed from the source.
    """
    if name == LOOK_UP:
        return _look_up(release, policy, record, groups, json=json)
    source = _named_by(policy) if original is None else original
    if source is None:
        raise UsageError(
            "Nothing says what was published.",
            hint="Give the source: --original FILE, or a --policy that names it.",
        )
    if record is not None or groups is not None:
        option = "--groups" if record is None else "--record"
        raise UsageError(
            f"{option} is for lookup.",
            hint="sfumato attack lookup RELEASE_DIR --record -",
        )
    found = _attacked(
        release,
        source,
        name,
        policy,
        {
            "known": split_names(known),
            "control": control,
            "others": other or (),
            "sample": sample,
            "insecure_seed": insecure_seed,
        },
    )
    from sfumato.pipeline.kept_attacks import keep_attacks

    kept = keep_attacks(found, release)
    with reader_may_leave():
        if json:
            print_json(found.record() | {"kept": None if kept is None else str(kept)})
        else:
            _print(found, kept)
    return 0 if found.holds else EXCEEDED


def _named_by(policy: Path | None) -> str | Path | DatabaseSource | None:
    """The source that a policy names, if there is one and it names any."""
    from sfumato.policy import Policy

    if policy is None:
        return None
    asked = Policy.load(policy)
    if asked.data.path is None and asked.data.url is None:
        return None
    return source_of(asked, policy, None)


def _attacked(
    release: Path,
    original: str | Path | DatabaseSource,
    name: str,
    policy: Path | None,
    settings: dict[str, Any],
) -> Attacked:
    from sfumato import api
    from sfumato.cli.progress import watched
    from sfumato.policy import Policy

    asked = None if policy is None else Policy.load(policy)
    with watched() as progress:
        found = api.attack(
            release, original, name, asked, progress=progress, **settings
        )
    if not found.results:
        reason = next(iter(found.skipped.values()), "no attack applies")
        raise RefusedError(
            f"The attack '{name}' cannot be run on this release: {reason}.",
            hint="'sfumato attack all' runs those that can.",
        )
    return found


def _print(found: Attacked, kept: Path | None) -> None:
    from sfumato.report.attack_verdict import MARKS, not_tried_sentence
    from sfumato.risk.attacks.judgment import Light

    for note in found.notes():
        typer.echo(note)
    typer.echo()
    head = ("attack", "column", "people", "success", "95%", "baseline", "control")
    rows = [(*head, "gain", "worst", "bound"), *(_row(e) for e in found.results)]
    print_columns(rows)
    for each in found.results:
        if each.note:
            typer.echo(f"  {each.name}: {each.note}")
    if found.skipped:
        typer.echo("\nNot run:")
        print_columns(list(found.skipped.items()))
    if untried := not_tried_sentence(found.record()["attacks"], found.skipped):
        typer.echo(f"\n{untried}")
    if kept is not None:
        typer.echo(f"\nThe people most at risk are in {kept}.")
    typer.echo(f"\n{MARKS[Light(found.light)]} {found.summary}")


def _row(each: AttackResult) -> tuple[str, ...]:
    name = each.name
    if each.options.get("model"):
        name += f" ({each.options['model']})"
    return (
        name,
        each.column or "",
        str(each.n),
        _figure(each.success),
        f"{_figure(each.low)} to {_figure(each.high)}",
        _figure(each.baseline),
        _figure(each.control),
        _sized(each.gain, each.gain_size),
        _sized(each.worst, each.worst_size),
        _bound(each),
    )


def _sized(value: float | None, size: Size | None) -> str:
    from sfumato.report.risk_rows import sized

    return sized(_figure(value), size)


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _bound(each: AttackResult) -> str:
    if each.bound is None:
        return "none"
    mark = "✗ above" if each.exceeded else "✓ within"
    return f"{mark} {each.bound:.4g}{' on average' if each.on_average else ''}"


def _look_up(
    release: Path,
    policy: Path | None,
    record: Path | None,
    groups: Path | None,
    *,
    json: bool,
) -> int:
    from sfumato.pipeline.lookup import look_up
    from sfumato.pipeline.private_record import read_private
    from sfumato.pipeline.release_files import ReleaseFiles
    from sfumato.policy import Policy

    if record is None:
        raise UsageError(
            "Nothing says whom to look up.",
            hint="Give a CSV of one line with --record FILE, or --record - for stdin.",
        )
    files = ReleaseFiles.of(release)
    asked = files.policy() if policy is None else Policy.load(policy)
    table, beside = files.tables(asked)
    person = _person(record, asked)
    known = None
    if groups is not None:
        known = read_private(groups, table, swapped=True).groups
    found = look_up(
        person, table, beside, policy=asked, base=asked.base, swap_groups=known
    )
    with reader_may_leave():
        if json:
            print_json({"private": PRIVATE} | found.record())
        else:
            _print_found(found)
    return 0


def _person(record: Path, policy: Policy) -> pa.Table:
    """Read a person's values, but not from the command line: shells keep it."""
    import tempfile

    from sfumato.io.read import read_source

    if str(record) != "-":
        return read_source(record, delimiter=policy.data.delimiter)
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "record.csv"
        file.touch(mode=0o600)
        file.write_text(sys.stdin.read(), encoding="utf-8")
        return read_source(file, delimiter=policy.data.delimiter)


def _print_found(found: LookedUp) -> None:
    from sfumato.report.number_text import counted, percent

    typer.echo(PRIVATE)
    typer.echo()
    if not found.rows:
        typer.echo("No published row may be the person's.")
        return
    typer.echo(f"{counted(found.rows, 'published row')} may be the person's:")
    for group in found.groups[:SHOWN]:
        cells = ", ".join(f"{name} {cell}" for name, cell in group["cells"].items())
        typer.echo(f"  {counted(group['rows'], 'row')}: {cells}")
    if len(found.groups) > SHOWN:
        typer.echo(f"  … and {len(found.groups) - SHOWN:,} other groups (all: --json)")
    if found.note:
        typer.echo(f"\n{found.note}")
    for name, values in found.values.items():
        typer.echo(f"\n{name}:")
        head = ("value", "of the candidates", "of the table")
        shown = values[:SHOWN]
        rows = [(v, percent(share), percent(whole)) for v, share, whole in shown]
        print_columns([head, *rows])
        if len(values) > SHOWN:
            typer.echo(f"  … and {len(values) - SHOWN:,} other values (all: --json)")
    if any(len(values) == 1 for values in found.values.values()):
        warn("all candidates share one value: it is given away.")
    if not found.values and found.note:
        typer.echo(
            "--groups RELEASE_DIR/private/rows.parquet shows what its group has."
        )
