"""A process that judges cases, watched from outside so that a hang is found."""

from __future__ import annotations

import multiprocessing
import os
import re
import time
from dataclasses import dataclass, field, fields
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from tests.fuzz.cases import Case

PATIENCE = 0.5
WALL = 10.0
"""A process that waits for nothing is given up after so many times its limit."""


@dataclass
class Answer:
    """How a case ended, as told by the process that ran it."""

    code: int
    reason: str = ""
    findings: list[str] = field(default_factory=list)
    unproven: list[str] = field(default_factory=list)

    @property
    def ending(self) -> str:
        """A line to count it under."""
        if self.code == 0:
            return "released"
        return f"exit {self.code}: {_without_numbers(self.reason)}"


def _without_numbers(reason: str) -> str:
    told = re.sub(r'^(Error:|"message":) "?', "", reason)
    return re.sub(r"'[^']*'|\b\d[\d.e+-]*", "…", told)[:90]


class Worker:
    """One process at a time; a new one after a hang or a crash."""

    def __init__(self, *, seconds: float) -> None:
        self.seconds = seconds
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None

    def ask(self, case: Case) -> Answer:
        """Have a case judged within the limit of work."""
        pipe = self._ready()
        pipe.send(case)
        started, spent = time.monotonic(), self._spent()
        while not pipe.poll(PATIENCE):
            if not self._alive():
                return self._given_up("the process died")
            worked = self._spent() - spent
            if (
                worked > self.seconds
                or time.monotonic() - started > WALL * self.seconds
            ):
                return self._given_up("hangs")
        try:
            return Answer(**pipe.recv())
        except EOFError:
            return self._given_up("the process died")

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._process = self._pipe = None

    def _ready(self) -> Connection:
        if self._pipe is None or not self._alive():
            context = multiprocessing.get_context("spawn")
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(target=serve, args=(theirs,), daemon=True)
            self._process.start()
            theirs.close()
        return self._pipe

    def _alive(self) -> bool:
        return self._process is not None and self._process.is_alive()

    def _given_up(self, what: str) -> Answer:
        self.end()
        return Answer(-1, what, [what])

    def _spent(self) -> float:
        """Seconds of work so far; where the system does not tell, of the clock."""
        pid = None if self._process is None else self._process.pid
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return time.monotonic()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def serve(pipe: Connection) -> None:
    """Judge what comes, until nobody asks any more."""
    from tests.fuzz.judge import judge

    while True:
        try:
            case = pipe.recv()
        except (EOFError, ConnectionError):
            return
        try:
            pipe.send(answer_of(judge(case)))
        except Exception as fault:
            pipe.send(_broken(fault))


def answer_of(ending: Any) -> dict[str, object]:
    """What of an ending is told to the process that watches."""
    return {each.name: getattr(ending, each.name) for each in fields(Answer)}


def _broken(fault: Exception) -> dict[str, object]:
    """A fault of the fuzz itself, or a file that cannot be read back."""
    import traceback

    where = traceback.extract_tb(fault.__traceback__)[-1]
    place = f"{Path(where.filename).name}:{where.lineno}"
    what = f"judging failed: {type(fault).__name__} in {place}"
    return {"code": -2, "reason": what, "findings": [what]}
