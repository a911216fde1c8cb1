"""Build the wheel and try it in clean environments, with lowest and newest
dependencies.

Python 3.11 gets the lowest and the newest versions that `pyproject.toml` allows; a newer
Python, where an interpreter is present, gets the newest ones. Constraints of ours have
no say. Each environment answers `--help`, a typo and `list`, runs the demo, releases a
small table, checks the release and serves a page of the studio (the one extra that is
installed), from a directory that is not the repository. None has Numba: kernels are those
of the library in the wheel.

Usage: python -m tools.try_wheel
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.request import HTTPCookieProcessor, build_opener

from tools import wheel as wheels
from tools.library.targets import here

ROOT = Path(__file__).resolve().parents[1]
OLDEST = (3, 11)
NEWEST = (3, 19)
"""Minor versions above this one are not looked for."""
POLICY = """\
[data]
path = "people.csv"
[columns]
age = { role = "quasi" }
zip = { role = "quasi", kind = "code", hierarchy = { prefix = [3, 2, 1] } }
disease = { role = "sensitive" }
[[require]]
model = "k-anonymity"
k = 4
[algorithm]
name = "datafly"
"""
SAID_BY_VERSIONS = (
    "import importlib.metadata as m, json, sys; "
    "print(json.dumps({n: m.version(n) for n in sys.argv[1:]}))"
)


@dataclass(frozen=True)
class Trial:
    """One clean environment: an interpreter, and which end of the ranges it gets."""

    python: str
    version: tuple[int, int]
    end: str

    @property
    def name(self) -> str:
        """What is printed of it."""
        return f"Python {self.version[0]}.{self.version[1]}, {self.end} versions"


@dataclass(frozen=True)
class Expected:
    """A command line, its exit code, and a text that it has to print."""

    words: Sequence[str]
    code: int
    text: str


COMMANDS = (
    Expected(["--help"], 0, "anonymize"),
    Expected([], 2, "anonymize"),
    Expected(["lst"], 2, "No such command"),
    Expected(["check", "--k", "five"], 2, "--k"),
    Expected(["list", "no-such-part"], 2, "no-such-part"),
    Expected(["list"], 0, "datafly"),
    Expected(["doctor"], 0, "compiled ahead of time"),
    Expected(["demo"], 0, "prove it again"),
    Expected(["init", "people.csv", "-o", "proposed.toml"], 0, "proposed.toml"),
    Expected(["anonymize", "policy.toml"], 0, "k-anonymity"),
    Expected(
        ["check", "release/data.csv", "--policy", "policy.toml"], 0, "requirement holds"
    ),
)


def dependencies() -> list[str]:
    """The requirements of the package and of its studio, as `pyproject.toml` has them."""
    document = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = document["project"]
    return [*project["dependencies"], *project["optional-dependencies"]["studio"]]


def lowest(requirement: str) -> str:
    """The same requirement at its lower end: `numpy>=2.0,<3` → `numpy==2.0`."""
    name, version = re.fullmatch(r"([\w-]+)>=([\d.]+),<[\d.]+", requirement).groups()  # type: ignore[union-attr]
    return f"{name}=={version}"


def trials() -> Iterator[Trial]:
    """The environments that this machine can make."""
    oldest = interpreter(OLDEST)
    if oldest is not None:
        yield Trial(oldest, OLDEST, "lowest")
        yield Trial(oldest, OLDEST, "newest")
    for minor in range(NEWEST[1], OLDEST[1], -1):
        newer = interpreter((3, minor))
        if newer is not None:
            yield Trial(newer, (3, minor), "newest")
            return


def interpreter(version: tuple[int, int]) -> str | None:
    """A Python of this version that can make environments, from PATH or from pyenv."""
    name = f"python{version[0]}.{version[1]}"
    beside = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    kept = sorted(beside.glob(f"{version[0]}.{version[1]}.*/bin/{name}"))
    for found in (sys.executable, shutil.which(name), *map(str, kept)):
        if found is not None and _is(found, version):
            return found
    return None


def _is(python: str, version: tuple[int, int]) -> bool:
    asked = "import sys, venv, ensurepip; print(*sys.version_info[:2])"
    run = subprocess.run([python, "-c", asked], capture_output=True, text=True)
    return run.returncode == 0 and run.stdout.split() == [str(n) for n in version]


def run(words: Sequence[str], place: Path) -> str:
    """Run a command that must end with 0; give what it printed."""
    done = subprocess.run(words, cwd=place, capture_output=True, text=True, env=clean())
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout


def clean() -> dict[str, str]:
    """The environment without what would let other packages or settings in."""
    ours = (
        "PYTHONPATH",
        "PYTHONHOME",
        "VIRTUAL_ENV",
        "PIP_CONSTRAINT",
        "SFUMATO_LIBRARY",
    )
    return {name: text for name, text in os.environ.items() if name not in ours}


def attempt(trial: Trial, wheel: Path, place: Path) -> list[str]:
    """Install the wheel and run every command; give what went wrong."""
    place.mkdir()
    run([trial.python, "-m", "venv", "environment"], place)
    python = str(place / "environment" / "bin" / "python")
    pip = [python, "-m", "pip", "--disable-pip-version-check", "--no-input"]
    wanted = [lowest(each) for each in dependencies()] if trial.end == "lowest" else []
    run([*pip, "install", "-q", f"{wheel}[studio]", *wanted], place)
    (place / "policy.toml").write_text(POLICY, encoding="utf-8")
    (place / "people.csv").write_text(table(), encoding="utf-8")
    faults = [fault for each in COMMANDS for fault in judge(each, place)]
    faults.extend(judge_studio(place))
    if "numba" in run([*pip, "list"], place):
        faults.append("Numba was installed")
    return faults


def table() -> str:
    """A small table of invented persons."""
    rows = (f"{20 + i % 50},{1000 + i % 90},D{i % 4}\n" for i in range(200))
    return "age,zip,disease\n" + "".join(rows)


def judge(expected: Expected, place: Path) -> Iterator[str]:
    """Run one command line of the product; say how it differs from what is expected."""
    program = str(place / "environment" / "bin" / "sfumato")
    done = subprocess.run(
        [program, *expected.words],
        cwd=place,
        capture_output=True,
        text=True,
        env=clean(),
    )
    said = done.stdout + done.stderr
    if done.returncode != expected.code:
        yield f"{expected.words} ended with {done.returncode}, not {expected.code}"
        yield said
    elif expected.text not in said or "Traceback" in said:
        yield f"{expected.words} did not say '{expected.text}'"
        yield said


def judge_studio(place: Path) -> Iterator[str]:
    """Serve the studio, open its first page with the printed address, and end it."""
    program = str(place / "environment" / "bin" / "sfumato")
    words = [program, "studio", "people.csv", "--no-browser"]
    with subprocess.Popen(
        words, cwd=place, stdout=subprocess.PIPE, text=True, env=clean()
    ) as serving:
        assert serving.stdout is not None
        told = (re.match(r"Studio: (\S+)", line) for line in serving.stdout)
        address = next((found[1] for found in told if found), None)
        if address is None:
            yield "the studio printed no address"
            return
        browser = build_opener(HTTPCookieProcessor())
        with browser.open(address, timeout=60) as answer:
            if "people.csv" not in answer.read().decode():
                yield f"the studio did not show its table at {answer.url}"
        serving.send_signal(signal.SIGINT)
        if serving.wait(60) != 0:
            yield f"the studio ended with {serving.returncode}"


def versions(place: Path) -> str:
    """What was installed, in one line."""
    names = [re.split(r"[><=]", each)[0] for each in dependencies()]
    python = str(place / "environment" / "bin" / "python")
    found = json.loads(run([python, "-c", SAID_BY_VERSIONS, *names], place))
    return ", ".join(f"{name} {version}" for name, version in found.items())


def main() -> int:
    """Try every environment; print which ran, and end with 1 if one failed."""
    # What a shell starts in the background ignores interrupts, and so would the studio.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    failed = False
    with tempfile.TemporaryDirectory(prefix="sfumato-wheel-") as name:
        directory = Path(name)
        wheel = wheels.build(directory, here())
        made = list(trials())
        places = [directory / str(number) for number in range(len(made))]
        with ThreadPoolExecutor(2) as pool:
            found = list(pool.map(attempt, made, [wheel] * len(made), places))
        for trial, place, faults in zip(made, places, found, strict=True):
            print(f"{trial.name}: {'FAILED' if faults else 'works'}")
            print(f"  {versions(place)}")
            print(*faults, sep="\n", end="\n" if faults else "")
            failed = failed or bool(faults)
    if not made:
        print("No interpreter that can make environments was found.")
    return int(failed or not made)


if __name__ == "__main__":
    sys.exit(main())
