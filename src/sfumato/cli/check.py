"""`sfumato check`: re-prove a published file, ours or not."""

from __future__ import annotations

from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.common_options import (
    AsJson,
    CsvDelimiter,
    CsvEncoding,
    CsvLines,
    EngineName,
    MemoryLimit,
    ShowValues,
)
from sfumato.cli.engine_options import say_engine
from sfumato.cli.error_output import redirected
from sfumato.cli.requirements import output_model, parse_requirement, split_names
from sfumato.cli.success_output import (
    measure_rows,
    print_columns,
    print_exact_columns,
    print_giveaways,
    print_json,
    print_unjudged,
    reader_may_leave,
    requirement_rows,
    warn,
    warn_giveaways,
)
from sfumato.errors import Caller, UsageError, hints_for

if TYPE_CHECKING:
    from sfumato.models.base import OutputModel
    from sfumato.pipeline.check_result import CheckResult

NOT_MET = 1


class MissingAs(StrEnum):
    """What a missing value stands for."""

    VALUE = "value"
    ANY = "any"


def check(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE|URL#TABLE|-",
            help="The published table: a file, a table of a database, or standard input.",
        ),
    ],
    policy: Annotated[
        Path | None,
        typer.Option(
            help="Take roles, missing marks and requirements from here, not from "
            "--manifest."
        ),
    ] = None,
    quasi: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="Quasi-identifiers, if there is no policy."),
    ] = None,
    sensitive: Annotated[
        str | None, typer.Option(metavar="C", help="Sensitive columns.")
    ] = None,
    subject: Annotated[
        str | None,
        typer.Option(
            metavar="D",
            help="Column that says who a row is about: k and l count persons.",
        ),
    ] = None,
    k: Annotated[int | None, typer.Option(help="Require k-anonymity.")] = None,
    l: Annotated[
        float | None, typer.Option(help="Require distinct l-diversity.")
    ] = None,
    t: Annotated[float | None, typer.Option(help="Require t-closeness.")] = None,
    require: Annotated[
        list[str] | None,
        typer.Option(
            metavar="model=NAME,KEY=VALUE…",
            help="Require any model of the catalogue; may be repeated.",
        ),
    ] = None,
    original: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|URL#TABLE",
            help="The original: also measure what was lost. The output is then private.",
        ),
    ] = None,
    groups: Annotated[
        Path | None,
        typer.Option(
            help="private/rows.parquet of a release whose cells do not show its groups."
        ),
    ] = None,
    manifest: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="manifest.json of the release: it says what was promised, what values "
            "are, and which file it describes.",
        ),
    ] = None,
    missing: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MARK", help="Text that marks a missing value; may be repeated."
        ),
    ] = None,
    missing_as: Annotated[
        MissingAs | None,
        typer.Option(
            help="A missing value counts as a value of its own, or as any value."
        ),
    ] = None,
    delimiter: CsvDelimiter = None,
    encoding: CsvEncoding = None,
    multiline: CsvLines = False,
    engine: EngineName = None,
    memory_limit: MemoryLimit = None,
    show_values: ShowValues = False,
    json: AsJson = False,
) -> int:
    """Prove a published file again, ours or another tool's.

    Give a manifest, a policy, or --quasi and requirements. The exit code is 0 if every
    requirement holds, and 1 if one does not, or if the file is not the one of the
    manifest.
    """
    roles = {
        "quasi": split_names(quasi),
        "sensitive": split_names(sensitive),
        "subject": subject,
        "missing": missing,
        "missing_as": missing_as.value if missing_as else None,
        "delimiter": delimiter,
        "encoding": encoding,
        "multiline": multiline,
    }
    settings = {key: value for key, value in roles.items() if value}
    models = _requirements(k, l, t, require or [])
    chosen = say_engine(file, engine, memory_limit, making=False)
    places = {"groups": groups, "manifest": manifest, "original": original, **chosen}
    result = _judge(file, policy, settings, models, places)
    with reader_may_leave():
        if json:
            print_json(_record(file, result))
        else:
            _print(file, result)
    if json and redirected():
        _log_failures(file, result)
    _warn(file, result)
    return 0 if result.holds else NOT_MET


def _requirements(
    k: int | None,
    l: float | None,
    t: float | None,
    more: list[str],
) -> list[OutputModel]:
    asked: list[tuple[str, dict[str, Any]]] = []
    if k is not None:
        asked.append(("k-anonymity", {"k": k}))
    if l is not None:
        asked.append(("l-diversity", {"l": int(l) if l.is_integer() else l}))
    if t is not None:
        asked.append(("t-closeness", {"t": t}))
    made = [output_model(name, parameters) for name, parameters in asked]
    return made + [parse_requirement(text) for text in more]


def _judge(
    file: str,
    policy: Path | None,
    settings: dict[str, Any],
    models: list[OutputModel],
    places: dict[str, Any],
) -> CheckResult:
    from sfumato import api
    from sfumato.policy import Policy

    by_manifest = places["manifest"] is not None and not settings
    if policy is None and "quasi" not in settings and not by_manifest:
        raise UsageError(
            "Nothing says which columns are quasi-identifiers.",
            hint="Give --manifest MANIFEST alone, --policy POLICY, or --quasi with "
            "column names.",
        )
    if policy is not None and settings:
        raise UsageError(
            f"--policy and --{next(iter(settings)).replace('_', '-')} "
            "cannot both be given.",
            hint="The policy says the roles and the missing marks.",
        )
    asked = None if policy is None else Policy.load(policy)
    with hints_for(Caller.OPTION if asked is None else Caller.POLICY):
        return api.check(file, asked, requirements=models, **places, **settings)


