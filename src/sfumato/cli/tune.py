"""`sfumato tune`: fit a policy to the queries that analysts ask."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.anonymize import chosen_seed, source_of
from sfumato.cli.common_options import AsJson, RepeatableSeed
from sfumato.cli.success_output import (
    done,
    print_columns,
    print_json,
    reader_may_leave,
    refuse_existing_file,
    write_new_text,
)

if TYPE_CHECKING:
    from sfumato.pipeline.tuning import Tuned
    from sfumato.workload.answer_errors import Estimate


class ErrorMeasure(StrEnum):
    """The error that is minimized."""

    CHI2 = "chi2"
    RELATIVE = "relative"
    ABSOLUTE = "absolute"


def tune(
    policy: Annotated[Path, typer.Argument(metavar="POLICY", help="The policy file.")],
    workload: Annotated[
        Path, typer.Option(help="The queries: a .toml, .json or .sql file.")
    ],
    data: Annotated[
        Path | None,
        typer.Option(help="The source, instead of the policy's data.path."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write the tuned policy to this new file, if it is better."),
    ] = None,
    measure: Annotated[
        ErrorMeasure | None,
        typer.Option(
            help="The error to lower; default: chi2 for histograms, relative for counts."
        ),
    ] = None,
    train_share: Annotated[
        float, typer.Option(help="The share of the queries that the search sees.")
    ] = 0.5,
    trials: Annotated[
        int, typer.Option(min=1, help="How many settings may be tried.")
    ] = 40,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A column or option that stays as it is; may be repeated.",
        ),
    ] = None,
    split_seed: Annotated[
        int,
        typer.Option(metavar="N", min=0, help="The seed of the split of the queries."),
    ] = 0,
    insecure_seed: RepeatableSeed = None,
    json: AsJson = False,
) -> int:
    """Fit column weights and algorithm options to queries.

    The search sees a part of the queries. The error on the others, which it never saw,
    is reported with an interval, to show over-fitting. Requirements are never changed,
    and every trial is proven to meet them.
    """
    from sfumato import api
    from sfumato.cli.progress import watched
    from sfumato.policy import Policy

    if out is not None:
        refuse_existing_file(out, option="--out")
    asked = Policy.load(policy)
    with watched() as progress:
        tuned = api.tune(
            source_of(asked, policy, data),
            asked,
            workload,
            measure=None if measure is None else measure.value,
            train_share=train_share,
            trials=trials,
            keep=keep or (),
            split_seed=split_seed,
            seed=chosen_seed(None, insecure_seed),
            progress=progress,
        )
    if not tuned.better:
        # A policy that is no better must not look as if it were better.
        out = None
    if out is not None:
        write_new_text(out, tuned.policy.dump(), option="--out")
    # Without a file, what is printed is all there is.
    with reader_may_leave() if out is None else done(f"The policy '{out}'"):
        if json:
            print_json(tuned.record() | {"policy": None if out is None else str(out)})
        else:
            _print(tuned, out)
    return 0


def _print(tuned: Tuned, out: Path | None) -> None:
    from sfumato.report.number_text import counted

    typer.echo(f"Tried {counted(len(tuned.trials), 'setting')}.")
    if tuned.changes:
        print_columns([(key, _shown(value)) for key, value in tuned.changes.items()])
    else:
        typer.echo("No setting that was tried beats the current policy.")
    typer.echo(f"\nError ({tuned.measure}, mean per query, 95% interval):")
    print_columns(_rows(tuned))
    typer.echo(f"\n{_verdict(tuned)}")
    if out is not None:
        typer.echo(f"The tuned policy is in {out}.")
    elif not tuned.better:
        typer.echo("Nothing is written.")


def _rows(tuned: Tuned) -> list[tuple[str, ...]]:
    head = ("queries", "before", "tuned", "percent of before")
    train = (tuned.train_before, tuned.train, tuned.train_ratio)
    unseen = (tuned.held_out_before, tuned.held_out, tuned.held_out_ratio)
    return [
        head,
        (f"{tuned.train_queries} seen", *map(_interval, train)),
        (f"{tuned.held_out_queries} unseen", *map(_interval, unseen)),
    ]


def _interval(figure: Estimate) -> str:
    return f"{figure.value:.4g} [{figure.low:.4g}, {figure.high:.4g}]"


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _verdict(tuned: Tuned) -> str:
    if tuned.better:
        return "Unseen queries are answered better, by more than chance explains."
    if not tuned.changes:
        return "Keep the policy, or allow more trials."
    return "On unseen queries the gain cannot be told from chance: keep the old policy."
