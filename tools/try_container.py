"""Run the steps of the Dockerfile in clean directories, without Docker.

Usage: python -m tools.try_container [--python python3.13]

Each stage is a directory with a virtual environment of its own. `COPY` copies, `RUN` runs
in a shell that finds the stage's programs first, and at the end the entry point runs the
demo as the user of the Dockerfile, with every file of the stage read-only, without a home.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass
class Stage:
    """A stage of the build: its directory, and what it sets."""

    root: Path
    settings: dict[str, str] = field(default_factory=dict)
    user: int | None = None
    entry: Sequence[str] = ()

    @property
    def environment(self) -> dict[str, str]:
        """What its commands see: its own programs first, and no home."""
        path = f"{self.root / 'python' / 'bin'}{os.pathsep}{os.environ['PATH']}"
        kept = {k: v for k, v in os.environ.items() if k.startswith(("PIP_", "SSL_"))}
        return {**kept, **self.settings, "PATH": path, "LANG": "C.UTF-8"}


def steps(text: str) -> list[tuple[str, str]]:
    """The instructions of a Dockerfile, comments left out."""
    lines = text.replace("\\\n", " ").splitlines()
    kept = (line.strip() for line in lines if line.strip() and line[0] != "#")
    return [(line.split()[0], line.partition(" ")[2].strip()) for line in kept]


def take(steps: Sequence[tuple[str, str]], place: Path, python: str) -> Stage:
    """Take all steps; the last stage."""
    stages: dict[str, Stage] = {}
    stage, everything = Stage(place), dict(os.environ)
    for word, rest in steps:
        if word == "FROM":
            name = rest.partition(" AS ")[2] or "last"
            stage = stages[name] = Stage(place / name)
            run([python, "-m", "venv", str(stage.root / "python")], place, everything)
        elif word == "COPY":
            copy(rest.split(), stage, stages)
        elif word == "RUN":
            run(["sh", "-c", rest], stage.root, stage.environment)
        elif word == "ENV":
            name, _, value = rest.partition("=")
            stage.settings[name] = value
        elif word == "USER":
            stage.user = int(rest.partition(":")[0])
        elif word == "ENTRYPOINT":
            stage.entry = json.loads(rest)
    return stage


def copy(words: Sequence[str], stage: Stage, stages: dict[str, Stage]) -> None:
    """Copy from the repository, as git has it, or from another stage."""
    if words[0].startswith("--from="):
        source = stages[words[0].removeprefix("--from=")]
        shutil.copytree(source.root / Path(words[1]).name, stage.root / words[2])
        return
    listed = run(["git", "ls-files"], ROOT, dict(os.environ)).split("\n")
    for name in filter(None, listed):
        if (ROOT / name).exists():
            (stage.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, stage.root / name)


def run(words: Sequence[str], place: Path, environment: Mapping[str, str]) -> str:
    """Run a command that must end with 0; what it printed."""
    done = subprocess.run(
        words, cwd=place, env=environment, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout


def try_demo(stage: Stage, place: Path) -> str:
    """Run the demo as the container would; what it printed."""
    data = place / "data"
    data.mkdir()
    program = str(stage.root / "python" / "bin" / stage.entry[0])
    run(["chmod", "-R", "a-w,a+rX", str(stage.root)], place, dict(os.environ))
    user = stage.user if os.getuid() == 0 else None
    if user is not None:
        os.chown(data, user, user)
    done = subprocess.run(
        [program, *stage.entry[1:], "demo"],
        cwd=data,
        env={**stage.environment, "HOME": str(place / "no-home")},
        capture_output=True,
        text=True,
        user=user,
        group=user,
    )
    if done.returncode != 0 or "Compiling" in done.stderr:
        raise SystemExit(f"The demo ended with {done.returncode}: {done.stderr}")
    return done.stdout


def main(words: Sequence[str]) -> None:
    """Take the steps, run the demo, and print what it said."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable)
    told = parser.parse_args(words)
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="sfumato-container-") as name:
        Path(name).chmod(0o755)
        print(try_demo(take(steps(text), Path(name), told.python), Path(name)))


if __name__ == "__main__":
    main(sys.argv[1:])
