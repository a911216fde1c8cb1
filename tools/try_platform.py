"""Run the wheel of another platform, and compare what it releases with this machine's.

Usage: python -m tools.try_platform PLATFORM [--rows 200] [--only NAME]… -- COMMAND…

COMMAND starts a Python of that platform, through an emulator or a loader:

    python -m tools.try_platform linux-arm64 -- \
        qemu-aarch64-static -L ROOT ROOT/usr/bin/python3.11

where ROOT has the unpacked packages of Debian's Python 3.11 for arm64. The wheel is
built, installed beside its dependencies in a temporary directory, and releases what
`tools.same_results` asks for, of every algorithm that takes a seed, or of those named by
`--only`: an emulator is slow. Ends with 1 where a byte differs.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tools import wheel as wheels
from tools.library.targets import TARGETS
from tools.same_results import released, seeded, unequal

ROOT = Path(__file__).resolve().parents[1]
ASKED = (
    "import json, sys; "
    "from sfumato.kernels.compilation import library; "
    "print(json.dumps([str(library.usable().path), 'numba' in sys.modules]))"
)
VERSION = "import sys; print('%d.%d' % sys.version_info[:2])"
C_LIBRARIES = {
    "manylinux_2_17": ("manylinux_2_17", "manylinux_2_28", "manylinux2014"),
    "musllinux_1_2": ("musllinux_1_2", "musllinux_1_1"),
}
"""What the wheels of dependencies may ask for instead of what ours asks for."""


def install(platform: str, version: str, place: Path) -> None:
    """Install the wheel of a platform and its dependencies, without running them."""
    wheel = wheels.build(place, platform)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
    chosen = [word for tag in tags(platform) for word in ("--platform", tag)]
    words = ["--only-binary=:all:", "--python-version", version, *chosen]
    words.append("--no-warn-conflicts")  # with packages of this machine's Python
    target = ["--target", str(place / "site"), f"{wheel}"]
    subprocess.run([*pip, "install", "-q", *words, *target], check=True)


def tags(platform: str) -> list[str]:
    """The platforms that wheels for a platform name."""
    ours = TARGETS[platform].wheel
    found = re.fullmatch(r"((?:many|musl)linux_\d+_\d+)_(\w+)", ours)
    if found is None:
        return [ours]
    return [f"{name}_{found[2]}" for name in C_LIBRARIES[found[1]]]


def answer(command: Sequence[str], program: str, settings: dict[str, str]) -> str:
    """What a program prints in the other Python."""
    done = subprocess.run(
        [*command, "-c", program],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {done.stderr}")
    return done.stdout.strip()


def main(words: Sequence[str]) -> int:
    """Install, run and compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("platform", choices=TARGETS)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--only", action="append", choices=seeded())
    parser.add_argument("command", nargs="+")
    told = parser.parse_args(words)
    names = told.only or seeded()
    with tempfile.TemporaryDirectory(prefix="sfumato-platform-") as name:
        install(told.platform, answer(told.command, VERSION, {}), Path(name))
        # At once: the emulator takes long, and the sources here may change meanwhile.
        here = released(told.rows, names, {})
        paths = {"PYTHONPATH": os.pathsep.join([f"{name}/site", str(ROOT)])}
        library, has_numba = json.loads(answer(told.command, ASKED, paths))
        print(f"{Path(library).relative_to(name)} serves; Numba: {has_numba}")
        there = released(told.rows, names, paths, told.command)
    return int(bool(unequal(f"here and {told.platform}", here, there)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
