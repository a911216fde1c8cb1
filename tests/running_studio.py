"""A studio on the loopback address that a test starts, asks, and stops."""

from __future__ import annotations

import http.client
import re
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from sfumato.studio.access import Access
from sfumato.studio.serving import ServingPlace, serve
from sfumato.studio.studio_projects import StudioProjects
from sfumato.studio.workspace import Workspace


@dataclass(frozen=True)
class Answer:
    """What came back of a request."""

    status: int
    headers: Mapping[str, str]
    text: str


@dataclass
class RunningStudio:
    """A studio, and a client that may or may not have its cookie."""

    access: Access
    projects: StudioProjects
    cookie: str = ""
    sent: dict[str, str] = field(default_factory=dict)
    trusted: ssl.SSLContext | None = None
    """What the client trusts, where the studio has a certificate."""

    @property
    def space(self) -> Workspace:
        return self.projects.current

    @property
    def root(self) -> Path:
        return self.space.folder.root

    def ask(
        self,
        path: str,
        *,
        method: str = "GET",
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send one request; headers take the place of the usual ones."""
        line = self._line()
        usual = {"Cookie": self.cookie, **self.sent}
        if method == "POST":
            usual["Origin"] = self.access.origin
        given = {**usual, **(headers or {})}
        line.request(method, path, body, {k: v for k, v in given.items() if v})
        got = line.getresponse()
        told = {name.lower(): value for name, value in got.getheaders()}
        answer = Answer(got.status, told, got.read().decode())
        line.close()
        return answer

    def _line(self) -> http.client.HTTPConnection:
        host, port = self.access.host, self.access.port
        if self.trusted is None:
            return http.client.HTTPConnection(host, port, timeout=60)
        return http.client.HTTPSConnection(host, port, timeout=60, context=self.trusted)

    def enter(self) -> None:
        """Exchange the token for the cookie, as the browser does."""
        path = self.access.address.removeprefix(self.access.origin)
        self.cookie = self.ask(path).headers["set-cookie"].split(";")[0]

    def send(self, path: str, /, **fields: object) -> Answer:
        """Send a form as a page of the studio would."""
        own = {"change": self.access.change_token}
        own["revision"] = self.space.history.revision()
        text = urlencode({**own, **fields}, doseq=True)
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        return self.ask(path, method="POST", body=text.encode(), headers=kind)

    def upload(self, name: str, content: bytes, **fields: str) -> Answer:
        """Send a file as a page of the studio would."""
        told = {"change": self.access.change_token, **fields}
        parts = [
            f'--edge\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n'.encode()
            for k, v in told.items()
        ]
        head = (
            f'--edge\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
            "Content-Type: text/csv\r\n\r\n"
        )
        body = b"".join([*parts, head.encode(), content, b"\r\n--edge--\r\n"])
        kind = {"Content-Type": "multipart/form-data; boundary=edge"}
        return self.ask("/data/upload", method="POST", body=body, headers=kind)

    def wait(self) -> None:
        """Wait for the running task."""
        task = self.space.tasks.current
        assert task is None or task.ended.wait(300)

    def title(self, path: str) -> str:
        found = re.search(r"<h1>(.*?)</h1>", self.ask(path).text)
        return found[1] if found else ""


def confirm_roles(studio: RunningStudio) -> None:
    """Confirm the roles and kinds that the policy has."""
    policy = studio.space.require_policy()
    names = studio.space.source(policy).column_names
    roles = {f"role-{i}": str(policy.role(n) or "drop") for i, n in enumerate(names)}
    kinds = {f"kind-{i}": str(policy.column(n).kind or "") for i, n in enumerate(names)}
    studio.send("/columns/confirm", **roles, **kinds)


@contextmanager
def running_studio(
    home: Path,
    given: Path | None = None,
    *,
    most_bytes: int = 10_000_000,
    place: ServingPlace | None = None,
) -> Iterator[RunningStudio]:
    """Serve a studio on a free port until the block ends."""
    projects = StudioProjects.of(given, home=home, most_bytes=most_bytes)
    stop, there, told = threading.Event(), threading.Event(), []

    def ready(access: Access) -> None:
        told.append(access)
        there.set()

    thread = threading.Thread(
        target=serve,
        args=(projects, place or ServingPlace(), ready, stop),
        daemon=True,
    )
    thread.start()
    assert there.wait(60)
    try:
        yield RunningStudio(told[0], projects)
    finally:
        stop.set()
        thread.join(30)
