"""`sfumato assess`: what a release keeps, and how exposed people are in it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.common_options import AsJson
from sfumato.cli.private_files import print_or_keep
from sfumato.cli.success_output import refuse_existing_file


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
        typer.Option(help="How it was published; default: as policy and cells say."),
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
        typer.Option(
            "--same-order", help="The rows of both tables are in the same order."
        ),
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
            metavar="COLUMN",
            help="What models learn to predict; default: the first sensitive column.",
        ),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Train on at most N rows (20000)."),
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
            metavar="FILE", help="A table of the whole population, for journalist risk."
        ),
    ] = None,
    household: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column that says who lives together."),
    ] = None,
    suda: Annotated[
        bool, typer.Option("--suda", help="Score special uniques (SUDA2).")
    ] = False,
    seed: Annotated[
        int, typer.Option(metavar="N", help="The seed of samples and intervals.")
    ] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Write to this new file, which you alone may read."
        ),
    ] = None,
    json: AsJson = False,
) -> int:
    """Measure what a release keeps, and how exposed people are in it.

    The release may be Sfumato's or another tool's. All of the output is computed from
    the original and is private.
    """
    from sfumato import api
    from sfumato.cli.assessment_text import assessment_lines
    from sfumato.cli.progress import watched
    from sfumato.pipeline.reports import keep_assessment

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
    keep_assessment(published, found.record())
    print_or_keep(
        found.record() if json else None, "\n".join(assessment_lines(found)), out
    )
    return 0
