"""`sfumato advise`: what a policy asks of its data, and which edits help."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.anonymize import source_of
from sfumato.cli.private_files import print_or_keep
from sfumato.cli.success_output import (
    column_lines,
    done,
    refuse_existing_file,
    write_new_text,
)
from sfumato.errors import UsageError

if TYPE_CHECKING:
    from sfumato.pipeline.advice.advice import Advice, Outlook
    from sfumato.pipeline.advice.suggestions import Suggestion


def advise(
    policy: Annotated[Path, typer.Argument(metavar="POLICY", help="The policy file.")],
    data: Annotated[
        str | None,
        typer.Option(help="The source, instead of the policy's data.path."),
    ] = None,
    apply: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBERS",
            help="Apply the advice with these numbers, such as 2,3; with --out.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="A new file, which you alone may read if it is private: with --apply "
            "the new policy, else the advice.",
        ),
    ] = None,
    all_: Annotated[
        bool,
        typer.Option("--all", help="Show every piece of advice, not the first 12."),
    ] = False,
    threads: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Threads to use; default: all cores."),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="One JSON object on stdout.")
    ] = False,
) -> int:
    """Say what a policy asks of its data, and which edits of it help.

    Measures, before anything heavy, which requirements are feasible, which columns and
    rows make them hard, and what other settings would cost. Each piece of advice is an
    edit of the policy. All of the output is computed from the source and is private.
    Under differential privacy no cell is read: the policy and the ledger say it all.
    """
    from sfumato import api
    from sfumato.cli.progress import watched
    from sfumato.policy import Policy

    numbers = None if apply is None else _numbers(apply)
    if numbers is not None and out is None:
        raise UsageError(
            "--apply writes a new policy, and no file is named.",
            hint="Name it: --out new.toml.",
        )
    if out is not None:
        refuse_existing_file(out, option="--out")
    asked = Policy.load(policy)
    with watched() as progress:
        found = api.advise(
            source_of(asked, policy, data, read=not asked.process_models()),
            asked,
            threads=threads,
            progress=progress,
        )
    if numbers is not None and out is not None:
        _write_policy(found, numbers, policy, out, as_json=json)
        return 0
    text = "\n".join(advice_lines(found, policy, most=None if all_ else MOST))
    record = found.record() if json else None
    print_or_keep(record, text, out, private=not found.unread)
    return 0


MOST = 12
"""How many pieces of advice are shown without --all."""


def _numbers(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdigit() for part in parts):
        raise UsageError(
            "--apply is not a list of numbers.", hint="For example --apply 2,3."
        )
    return [int(part) for part in parts]


def _write_policy(
    found: Advice, numbers: list[int], policy: Path, out: Path, *, as_json: bool
) -> None:
    """Write the policy with some advice applied; nobody else may read it."""
    from sfumato.cli.success_output import print_json
    from sfumato.pipeline.advice.moved_paths import moved_paths
    from sfumato.policy import Policy

    settings = found.settings(*numbers)
    applied = [each for each in found.suggestions if each.number in numbers]
    moved = moved_paths(found.policy, policy.parent, out.absolute().parent)
    body = found.policy.edited({**moved, **settings})
    said = [] if found.unread else [found.privacy]
    told = [*said, *(f"Advice: {_plain(each.text)}" for each in applied)]
    text = "".join(f"# {line}\n" for line in told) + body
    Policy.parse(text, source=f"'{out}'", base=out.parent)
    write_new_text(out, text, option="--out", private=not found.unread)
    with done(f"The policy '{out}'"):
        if as_json:
            private = None if found.unread else found.privacy
            print_json({"private": private, "policy": str(out), "settings": settings})
            return
        for line in said:
            typer.echo(line)
        for each in applied:
            typer.echo(f"Applied {each.number}: {_plain(each.text)}")
        typer.echo(f"The new policy is in {out}.")
        typer.echo(f"Next: sfumato anonymize {out}")


def _plain(text: str) -> str:
    """Clean text for a line: names may hold characters that end it."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def advice_lines(found: Advice, policy: Path, *, most: int | None) -> Iterator[str]:
    """Format advice for people; the first line says whether it is private."""
    yield found.privacy
    yield ""
    yield _verdict(found)
    yield ""
    yield from _requirements(found)
    yield from _columns(found)
    yield from _advice(found, most)
    yield from _fits(found)
    for note in found.notes:
        if note != found.privacy:
            yield f"Note: {note}"
    if found.needed or (found.suggestions and not found.unread):
        numbers = ",".join(map(str, found.needed or (found.suggestions[0].number,)))
        yield ""
        yield f"Apply: sfumato advise {policy} --apply {numbers} -o new.toml"


def _verdict(found: Advice) -> str:
    from sfumato.report.number_text import counted, percent

    text = _possible(found)
    if found.rows:
        text = f"{counted(found.rows, 'row')}: {text[0].lower()}{text[1:]}"
    if found.loss is None:
        return text
    after = ", with the needed edits" if found.needed else ""
    return f"{text} It would lose about {percent(found.loss)} of its detail{after}."


