"""Build the wheel of a platform: the package, with a library of compiled kernels in it.

Usage: python -m tools.wheel [--out build/wheels] [--for PLATFORM|all]…

The library is built if it is not there (`tools.library.build`). The wheel serves every
Python from 3.11 on: its tag is py3-none-PLATFORM.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from tools.library import entry_points
from tools.library.build import build as build_libraries
from tools.library.targets import TARGETS, here

ROOT = Path(__file__).resolve().parents[1]
LIBRARIES = ROOT / "build" / "library"
GLIBC = re.compile(rb"GLIBC_2\.(\d+)")


def build(out: Path, platform: str) -> Path:
    """Build one wheel from a copy of the sources; nothing else is left behind."""
    (library,) = build_libraries(LIBRARIES, [platform], entry_points.read())
    with tempfile.TemporaryDirectory(prefix="sfumato-wheel-") as name:
        copy = Path(name) / "sources"
        _copy_sources(copy)
        shutil.copytree(library.parent, copy / "src" / "sfumato" / "library" / platform)
        settings = f"[bdist_wheel]\nplat_name = {wheel_tag(platform, library)}\n"
        (copy / "setup.cfg").write_text(settings, encoding="utf-8")
        _run_pip(copy, Path(name))
        made = next(Path(name).glob("*.whl"))
        check_places(made, [ROOT, Path(name)])
        out.mkdir(parents=True, exist_ok=True)
        return Path(shutil.move(made, out / made.name))


def check_places(wheel: Path, places: Iterable[Path]) -> None:
    """Refuse a wheel that names a directory of the machine that made it."""
    with zipfile.ZipFile(wheel) as packed:
        contents = {name: packed.read(name) for name in packed.namelist()}
    for place in places:
        holding = [name for name, held in contents.items() if _names(held, place)]
        if holding:
            raise SystemExit(f"{wheel.name} names {place} in {', '.join(holding)}.")


def _names(contents: bytes, place: Path) -> bool:
    return f"{place}{os.sep}".encode() in contents


def _copy_sources(place: Path) -> None:
    place.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, place / name)
    unwanted = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "src", place / "src", ignore=unwanted)


def wheel_tag(platform: str, library: Path) -> str:
    """The platform of a wheel: with glibc, the oldest version that the library loads on.

    A library that this machine's compiler linked may need a newer one than Zig's.
    """
    tag = TARGETS[platform].wheel
    needed = [int(version) for version in GLIBC.findall(library.read_bytes())]
    if not tag.startswith("manylinux"):
        return tag
    return re.sub(r"_2_\d+_", f"_2_{max([17, *needed])}_", tag)


def _run_pip(sources: Path, out: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
    words = [*pip, "wheel", "-q", "--no-deps", "-w", str(out), str(sources)]
    done = subprocess.run(words, cwd=out, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(words)}\n{done.stdout}{done.stderr}")


def main(words: Sequence[str]) -> None:
    """Build wheels and print their sizes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "wheels")
    parser.add_argument("--for", dest="platforms", action="append", default=[])
    told = parser.parse_args(words)
    platforms = [*TARGETS] if "all" in told.platforms else told.platforms or [here()]
    build_libraries(LIBRARIES, platforms, entry_points.read())  # all at once: sooner
    for platform in platforms:
        made = build(told.out.resolve(), platform)
        print(f"{made}: {made.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(sys.argv[1:])