def _record(file: str, result: CheckResult) -> dict[str, Any]:
    return {
        "file": str(file),
        "rows": result.rows,
        "groups": result.groups,
        "unit": result.unit,
        "holds": result.holds,
        "same_as_manifest": result.same_as_manifest,
        "by_manifest": result.by_manifest,
        "requirements": result.verdicts,
        **({} if result.judged is None else {"judged": list(result.judged)}),
        "risk": result.risk,
        **_loss_record(result),
        "kinds": result.kinds,
        "withheld_columns_present": list(result.withheld),
        "exact_cells": dict(result.exact_cells),
        "columns_not_mentioned": list(result.unmentioned),
        **({"row_numbers_present": True} if result.row_numbers else {}),
    }


def _loss_record(result: CheckResult) -> dict[str, Any]:
    """The loss, where the original was given."""
    if not (result.loss or result.loss_not_measured):
        return {}
    return {"loss": {**result.loss, "not_measured": dict(result.loss_not_measured)}}


def _log_failures(file: str, result: CheckResult) -> None:
    """Say in words on stderr why a check failed whose JSON goes to a file."""
    _, *rows = requirement_rows(result.verdicts)
    with suppress(OSError, ValueError):
        for verdict, row in zip(result.verdicts, rows, strict=True):
            if not verdict["holds"]:
                model, required, measured, broken = row
                typer.echo(
                    f"{file}: {model} ({required}) does not hold: measured {measured}"
                    f"{broken.removeprefix('✗').replace(' broken', ', broken')}.",
                    err=True,
                )
        for text in _exact(result):
            typer.echo(f"{file}: {text}", err=True)
        if result.same_as_manifest is False:
            typer.echo(f"{file}: {CHANGED}", err=True)


def _exact(result: CheckResult) -> list[str]:
    """Say which columns show what their bands should hide."""
    from sfumato.report.number_text import counted

    return [
        f"column '{name}' has {counted(cells, 'cell')} of {result.rows:,} that the "
        "bands of the policy do not publish."
        for name, cells in result.exact_cells.items()
    ]


CHANGED = "this is not the table that the manifest describes; its SHA-256 differs."


def _warn(file: str, result: CheckResult) -> None:
    """Warn about columns that should not be there: no requirement covers them."""
    from sfumato.report.number_text import listing

    if result.withheld:
        names = listing([f"'{name}'" for name in result.withheld])
        warn(f"{file} has what the policy withholds from a release: {names}.")
    if result.unmentioned:
        names = listing([f"'{name}'" for name in result.unmentioned])
        warn(f"the claim does not mention {names}, of which nothing is proven.")
    if result.row_numbers:
        warn(
            f"{file} has a first column without a name, which was not checked. Row "
            "numbers tell the order of the source: remove it before you publish."
        )
    warn_giveaways(result.risk)


def _print(file: str, result: CheckResult) -> None:
    from sfumato.report.number_text import counted

    rows, groups = counted(result.rows, "row"), counted(result.groups, "group")
    typer.echo(f"{file}: {rows}, {groups}")
    print_exact_columns(result.risk)
    print_columns(requirement_rows(result.verdicts))
    print_unjudged(result.judged)
    _print_inferred(result)
    _print_risk(result)
    _print_loss(result)
    for text in _exact(result):
        typer.echo(f"✗ {_sentence(text)}")
    if result.same_as_manifest is not None:
        same = "✓ This is the table that the manifest describes, by its SHA-256."
        typer.echo(same if result.same_as_manifest else f"✗ {_sentence(CHANGED)}")
    typer.echo(_outcome(result))


def _outcome(result: CheckResult) -> str:
    """The last line: it must not sound like success where the check fails."""
    unit = f"Requirements count {result.unit}."
    if not result.requirements_hold:
        return f"Not every requirement holds. {unit}"
    if result.exact_cells:
        return "The check fails: the table shows exact values where bands are claimed."
    if result.same_as_manifest is False:
        return "The check fails: every requirement holds, but for another table."
    told = " that the manifest names" if result.by_manifest else ""
    return f"Every requirement{told} holds. {unit}"


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def _print_inferred(result: CheckResult) -> None:
    """Say which columns had their kind inferred."""
    from sfumato.report.number_text import listing

    guessed = [
        f"'{name}' as {each['kind']} ({each['distance']} distance)"
        for name, each in result.kinds.items()
        if each["from"] == "cells"
    ]
    if guessed:
        typer.echo(
            f"Inferred from the published cells: {listing(guessed)}. --manifest names "
            "what the release was made with."
        )


def _print_loss(result: CheckResult) -> None:
    """Print what was lost, where the original was given."""
    if not (result.loss or result.loss_not_measured):
        return
    typer.echo("Lost, measured beside the original (private):")
    print_columns(measure_rows(result.loss))
    for name, reason in result.loss_not_measured.items():
        typer.echo(f"Not measured: {name} ({reason}).")
    typer.echo("")


def _print_risk(result: CheckResult) -> None:
    measures = measure_rows(result.risk)
    if measures:
        typer.echo("\nRemaining risk:")
        print_columns(measures)
    print_giveaways(result.risk.get("columns", {}))
    typer.echo("")
