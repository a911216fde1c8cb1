"""Options that several commands take."""

from __future__ import annotations

from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]
ShowValues = Annotated[
    bool,
    typer.Option(
        "--show-values",
        help="Show the offending cells in error messages, on your terminal.",
    ),
]
RepeatableSeed = Annotated[
    int | None,
    typer.Option(metavar="N", help="Repeatable draws, for tests and papers."),
]
CsvDelimiter = Annotated[
    str | None, typer.Option(metavar="CHAR", help="The delimiter of a CSV file.")
]
CsvEncoding = Annotated[
    str | None, typer.Option(metavar="NAME", help="Encoding of a CSV file.")
]
CsvLines = Annotated[
    bool,
    typer.Option("--multiline", help="Cells of a CSV file may have several lines."),
]
EngineName = Annotated[
    str | None,
    typer.Option(
        metavar="auto|memory|duckdb|spark",
        help="Where rows are counted: in memory, out of core with DuckDB, or on Spark; "
        "auto decides by the memory limit.",
    ),
]
MemoryLimit = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="How much memory may be used, like 500MB; default: half of what is free.",
    ),
]
