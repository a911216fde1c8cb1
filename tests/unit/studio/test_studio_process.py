"""The command in a process of its own: what it prints, and how it dies."""

from __future__ import annotations

import http.client
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode, urlsplit

CELL = "Quisling-4711"
"""A cell that must not be printed."""
PATIENCE = 120_000
"""Milliseconds that the end of a process may take on a busy machine."""


@dataclass
class Client:
    """A browser without a window, on a studio in another process."""

    process: subprocess.Popen[str]
    address: str
    printed: list[str]
    cookie: str = ""
    fields: dict[str, str] = field(default_factory=dict)

    def ask(self, path: str, **fields: str) -> tuple[int, str]:
        """Ask for a page, or send a form."""
        place = urlsplit(self.address)
        line = http.client.HTTPConnection(place.hostname or "", place.port, timeout=120)
        headers = {"Cookie": self.cookie, "Origin": f"http://{place.netloc}"}
        if fields:
            body = urlencode({**self.fields, **fields})
            line.request("POST", path, body, headers)
        else:
            line.request("GET", path, headers=headers)
        answer = line.getresponse()
        text = answer.read().decode()
        given = answer.getheader("set-cookie")
        self.cookie = given.split(";")[0] if given else self.cookie
        for name in ("change", "revision"):
            lead = f'name="{name}" value="'
            if lead in text:
                self.fields[name] = text.split(lead)[1].split('"')[0]
        return answer.status, text


@contextmanager
def studio(folder: Path, *words: str) -> Iterator[Client]:
    """The command, until the block ends."""
    process = subprocess.Popen(
        [sys.executable, "-m", "sfumato", "studio", "--no-browser", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    try:
        printed = [process.stdout.readline() for _ in range(3)]
        client = Client(process, printed[1].removeprefix("Studio: ").strip(), printed)
        client.ask(client.address.removeprefix(client.address.split("/enter")[0]))
        yield client
    finally:
        process.kill()
        process.wait()


def children(process_id: int) -> list[int]:
    """The processes that a process started, and those that they started."""
    found = []
    for task in Path(f"/proc/{process_id}/task").iterdir():
        for text in (task / "children").read_text().split():
            found += [int(text), *children(int(text))]
    return found


def test_workers_die_with_a_studio_that_is_killed(tmp_path):
    with studio(tmp_path) as client:
        client.ask("/data")
        client.ask("/data/example", example="1")
        client.ask("/compare")
        assert client.ask("/compare/run", run="1")[0] == 303
        workers = children(client.process.pid)
        assert workers
        handles = [os.pidfd_open(each) for each in workers]
        client.process.kill()
        client.process.wait()
        for handle in handles:
            waiting = select.poll()
            waiting.register(handle, select.POLLIN)
            assert waiting.poll(PATIENCE), "A worker outlived the studio."
            os.close(handle)


def test_nothing_that_is_printed_has_a_cell(tmp_path):
    rows = "".join(f"{CELL},{age}\n" for age in range(30))
    (tmp_path / "people.csv").write_text(f"name,age\n{rows}", encoding="utf-8")
    with studio(tmp_path, "people.csv") as client:
        client.ask("/data")
        assert client.ask("/data/choose", file="people.csv")[0] == 303
        while '"running"' in client.ask("/task")[1]:
            pass
        assert CELL in client.ask("/data")[1]
        for path in (f"/columns?values={CELL}", f"/{CELL}", f"/data?page={CELL}"):
            client.ask(path)
        client.ask("/data/choose", file=CELL)
        client.ask("/hierarchies/group", column="name", value=CELL, label=CELL)
        client.ask("/attacks/lookup", **{"person-0": CELL})
        client.process.send_signal(signal.SIGINT)
        assert client.process.wait(PATIENCE / 1000) == 0
        assert client.process.stdout is not None
        rest = client.process.stdout.read()
    assert CELL not in rest
    assert "Traceback" not in rest
    assert len(client.printed) == 3


def test_a_second_studio_on_the_same_folder_sees_every_change(tmp_path):
    with studio(tmp_path) as one, studio(tmp_path) as two:
        assert one.printed[0] == two.printed[0]
        for client in (one, two):
            client.ask("/data")
        assert one.ask("/data/example", example="1")[0] == 303
        status, text = two.ask("/data/example", example="1")
        assert status == 409
        assert "changed in another tab or outside the studio" in text
        assert "3,000 rows" in two.ask("/data")[1]