def _possible(found: Advice) -> str:
    if found.needed:
        count = len(found.needed)
        edits = "the needed edit" if count == 1 else f"all {count} needed edits"
        return f"No release meets this policy. Apply {edits}, or change more."
    if not found.feasible:
        return "No release meets this policy."
    return "A release that meets this policy seems possible."


def _requirements(found: Advice) -> Iterator[str]:
    from sfumato.report.number_text import settings

    most = "left in the ledger" if found.unread else "tightest feasible"
    rows = [("requirement", "required", most, "verdict")]
    for each in found.outlooks:
        required = (
            settings(each.parameters) if each.model != "diversity" else _bounds(each)
        )
        rows.append((each.model, required, *_outlook(each)))
    yield from column_lines(rows)
    yield ""


def _outlook(each: Outlook) -> tuple[str, str]:
    """What there is of one requirement, and the verdict."""
    from sfumato.report.number_text import settings

    if not each.unread:
        verdict = "✓ feasible" if each.feasible else "✗ not feasible"
        return _tightest(each.parameter, each.tightest), verdict
    if each.left is None:
        return "no ledger", "✓ nothing limits it"
    verdict = "✓ can be paid" if each.feasible else "✗ costs more than is left"
    return settings(each.left), verdict


def _bounds(each: Any) -> str:
    """A constraint on shown values, without the values."""
    from sfumato.report.number_text import settings

    hidden = ("where", "generate")
    said = {k: v for k, v in each.parameters.items() if k not in hidden}
    return settings(said)


def _tightest(parameter: str | None, value: float | None) -> str:
    from sfumato.report.number_text import amount

    return (
        "" if parameter is None or value is None else f"{parameter} = {amount(value)}"
    )


def _columns(found: Advice) -> Iterator[str]:
    if not found.columns:
        return
    rows: list[tuple[str, ...]]
    if found.unread:
        rows = [("column", "declared values")]
        rows += [(c["column"], f"{c['declared_values']:,}") for c in found.columns]
        yield "Published columns, most declared values first:"
    else:
        rows = [_COLUMN_HEAD, *map(_column_row, found.columns)]
        yield "Quasi-identifiers, hardest first:"
    yield from column_lines(rows)
    rare = found.facts.get("rare_rows")
    if rare is not None:
        searched = found.facts["rows_searched"]
        yield (
            f"  {rare:,} of {searched:,} rows have values that too few others share for a "
            "group."
        )
    yield ""


_COLUMN_HEAD = (
    "column",
    "values",
    "loses",
    "gain if left out",
    "gain of another hierarchy",
)


def _column_row(each: Mapping[str, Any]) -> tuple[str, ...]:
    from sfumato.report.number_text import percent

    return (
        str(each["column"]),
        f"{each['distinct']:,}",
        percent(each["loss"]),
        _gain(each["gain_left_out"]),
        _gain(each["gain_other_hierarchy"]),
    )


def _gain(value: float | None) -> str:
    """A gain in percentage points of all detail."""
    return "" if value is None else f"{100 * value:+.2f} points"


def _advice(found: Advice, most: int | None) -> Iterator[str]:
    shown = found.suggestions[: max(most or 0, len(found.needed)) if most else None]
    if not found.suggestions:
        yield "No edit is advised."
        yield ""
        return
    if found.unread:
        yield "Advice, what is needed first:"
    else:
        yield f"Advice, {_order(found.suggestions)} (points of all detail; NCP):"
    for each in shown:
        yield from _lines(each, other="optional" if found.unread else "not measured")
    if len(found.suggestions) > len(shown):
        rest = len(found.suggestions) - len(shown)
        less = "" if found.unread else " that gain less or cost something"
        yield f"  … and {rest} more{less}: --all"
    yield ""


def _order(suggestions: Sequence[Suggestion]) -> str:
    """Say in which order the measured suggestions come."""
    gains = [each.gain for each in suggestions if each.gain is not None]
    if gains == sorted(gains, reverse=True):
        return "the greatest gain first"
    return "first the column that makes most rows rare, then the greatest gain first"


def _lines(each: Suggestion, *, other: str) -> Iterator[str]:
    from sfumato.report.number_text import percent

    gain = "needed" if each.needed else _gain(each.gain)
    yield f"{each.number:>4}  {gain or other}  {each.text}"
    if each.loss is not None and each.loss_before is not None:
        yield (
            f"      {percent(each.loss_before)} → {percent(each.loss)} lost, by "
            f"{each.measured_by}."
        )
    yield f"      {each.reason}"


def _fits(found: Advice) -> Iterator[str]:
    from sfumato.report.number_text import listing

    for what, known in (
        ("Algorithms", found.algorithms),
        ("Operators", found.operators),
    ):
        fitting = [name for name, why in known.items() if why == "fits"]
        others = {name: why for name, why in known.items() if why != "fits"}
        if fitting:
            yield f"{what} that fit: {listing(fitting)}."
        if others and len(others) <= 8:
            yield from column_lines(
                [(f"not {name}:", why) for name, why in others.items()]
            )
    yield ""
