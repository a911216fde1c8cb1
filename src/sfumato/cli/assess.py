"""`sfumato assess`: what a release keeps, and how exposed people are in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.private_files import print_or_keep
from sfumato.cli.success_output import refuse_existing_file

if TYPE_CHECKING:
    from sfumato.pipeline.assessment import Assessment


class StatedForm(StrEnum):
    """How a table was published."""

    GENERALIZED = "generalized"
    SWAPPED = "swapped"
    ANATOMIZED = "anatomized"
    MICROAGGREGATED = "microaggregated"
    SYNTHETIC = "synthetic"


def assess(
    original: Annotated[
        Path, typer.Option(metavar="FILE", help="The table as it was.")
    ],
    published: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="The table as it was published, or a release directory.",
        ),
    ],
    policy: Annotated[
        Path, typer.Option(metavar="FILE", help="Roles, kinds and hierarchies.")
    ],
    form: Annotated[
        StatedForm | None,
        typer.Option(help="Left out: what the policy says and the cells show."),
    ] = None,
    rows: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="private/rows.parquet of the release: which row is which.",
        ),
    ] = None,
    same_order: Annotated[
        bool,
        typer.Option("--same-order", help="The rows of both tables did not move."),
    ] = False,
    workload: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Measure the error of these queries, too."),
    ] = None,
    learn: Annotated[
        bool,
        typer.Option("--learn", help="Train models on the release; takes a while."),
    ] = False,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="What models learn; the first sensitive column."
        ),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="The most rows that models learn from."),
    ] = None,
    fraction: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="The share of the population in the original."
        ),
    ] = None,
    population: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Everybody's quasi-identifiers, for journalist risk."
        ),
    ] = None,
    household: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Who lives together, for the risk of households."
        ),
    ] = None,
    suda: Annotated[
        bool, typer.Option("--suda", help="Score special uniques (SUDA2).")
    ] = False,
    seed: Annotated[
        int, typer.Option(metavar="N", help="Seeds samples and the bootstrap.")
    ] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Write to this new file, which you alone may read."
        ),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="One JSON object on stdout.")
    ] = False,
) -> int:
    """Measure what a release keeps, and how exposed people are in it.

    The release may be Sfumato's or another tool's. All of the output is computed from
    the original and is private.
    """
    from sfumato import api
    from sfumato.cli.progress import watched

    if out is not None:
        refuse_existing_file(out, option="--out")
    with watched() as progress:
        found = api.assess(
            original,
            published,
            policy,
            form=None if form is None else form.value,
            rows=rows,
            same_order=same_order,
            workload=workload,
            learn=learn,
            target=target,
            sample=sample,
            fraction=fraction,
            population=None if population is None else population.resolve(),
            household=household,
            suda=suda,
            seed=seed,
            progress=progress,
        )
    print_or_keep(
        found.record() if json else None, "\n".join(assessment_lines(found)), out
    )
    return 0


def assessment_lines(found: Assessment) -> Iterator[str]:
    """Format an assessment for people; the first line says that it is private."""
    from sfumato.pipeline.private_notes import PRIVATE
    from sfumato.report.number_text import counted

    yield PRIVATE
    yield ""
    yield (
        f"{counted(found.published_rows, 'published row')} ({found.form}), "
        f"{counted(found.rows, 'original row')}"
    )
    yield from _cells(found)
    yield ""
    yield "What the release keeps:"
    yield from _utility(found.utility)
    yield ""
    yield "How exposed people are:"
    yield from _risk(found.risk)
    for note in found.notes:
        yield ""
        yield f"Note: {note}"


def _cells(found: Assessment) -> Iterator[str]:
    from sfumato.report.number_text import amount

    for name, count in found.unrecognized_cells.items():
        yield f"  not recognized: {amount(count)} cells of '{name}'"
    for name, count in found.risk["unfounded_cells"].items():
        yield f"  hold no value of the original: {amount(count)} cells of '{name}'"


def _utility(utility: Mapping[str, Any]) -> Iterator[str]:
    from sfumato.cli.success_output import measure_rows

    figures = {k: v for k, v in utility.items() if isinstance(v, int | float)}
    yield from _table(measure_rows(figures))
    for name, reason in utility["not_measured"].items():
        yield f"  {name}: not measured, it {reason}"
    if "workload" in utility:
        yield from _workload(utility["workload"])
    if "learned" in utility:
        yield from _learned(utility["learned"])


def _workload(error: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    yield f"Error of {error['queries']:,} queries (mean, 95% interval):"
    figures = [(n.replace("_", " "), e) for n, e in error.items() if _is_interval(e)]
    yield from _table([(name, _interval(each)) for name, each in figures])


def _learned(learned: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    yield (
        f"Learning '{learned['target']}' ({learned['measure']}, "
        f"{learned['rows']:,} rows, 95% interval):"
    )
    rows = [("model", "trained on the original", "trained on the release")]
    for name, each in learned["models"].items():
        rows.append((name, _interval(each["original"]), _interval(each["release"])))
    rows.append(("no features", _interval(learned["baseline"]), ""))
    yield from _table(rows)
    if not learned["held_out"]:
        yield "  The release was made from the rows that were tested, too."
    yield "  What boosting loses without a column:"
    weights = [
        (name, f"{each['original']:.4f}", f"{each['release']:.4f}")
        for name, each in learned["importance"].items()
    ]
    yield from _table([("column", "original", "release"), *weights], indent="    ")


def _risk(risk: Mapping[str, Any]) -> Iterator[str]:
    yield from _table(list(_exposure_rows(risk)))
    yield from _table(list(_sensitive_rows(risk)))
    if risk["requirements"]:
        from sfumato.cli.success_output import requirement_rows

        yield ""
        yield from _table(requirement_rows(risk["requirements"]))
    for name, share in risk["row_numbers"].items():
        yield f"  '{name}' numbers rows: {share:.1%} could be the original's row"
    for name in risk["withheld_columns_present"]:
        yield f"  '{name}' is published, and the policy withholds it"


def _exposure_rows(risk: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    from sfumato.report.number_text import amount, percent

    sides = [risk[side] for side in ("before", "after") if side in risk]
    yield ("", *("original", "release")[: len(sides)])
    for key in ("groups", "smallest_group", "sample_uniques"):
        yield (key.replace("_", " "), *(amount(each[key]) for each in sides))
    for attacker in ("prosecutor", "journalist"):
        if all(attacker in each for each in sides):
            risks = [each[attacker] for each in sides]
            yield (f"{attacker}, highest", *(percent(r["highest"]) for r in risks))
            yield (f"{attacker}, mean", *(percent(r["mean"]) for r in risks))
            for limit in risks[0]["above"]:
                shares = [percent(r["above"][limit]) for r in risks]
                yield (f"{attacker}, above {limit}", *shares)
    yield ("marketer", *(percent(each["marketer"]) for each in sides))


def _sensitive_rows(risk: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    from sfumato.report.number_text import amount

    if "k" in risk:
        yield ("k", amount(risk["k"]))
    for name, each in risk.get("sensitive", {}).items():
        said = ", ".join(f"{letter} = {amount(v)}" for letter, v in each.items())
        yield (f"'{name}'", said)


def _is_interval(value: object) -> bool:
    return isinstance(value, Mapping) and {"value", "low", "high"} <= set(value)


def _interval(figure: Mapping[str, float]) -> str:
    return f"{figure['value']:.4g} [{figure['low']:.4g}, {figure['high']:.4g}]"


def _table(rows: list[Any], *, indent: str = "  ") -> Iterator[str]:
    from sfumato.cli.success_output import column_lines

    yield from column_lines(rows, indent=indent)
