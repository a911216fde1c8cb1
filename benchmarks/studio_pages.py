"""A million rows in the studio: opened, paged through while a candidate runs, released."""

from __future__ import annotations

import http.client
import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import numpy as np

from benchmarks.measure import Facts, Job
from benchmarks.places import environment, program, scratch, synthetic_csv
from benchmarks.sources import QUASI

REQUESTS = 200
PAGES = ("/data?page={}", "/columns", "/hierarchies", "/protection", "/compare")
FIELD = re.compile(r'name="(change|revision)" value="([^"]*)"')


@dataclass
class StudioClient:
    """A browser without a window."""

    address: str
    cookie: str = ""
    seconds: list[float] = field(default_factory=list)

    def ask(self, path: str, fields: dict[str, str] | None = None) -> str:
        """Ask for a page, or send a form; the time of pages is noted."""
        place = urlsplit(self.address)
        line = http.client.HTTPConnection(place.hostname or "", place.port, timeout=900)
        headers = {"Cookie": self.cookie, "Origin": f"http://{place.netloc}"}
        began = time.perf_counter()
        if fields is None:
            line.request("GET", path, headers=headers)
        else:
            line.request("POST", path, urlencode(fields), headers)
        answer = line.getresponse()
        text = answer.read().decode()
        if fields is None:
            self.seconds.append(time.perf_counter() - began)
        given = answer.getheader("set-cookie")
        self.cookie = given.split(";")[0] if given else self.cookie
        return text

    def send(self, path: str, **fields: str) -> None:
        """Send a form of the page that the path is under."""
        step = "/" + path.split("/")[1]
        self.ask(path, {**dict(FIELD.findall(self.ask(step))), **fields})

    def wait(self) -> None:
        """Wait for the running task."""
        while json.loads(self.ask("/task")).get("state") == "running":
            time.sleep(0.2)


@contextmanager
def _studio(folder: Path) -> Iterator[StudioClient]:
    """A studio of its own on a project folder."""
    words = [program("sfumato"), "studio", str(folder), "--no-browser"]
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, text=True, env=dict(environment())
    )
    try:
        assert process.stdout is not None
        told = [process.stdout.readline() for _ in range(2)][1]
        address = told.removeprefix("Studio: ").strip()
        client = StudioClient(address)
        client.ask(urlsplit(address).path + "?" + urlsplit(address).query)
        yield client
    finally:
        process.terminate()
        process.wait(60)


def studio_pages(*, rows: int) -> Job:
    """Open a file, ask for 200 pages while a candidate runs, choose and release it."""
    folder = scratch() / f"studio-{rows}"

    def prepare() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
        shutil.copyfile(synthetic_csv(rows), folder / "people.csv")
        (folder / "policy.toml").write_text(_policy(), encoding="utf-8")

    def work() -> Facts:
        with _studio(folder) as client:
            return _walk(client)

    return Job(work=work, facts=lambda found: found, prepare=prepare, commands=True)


def _policy() -> str:
    columns = "".join(f'[columns.{name}]\nrole = "quasi"\n' for name in QUASI)
    return (
        'version = 1\n[data]\npath = "people.csv"\n'
        f'{columns}[columns.disease]\nrole = "sensitive"\n'
        '[[require]]\nmodel = "k-anonymity"\nk = 5\n'
        '[compare]\nalgorithms = ["mondrian"]\n'
    )


def _walk(client: StudioClient) -> Facts:
    began = time.perf_counter()
    client.ask("/data")
    opened = time.perf_counter() - began
    for page in PAGES:
        client.ask(page.format(1))
    client.send("/compare/run")
    client.seconds = []
    draws = np.random.default_rng(1).integers(1, 20_000, REQUESTS)
    for number, page in enumerate(draws):
        client.ask(PAGES[number % len(PAGES)].format(page))
    times = list(client.seconds)
    client.wait()
    client.send("/compare/choose", number="1")
    client.wait()
    client.send("/columns/confirm", **_fields(client.ask("/columns")))
    client.send("/release/sign", approver="benchmark")
    client.wait()
    released = "Proven again" in client.ask("/release")
    return {
        "first page, seconds": opened,
        "median page while running, seconds": float(np.median(times)),
        "95th percentile, seconds": float(np.quantile(times, 0.95)),
        "released": float(released),
    }


def _fields(page: str) -> dict[str, str]:
    """The selects of a page with what is chosen in each."""
    found = {}
    for name, inside in re.findall(r'<select name="([^"]+)".*?>(.*?)</select>', page):
        chosen = re.search(r'<option(?: value="([^"]*)")? selected>([^<]*)', inside)
        found[name] = "" if chosen is None else chosen[1] or chosen[2]
    return found
