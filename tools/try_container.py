"""Run the steps of the Dockerfile in clean directories, without Docker.

Usage: python -m tools.try_container

Each stage is a directory with a copy of a Python of the version that the Dockerfile names,
or of this one where there is none. `COPY` copies what git has, `RUN` runs in a shell that
finds the stage's programs first. At the end the entry point runs as the user of the
Dockerfile, without a home, a cache or a network, and all files but the data directory are
read-only: the whole root file system where this machine lets us mount, else those of the
stage. It prints which of these it was.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tools.try_wheel import interpreter

ROOT = Path(__file__).resolve().parents[1]
NOT_COPIED = ("__pycache__", "site-packages", "dist-packages", "test", "config-*")
POLICY = "sfumato-demo/policy.toml"
COMMANDS = (
    (["doctor"], "compiled ahead of time"),
    (["demo"], "prove it again"),
    (["check", "sfumato-demo/release/data.csv", "--policy", POLICY], "holds"),
)
"""What is run in the container, and a text that it has to print."""
ENTER = """
mount --bind "$1" "$1" && mount -o remount,bind,ro / && cd "$1" || exit 125
user=$2
shift 2
exec setpriv --reuid "$user" --regid "$user" --clear-groups --no-new-privs "$@"
"""
"""Makes everything but a directory read-only, and runs a command as another user."""


@dataclass
class Stage:
    """A stage of the build: its directory, and what it sets."""

    root: Path
    settings: dict[str, str] = field(default_factory=dict)
    user: int = 0
    entry: Sequence[str] = ()

    @property
    def environment(self) -> dict[str, str]:
        """What its commands see: its own programs first, and no home."""
        python = self.root / "python"
        path = f"{python / 'bin'}{os.pathsep}{os.environ['PATH']}"
        own = {"PATH": path, "LD_LIBRARY_PATH": str(python / "lib"), "LANG": "C.UTF-8"}
        kept = {k: v for k, v in os.environ.items() if k.startswith(("PIP_", "SSL_"))}
        return {**kept, **self.settings, **own}


def steps(text: str) -> list[tuple[str, str]]:
    """The instructions of a Dockerfile, comments left out."""
    lines = text.replace("\\\n", " ").splitlines()
    kept = (line.strip() for line in lines if line.strip() and line[0] != "#")
    return [(line.split()[0], line.partition(" ")[2].strip()) for line in kept]


def take(steps: Sequence[tuple[str, str]], place: Path) -> Stage:
    """Take all steps; the last stage."""
    stages: dict[str, Stage] = {}
    stage = Stage(place)
    for word, rest in steps:
        if word == "FROM":
            image, _, name = rest.partition(" AS ")
            stage = stages[name or "last"] = Stage(place / (name or "last"))
            copy_python(image, stage)
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
        elif word != "WORKDIR":
            raise SystemExit(f"The Dockerfile has a step that is not tried: {word}.")
    return stage


def copy_python(image: str, stage: Stage) -> None:
    """Copy an interpreter with pip into a directory of its own, as an image has it."""
    asked = (
        "import json, sys; print(json.dumps([sys.base_prefix, *sys.version_info[:2]]))"
    )
    major, minor = map(int, re.findall(r"\d+", image)[:2])
    found = interpreter((major, minor)) or sys.executable
    prefix, major, minor = json.loads(run([found, "-c", asked], ROOT, os.environ))
    source, name = Path(prefix), f"python{major}.{minor}"
    program, files = Path("python", "bin", name), Path("lib", name)
    unwanted = shutil.ignore_patterns(*NOT_COPIED)
    shutil.copytree(source / files, stage.root / "python" / files, ignore=unwanted)
    for shared in (source / "lib").glob("libpython*.so*"):
        shutil.copy2(shared, stage.root / "python" / "lib" / shared.name)
    (stage.root / program).parent.mkdir()
    shutil.copy2(source / "bin" / name, stage.root / program)
    (stage.root / program.with_name("python")).symlink_to(name)
    words = [str(stage.root / program), "-m", "ensurepip", "--default-pip"]
    run(words, stage.root, stage.environment)
    print(f"{image}: a copy of Python {major}.{minor}")


def copy(words: Sequence[str], stage: Stage, stages: dict[str, Stage]) -> None:
    """Copy from the repository, as git has it, or from another stage."""
    if words[0].startswith("--from="):
        source = stages[words[0].removeprefix("--from=")]
        shutil.copytree(source.root / Path(words[1]).name, stage.root / words[2])
        return
    listed = run(["git", "ls-files"], ROOT, os.environ).split("\n")
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


def container(data: Path, user: int) -> list[str]:
    """How a command begins that runs in the container; empty where mounts are refused."""
    words = [
        "unshare",
        "--mount",
        "--net",
        "sh",
        "-c",
        ENTER,
        "sh",
        str(data),
        str(user),
    ]
    if os.getuid() != 0 or not all(map(shutil.which, ("unshare", "setpriv"))):
        return []
    tried = subprocess.run([*words, "true"], capture_output=True)
    return words if tried.returncode == 0 else []


def try_commands(stage: Stage, place: Path) -> None:
    """Run every command as the container would."""
    data = place / "data"
    data.mkdir()
    run(["chmod", "-R", "a-w,a+rX", str(stage.root)], place, os.environ)
    user = stage.user if os.getuid() == 0 else os.getuid()
    os.chown(data, user, -1)
    begin = container(data, user)
    print(
        f"User {user}, read-only {'root file system, no network' if begin else 'stage'}"
    )
    for words, text in COMMANDS:
        said = try_command([*begin, *program(stage), *words], stage, data)
        if text not in said or "Compiling" in said:
            raise SystemExit(f"{words} did not say '{text}', or compiled:\n{said}")
        print(f"{words[0]}: works")


def program(stage: Stage) -> list[str]:
    """The entry point of a stage, as a path."""
    first, *rest = stage.entry
    return [str(stage.root / "python" / "bin" / first), *rest]


def try_command(words: Sequence[str], stage: Stage, data: Path) -> str:
    """Run a command that must end with 0; all that it printed."""
    user = None if words[0] == "unshare" or os.getuid() != 0 else stage.user
    done = subprocess.run(
        words,
        cwd=data,
        env={**stage.environment, "HOME": "/nonexistent"},
        capture_output=True,
        text=True,
        user=user,
        group=user,
    )
    if done.returncode != 0:
        raise SystemExit(f"{words} ended with {done.returncode}: {done.stderr}")
    return done.stdout + done.stderr


def open_place() -> Path:
    """The temporary directory, if every user may enter it and what lies above it."""
    place = Path(tempfile.gettempdir())
    if all(above.stat().st_mode & 0o001 for above in (place, *place.parents)):
        return place
    raise SystemExit(f"{place} is closed to other users. Hint: set TMPDIR to another.")


def main() -> None:
    """Take the steps, run the commands, and print which worked."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    prefix = "sfumato-container-"
    with tempfile.TemporaryDirectory(prefix=prefix, dir=open_place()) as name:
        Path(name).chmod(0o755)
        try_commands(take(steps(text), Path(name)), Path(name))


if __name__ == "__main__":
    main()
