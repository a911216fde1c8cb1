"""The first use of the installed wheel: no cache, no Numba, nothing compiled.

First and later uses are compared by CPU seconds, which other programs on the machine
disturb least.

A wheel is built from these sources and installed into an environment of its own, once for
a run of the benchmarks.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.every_entry import first_use_program
from benchmarks.measure import Facts, Job, command
from benchmarks.places import environment, scratch
from tools.try_wheel import POLICY, table

ROOT = Path(__file__).resolve().parents[1]
MEGABYTE = 1e6
AGAIN = 3
"""Uses after the first; the fastest counts."""


def first_use(*, algorithm: str) -> Job:
    """A first small release in a new process, and how much sooner the next is done."""
    program = first_use_program(algorithm, scratch())
    words = [str(installed() / "bin" / "python"), "-c", program]
    settings = _without_a_home()
    return Job(
        work=lambda: _cpu_seconds(words, settings),
        facts=lambda first: _compared(words, settings, first),
        commands=True,
    )


def _without_a_home() -> Mapping[str, str]:
    nowhere = str(scratch() / "no-home")
    return environment(HOME=nowhere, XDG_CACHE_HOME=nowhere, SFUMATO_LIBRARY="")


def _cpu_seconds(words: Sequence[str], settings: Mapping[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command(words, environment=settings)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _compared(words: Sequence[str], settings: Mapping[str, str], first: float) -> Facts:
    again = min(_cpu_seconds(words, settings) for _ in range(AGAIN))
    return {
        "second_use_cpu_seconds": again,
        "first_minus_second_cpu_seconds": first - again,
    }


def small_command(*, command: str) -> Job:
    """A command of the installed wheel on a small table, its first run and others."""
    place = scratch() / "small"
    place.mkdir(exist_ok=True)
    (place / "people.csv").write_text(table(), encoding="utf-8")
    (place / "policy.toml").write_text(POLICY, encoding="utf-8")
    program = [str(installed() / "bin" / "python"), "-m", "sfumato"]
    made = ["anonymize", str(place / "policy.toml"), "--out", str(place / "out")]
    checked = ["check", str(place / "people.csv"), "--quasi", "disease", "--k", "2"]
    words = [*program, *{"anonymize": made, "check": checked}[command]]
    taken: list[float] = []
    return Job(
        work=lambda: taken.append(_cpu_seconds(words, _without_a_home())),
        facts=lambda _: {"first_cpu_seconds": taken[0]},
        commands=True,
        prepare=lambda: shutil.rmtree(place / "out", ignore_errors=True),
    )


def installed() -> Path:
    """An environment with the wheel, OpenDP and no Numba, made once."""
    place = scratch() / "installed"
    if not place.exists():
        draft = scratch() / "installing"
        _call([sys.executable, "-m", "tools.wheel", "--out", str(scratch())])
        _call([sys.executable, "-m", "venv", str(draft)])
        pip = [str(draft / "bin" / "python"), "-m", "pip", "install", "-q"]
        _call([*pip, f"{_wheel()}[dp]"])
        draft.rename(place)
    return place


def _wheel() -> Path:
    return next(scratch().glob("sfumato-*.whl"))


def _call(words: Sequence[str]) -> None:
    subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def install_wheel() -> Job:
    """Installing the wheel with its dependencies; sizes of both."""
    installed()
    place = scratch() / "size"
    words = [sys.executable, "-m", "pip", "install", "-q", "--target", str(place)]
    return Job(
        work=lambda: command([*words, str(_wheel())], environment=environment()),
        facts=lambda _: {
            "wheel_megabytes": _wheel().stat().st_size / MEGABYTE,
            "package_megabytes": _size(place / "sfumato"),
            "installation_megabytes": _size(place),
        },
        commands=True,
        prepare=lambda: shutil.rmtree(place, ignore_errors=True),
    )


def clone_to_demo() -> Job:
    """From a fresh clone, with nothing in it, to the end of `make demo`."""
    place = scratch() / "clone"

    def clone() -> None:
        shutil.rmtree(place, ignore_errors=True)
        _call(["git", "clone", "-q", str(ROOT), str(place)])

    return Job(
        work=lambda: command(
            ["make", "-C", str(place), "demo"], environment=environment()
        ),
        commands=True,
        prepare=clone,
    )


def _size(place: Path) -> float:
    files = (path for path in place.rglob("*") if path.is_file())
    return sum(path.stat().st_size for path in files) / MEGABYTE
