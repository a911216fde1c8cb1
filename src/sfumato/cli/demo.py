"""`sfumato demo`: the main job on embedded data, end to end."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.anonymize import print_release, release
from sfumato.cli.success_output import done, print_columns

if TYPE_CHECKING:
    from collections.abc import Mapping

OUT = Path("sfumato-demo")


def demo(
    out: Annotated[
        Path, typer.Option(help="Directory for the demo; it must not exist yet.")
    ] = OUT,
) -> int:
    """Publish an invented hospital's table, end to end."""
    from sfumato.io.atomic_files import aside_of, put_in_place
    from sfumato.pipeline.write_release import refuse_existing

    refuse_existing(out)
    target = out.resolve()
    with aside_of(target) as aside:
        manifest = _fill(aside / "demo")
        put_in_place(aside / "demo", target)
    with done(f"'{out}'"):
        _introduce(out)
        print_release(manifest, out / "release")
        _suggest(out)
    return 0


def _fill(directory: Path) -> Mapping[str, Any]:
    """Write source and policy, and make the release, in a new directory."""
    from sfumato.demo import write

    policy = write(directory)
    return release(policy, out=directory / "release", settings=[])


def _introduce(out: Path) -> None:
    typer.echo(
        "A fictional hospital publishes its patient stays. No row is about a real person.\n"
    )
    print_columns(
        [
            (str(out / "source.csv"), "what the hospital knows"),
            (str(out / "policy.toml"), "what it promises, with comments"),
            (str(out / "person.csv"), "what an attacker may know of one patient"),
            (f"{out / 'hierarchies'}/", "how its categories become coarser"),
            (f"{out / 'release'}/", "what it publishes"),
        ]
    )
    typer.echo()


def _suggest(out: Path) -> None:
    typer.echo("\nNext:")
    for command, purpose in suggestions(out):
        typer.echo(f"  # {purpose}\n  {command}")


def suggestions(out: Path) -> list[tuple[str, str]]:
    """Return the commands to try next, as a shell takes them, and what each is for."""
    release, source = quoted(out / "release"), quoted(out / "source.csv")
    policy, person = quoted(out / "policy.toml"), quoted(out / "person.csv")
    data = quoted(out / "release" / "data.csv")
    return [
        (f"sfumato check {data} --policy {policy}", "prove it again"),
        (
            f"sfumato assess --original {source} --published {release} --policy {policy}",
            "measure what it keeps, and how exposed people are",
        ),
        (
            f"sfumato attack all {release} --original {source} --policy {policy}",
            "attack it, as others might",
        ),
        (
            f"sfumato attack lookup {release} --record {person} --policy {policy}",
            "look one person up in it",
        ),
        (
            f"sfumato anonymize {policy} --set require.0.k=10 --out {quoted(out / 'k10')}",
            "ask for more",
        ),
        ("sfumato init YOUR.csv -o policy.toml", "start with your own data"),
    ]


def quoted(path: Path) -> str:
    """A path as one word of a shell."""
    return shlex.quote(str(path))
