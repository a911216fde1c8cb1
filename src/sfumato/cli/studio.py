"""`sfumato studio`: every step in a browser, on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.signals import GENTLE
from sfumato.errors import InstallationError

if TYPE_CHECKING:
    from sfumato.studio.access import Access

NEEDED = ("starlette", "uvicorn", "python_multipart")


def studio(
    given: Annotated[
        Path | None,
        typer.Argument(
            metavar="[POLICY | DATA]",
            help="A policy in its project folder, or a data file for a new project.",
        ),
    ] = None,
    port: Annotated[
        int,
        typer.Option(
            min=0, max=65535, metavar="N", help="The port; 0 takes a free one."
        ),
    ] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address; open nothing.")
    ] = False,
    home: Annotated[
        Path,
        typer.Option(metavar="DIR", help="The directory of project folders."),
    ] = Path("sfumato-studio"),
    max_upload: Annotated[
        int, typer.Option(metavar="MB", min=1, help="The largest file to upload.")
    ] = 2000,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDR",
            help="The address to listen on; any other needs the next three options.",
        ),
    ] = "127.0.0.1",
    password_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Its first line is the password."),
    ] = None,
    tls_cert: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The TLS certificate (PEM).")
    ] = None,
    tls_key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The key of the certificate (PEM)."),
    ] = None,
) -> int:
    """Do every step in a browser, on this machine.

    The studio leads from a file to a release. Everything it does is an edit of the policy
    in the project folder. Ctrl-C ends it; the next start goes on where you were.
    """
    import threading

    _require_extra()
    from sfumato.studio.serving import ServingPlace, serve
    from sfumato.studio.studio_projects import StudioProjects

    place = ServingPlace(
        host=host,
        port=port,
        password_file=password_file,
        certificate=tls_cert,
        key=tls_key,
    )
    place.check()
    projects = StudioProjects.of(given, home=home, most_bytes=max_upload * 1_000_000)

    def ready(access: Access) -> None:
        typer.echo(f"Project folder: {projects.current.folder.root}")
        typer.echo(f"Studio: {access.address}")
        typer.echo("Ctrl-C ends it.")
        if not no_browser:
            _open(access.address)

    stop = threading.Event()
    GENTLE.enter(stop)
    try:
        serve(projects, place, ready, stop)
    finally:
        GENTLE.leave()
    return 0


def _require_extra() -> None:
    from importlib.util import find_spec

    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise InstallationError(
            f"The studio needs {', '.join(missing)}.",
            hint="pip install 'sfumato[studio]'",
        )


def _open(address: str) -> None:
    """Open the browser without waiting for it."""
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
