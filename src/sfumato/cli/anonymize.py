"""`sfumato anonymize`: make a release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.common_options import AsJson, EngineName, MemoryLimit, ShowValues
from sfumato.cli.engine_options import say_engine
from sfumato.cli.requirements import parse_pair
from sfumato.cli.success_output import (
    done,
    measure_rows,
    print_columns,
    print_exact_columns,
    print_giveaways,
    print_json,
    print_unjudged,
    requirement_rows,
    warn_giveaways,
)
from sfumato.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sfumato.data.seeds import Seed
    from sfumato.io.databases import DatabaseSource
    from sfumato.pipeline.saved_manifest import SavedManifest
    from sfumato.policy import Policy

OUT = Path("release")
STREAM = "-"
"""Stands for standard output."""
SHARE_OF_MAKING = 0.9
"""How much of the progress is for making a release; the rest is for writing it."""


def anonymize(
    policy: Annotated[Path, typer.Argument(metavar="POLICY", help="The policy file.")],
    data: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|URL#TABLE|-",
            help="The source, instead of the policy's: a file, a table of a database, "
            "or standard input.",
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option(help="The release directory; it must not exist yet.")
    ] = OUT,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="URL#TABLE|-",
            help="Put the data into a new table of a database, or copy them to standard "
            "output once they are proven.",
        ),
    ] = None,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="The format of the data file, instead of the policy's publish.format.",
        ),
    ] = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Replace an older release; it stays until the new one is proven, "
            "and its private part is kept.",
        ),
    ] = False,
    after: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="RELEASE_DIR",
            help="An earlier release of the same people, with its private part: prove "
            "the requirements on what both tell together; may be repeated.",
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Threads to use; default: all cores."),
    ] = None,
    engine: EngineName = None,
    memory_limit: MemoryLimit = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print only warnings and errors.")
    ] = False,
    seed: Annotated[
        str | None,
        typer.Option(
            metavar="HEX", help="Repeat a run: the seed of its private/audit.json."
        ),
    ] = None,
    insecure_seed: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="A guessable seed, for tests; not for publication."
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change a setting of the policy for this run; may be repeated.",
        ),
    ] = None,
    show_values: ShowValues = False,
    json: AsJson = False,
) -> int:
    """Make a release that meets a policy, and prove it.

    The release is a directory with the data, its manifest, its report, and a private
    part that is not for publication. It is verified from the written file before it
    appears.
    """
    chosen = chosen_seed(seed, insecure_seed)
    streamed = to == STREAM
    _refuse_two_outputs(streamed=streamed, json=json)
    _refuse_parts_elsewhere(to, engine)
    manifest = release(
        policy,
        data=data,
        out=out,
        to=None if streamed else to,
        seed=chosen,
        settings=[*(set_ or []), *([f"publish.format={format_}"] if format_ else [])],
        after=after or [],
        force=force,
        threads=threads,
        quiet=quiet,
        engine=engine,
        memory_limit=memory_limit,
    )
    with done(f"The release '{out}'"):
        if streamed:
            copy_to_stdout(out)
        elif json:
            from sfumato.pipeline.unique_values import warnings as giveaways

            warnings = [*manifest.warnings, *giveaways(manifest["risk"])]
            record = {"directory": str(out), "manifest": manifest, "warnings": warnings}
            print_json(record)
        elif not quiet:
            print_release(manifest, out)
    warn_giveaways(manifest["risk"])
    return 0


def _refuse_two_outputs(*, streamed: bool, json: bool) -> None:
    if streamed and json:
        raise UsageError(
            "--to - and --json both write to standard output.",
            hint="The manifest is in the release directory.",
        )


def _refuse_parts_elsewhere(to: str | None, engine: str | None) -> None:
    if to is not None and engine == "spark":
        raise UsageError(
            "Spark writes a directory of parts, which --to does not take.",
            hint="Leave out --to, or take another engine.",
        )


def copy_to_stdout(out: Path) -> None:
    """Copy the proven data file to standard output."""
    import shutil
    import sys

    (file,) = sorted(out.glob("data.*"))
    with file.open("rb") as content:
        shutil.copyfileobj(content, sys.stdout.buffer)
    sys.stdout.buffer.flush()


def release(
    policy: Path,
    *,
    out: Path,
    data: str | Path | None = None,
    to: str | None = None,
    seed: Seed | None = None,
    settings: list[str],
    after: Sequence[Path] = (),
    force: bool = False,
    threads: int | None = None,
    quiet: bool = False,
    engine: str | None = None,
    memory_limit: str | None = None,
) -> SavedManifest:
    """Make and write a release; return its manifest."""
    from sfumato import api
    from sfumato.cli.early_stop import stopping_early
    from sfumato.cli.own_warnings import saying_warnings
    from sfumato.cli.progress import watched
    from sfumato.pipeline.release_to_database import refuse_existing_table
    from sfumato.pipeline.write_release import refuse_existing, repair
    from sfumato.policy import Policy

    asked = with_settings(Policy.load(policy), settings)
    refuse_existing(out, force=force)
    source = source_of(asked, policy, data)
    with saying_warnings():
        repair(out, to)
    if to is not None:
        refuse_existing_table(to)
    where = say_engine(source, engine, memory_limit, making=True)
    with (
        saying_warnings(),
        watched(quiet=quiet) as shown,
        stopping_early(asked, shown) as progress,
    ):
        made = api.anonymize(
            source,
            asked,
            **where,
            after=after,
            seed=seed,
            threads=threads,
            progress=lambda step, share: progress(step, SHARE_OF_MAKING * share),
        )
        progress("write", SHARE_OF_MAKING)
        return made.save(out, force=force, to=to)


def with_settings(policy: Policy, settings: list[str]) -> Policy:
    """Return a policy with the settings of `--set`."""
    for text in settings:
        key, value = parse_pair(text, option="--set")
        policy = policy.with_setting(key, value)
    return policy


def source_of(
    asked: Policy, policy: Path, data: str | Path | None, *, read: bool = True
) -> str | Path | DatabaseSource:
    """Return the source: the one given, or the one that the policy names.

    One that is to be read must be there.
    """
    from sfumato.io.batch_files import many_files
    from sfumato.io.databases import is_database
    from sfumato.io.formats import is_stream
    from sfumato.io.read import check_place
    from sfumato.pipeline.named_source import named_source

    if data is not None:
        return data if is_database(str(data)) else Path(data)
    said = asked.data
    if said.path is not None and is_stream(said.path):
        return Path(said.path)
    if said.path is None and said.url is None:
        raise UsageError(
            f"'{policy}' names no data, and --data is not given.",
            hint="Add data.path or data.url to the policy, or name it with --data.",
        )
    found = named_source(asked, policy.parent)
    if read and isinstance(found, Path) and not many_files(found):
        check_place(found, hint="Paths in a policy are relative to the policy file.")
    return found


def chosen_seed(text: str | None, number: int | None) -> Seed | None:
    """Return the seed that the options ask for; None: a fresh one."""
    from sfumato.data.seeds import Seed

    if text is not None and number is not None:
        raise UsageError(
            "--seed and --insecure-seed cannot both be given.",
            hint="--seed repeats a real run, --insecure-seed is for tests.",
        )
    if text is not None:
        return Seed.replay(text)
    return None if number is None else Seed.guessable(number)


def print_release(manifest: Mapping[str, Any], out: Path) -> None:
    """Print a summary of the release: what, how useful, and where."""
    typer.echo(_counted(manifest))
    print_exact_columns(manifest["risk"])
    if "search" in manifest:
        typer.echo(_searched(manifest["search"]))
    by_ledger = ", and by the ledger of its making" if "privacy" in manifest else ""
    unit = f"; requirements count {manifest['unit']}"
    typer.echo(f"\nProven from the published file{by_ledger}{unit}:")
    print_columns(requirement_rows(manifest["requirements"]))
    print_unjudged(manifest.get("judged"))
    if "after" in manifest:
        typer.echo(_together(manifest["after"]))
    measures = measure_rows({**manifest["utility"], **manifest["risk"]})
    if measures:
        typer.echo("\nUtility and remaining risk:")
        print_columns(measures)
    print_giveaways(manifest["risk"].get("columns", {}))
    if "row_numbers" in manifest:
        typer.echo(
            "\nThe first column has no name: it was read as row numbers and left out."
        )
    if "not_for_publication" in manifest:
        typer.echo(f"\n{manifest['not_for_publication']}")
    typer.echo("\nFiles:")
    print_columns(_file_rows(out))


def _counted(manifest: Mapping[str, Any]) -> str:
    """Describe how much was released; for a certified release, not the source."""
    from sfumato.report.number_text import amount, counted

    rows, groups = manifest["rows_out"], counted(manifest["groups"], "group")
    if "rows_in" not in manifest:
        return f"Released {counted(rows, 'row')} in {groups}. {_guarantee(manifest)}"
    return (
        f"Released {amount(rows)} of {counted(manifest['rows_in'], 'row')} "
        f"in {groups}; {counted(manifest['rows_suppressed'], 'row')} suppressed."
    )


def _together(after: Mapping[str, Any]) -> str:
    """Say that the release was proven beside earlier ones."""
    from sfumato.report.number_text import counted

    releases = counted(len(after["releases"]), "earlier release")
    return f"\nProven again for the candidates that it and {releases} leave."


def _searched(search: Mapping[str, Any]) -> str:
    """Say whether the search proved that nothing better exists."""
    from sfumato.report.number_text import amount

    looked = f"{amount(search['nodes_checked'])} of {amount(search['nodes'])} choices"
    if search["proven"]:
        return f"Proven: no choice of levels loses less ({looked} checked)."
    return f"Not proven to lose least ({looked} checked)."


def _guarantee(manifest: Mapping[str, Any]) -> str:
    privacy = manifest["privacy"]
    return f"{privacy['guarantee']} {privacy['does_not_cover']}"


def _file_rows(out: Path) -> list[tuple[str, str]]:
    found = next(iter(sorted(out.glob("data.*"))), None)
    data = [] if found is None else [(str(found), "the release")]
    beside = [
        *((str(path), "its second table") for path in sorted(out.glob("sensitive.*"))),
        *((str(path), "how to join them") for path in out.glob("README.txt")),
    ]
    return [
        *data,
        *beside,
        (str(out / "manifest.json"), "machine-readable manifest; safe to publish"),
        (str(out / "report.html"), "report for readers; safe to publish"),
        (
            f"{out / 'private'}/",
            "seed, source rows and private report; keep it, never share it",
        ),
    ]
