"""Bind, serve, and end: no task outlives the studio, and nothing is logged."""

from __future__ import annotations

import ipaddress
import logging
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from sfumato.errors import OutputError, UsageError
from sfumato.studio.access import Access
from sfumato.studio.server import StudioApplication
from sfumato.studio.studio_projects import StudioProjects

LOOPBACK = "127.0.0.1"
SHORTEST_PASSWORD = 12


@dataclass(frozen=True, kw_only=True)
class ServingPlace:
    """Where the studio listens, and what guards it."""

    host: str = LOOPBACK
    port: int = 0
    """0: a free one."""
    password_file: Path | None = None
    certificate: Path | None = None
    key: Path | None = None

    def check(self) -> None:
        """Refuse to leave this machine without a password and encryption."""
        if is_everywhere(self.host):
            raise UsageError(
                f"'{self.host}' is every address of this machine, and pages are taken "
                "from one alone.",
                hint="Name the one that others reach it at.",
            )
        needed = {
            "--password-file": self.password_file,
            "--tls-cert": self.certificate,
            "--tls-key": self.key,
        }
        missing = [option for option, given in needed.items() if given is None]
        if is_loopback(self.host):
            self._check_pair()
        elif missing:
            raise UsageError(
                f"'{self.host}' can be reached by others, and {', '.join(missing)} "
                f"{'is' if len(missing) == 1 else 'are'} missing.",
                hint="Give all three, or leave --host out: the studio is then on this "
                "machine alone.",
            )

    def _check_pair(self) -> None:
        if (self.certificate is None) != (self.key is None):
            raise UsageError(
                "A certificate is used with its key, and only one of them is given.",
                hint="Give --tls-cert and --tls-key, or neither.",
            )


def is_loopback(host: str) -> bool:
    """Whether an address is this machine's own."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def is_everywhere(host: str) -> bool:
    """Whether an address stands for all that a machine has."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return not host


def password_of(place: Path | None) -> str | None:
    """The first line of a file that only its owner can read."""
    if place is None:
        return None
    try:
        mode = place.stat().st_mode & 0o777
        text = next(iter(place.read_text("utf-8").splitlines()), "")
    except (OSError, ValueError):
        raise UsageError(
            f"The password file '{place}' cannot be read.", hint="Name a text file."
        ) from None
    if mode & 0o077:
        raise UsageError(
            f"Others can read the password file '{place}': its mode is {mode:04o}.",
            hint=f"chmod 600 '{place}'",
        )
    if len(text) < SHORTEST_PASSWORD:
        raise UsageError(
            f"The password has {len(text):,} characters; at least {SHORTEST_PASSWORD} "
            "are asked for.",
            hint="Write a longer one into the file.",
        )
    return text


def bound(place: ServingPlace) -> socket.socket:
    """A socket that listens, so that the port is known before the first request."""
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((place.host, place.port))
        made.listen(64)
    except OSError as fault:
        made.close()
        raise OutputError(
            f"The studio cannot listen at {place.host}, port {place.port}: "
            f"{fault.strerror}.",
            hint="Choose another port, or leave --port out.",
        ) from None
    return made


def serve(
    projects: StudioProjects,
    place: ServingPlace,
    ready: Callable[[Access], None],
    stop: threading.Event,
) -> None:
    """Serve until `stop` is set, or a signal asks for it; `ready` gets the address."""
    place.check()
    password = password_of(place.password_file)
    listening = bound(place)
    port = int(listening.getsockname()[1])
    tls = place.certificate is not None
    access = Access(host=place.host, port=port, tls=tls, password=password)
    try:
        server = UnsignaledServer(_config(projects, access, place))
        threading.Thread(target=_end_on, args=(server, stop), daemon=True).start()
        ready(access)
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listening])
    finally:
        projects.current.tasks.end()
        listening.close()


class UnsignaledServer(uvicorn.Server):
    """Ends when it is told to; signals are heard by the command, and by it alone."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # Heard here too, a signal would be sent again at the end, as a second Ctrl-C.
        yield


def _end_on(server: uvicorn.Server, stop: threading.Event) -> None:
    stop.wait()
    server.should_exit = True


def _config(
    projects: StudioProjects, access: Access, place: ServingPlace
) -> uvicorn.Config:
    # Nothing of a request goes into a log: addresses and errors may hold cells.
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi"):
        logging.getLogger(name).disabled = True
    config = uvicorn.Config(
        StudioApplication(projects, access).app(),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=1,
        ssl_certfile=None if place.certificate is None else str(place.certificate),
        ssl_keyfile=None if place.key is None else str(place.key),
    )
    try:
        config.load()
    except (OSError, ssl.SSLError):
        raise UsageError(
            "The certificate and its key cannot be used.",
            hint="Give PEM files with --tls-cert and --tls-key.",
        ) from None
    return config
