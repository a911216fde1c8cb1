"""Compile kernels ahead of time into one shared library per platform.

Usage: python -m tools.library.build [--out build/library] [--for PLATFORM|all]… [--demo]

Entry points are those of `entry_points.json`. They are compiled in as many processes as
there are cores, always in the same parts, so that every machine makes the same library.
A library that was made from the same sources is left as it is. Platforms other than this
one are linked by Zig (package `ziglang`). `--demo` compiles what the demo calls and
nothing else, unless a whole library is there already.

Kernels are called without Numba wherever a library made from the same sources is found:
see `sfumato.kernels.compilation.library`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from sfumato.kernels.compilation.library import (
    INDEX,
    SWITCH,
    source_hash,
)
from tools.library import entry_points
from tools.library.link import has_zig, link
from tools.library.progress import Progress
from tools.library.targets import TARGETS, here

ROOT = Path(__file__).resolve().parents[2]
TOOLS = Path(__file__).resolve().parent
PARTS = (
    ("sfumato.kernels.clustering.",),
    ("sfumato.kernels.refinement.", "sfumato.kernels.best."),
    ("sfumato.kernels.partition.gain_cut.",),
    ("sfumato.kernels.partition.", "sfumato.kernels.full_domain."),
    ("",),
)
"""How entry points are parted among processes: by what they share.

Each part is optimized as a whole. Cuts by gain take an eighth less as a part of their own.
"""
DEMO = (
    "*sfumato.kernels.common.rule_pointers.",
    "sfumato.kernels.common.group_boxes.",
    "sfumato.kernels.common.packed_records.",
    "sfumato.kernels.common.tuple_chunks.",
    "sfumato.kernels.compilation.",
    "sfumato.kernels.partition.cut_rules.",
    "sfumato.kernels.partition.gain_cut.",
)
"""How the names of the entry points begin that the demo calls."""


def build(out: Path, platforms: Sequence[str], entries: Iterable[str]) -> list[Path]:
    """Make the libraries that are not there yet; the files of all of them."""
    listed = sorted(entries)
    key = _key(listed)
    wanted = [name for name in platforms if _built_key(out / name) != key]
    if wanted:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out, prefix=".building-") as name:
            _make(Path(name), wanted, listed, key)
            for platform in wanted:
                _put(Path(name) / platform, out / platform)
    return [out / name / TARGETS[name].file for name in platforms]


def _key(entries: Sequence[str]) -> str:
    """The hash of all that decides what a library has: sources, tools and entries."""
    digest = hashlib.sha256(f"{source_hash()} {has_zig()}".encode())
    for path in sorted(
        [*TOOLS.glob("*.py"), *TOOLS.glob("*.c"), ROOT / "constraints.txt"]
    ):
        digest.update(path.read_bytes())
    digest.update("\n".join(entries).encode())
    return digest.hexdigest()


def _built_key(place: Path) -> str | None:
    try:
        found = json.loads((place / INDEX).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    key: str | None = found.get("key")
    return key


def _make(
    place: Path, platforms: Sequence[str], entries: Sequence[str], key: str
) -> None:
    """Compile in processes side by side, then link each platform's objects."""
    symbols = [f"sfumato_entry_{number}" for number in range(len(entries))]
    parts = _parts(list(zip(symbols, entries, strict=True)))
    with Progress(len(entries)) as progress, ThreadPoolExecutor(_cores()) as pool:
        made = list(
            pool.map(lambda part: _compile(part, platforms, place, progress.add), parts)
        )
    lines = sorted((line for one in made for line in one["lines"]), key=_number)
    unknown = sorted({name for one in made for name in one["unknown"]})
    for platform in platforms:
        (place / platform).mkdir()
        objects = sorted(place.glob(f"{platform}-*.o"))
        link(platform, objects, place / platform, unknown, symbols)
        index = {
            "hash": source_hash(),
            "key": key,
            "file": TARGETS[platform].file,
            "entries": lines,
        }
        (place / platform / INDEX).write_text(json.dumps(index), encoding="utf-8")


def _number(line: Sequence[str]) -> int:
    return int(line[0].rpartition("_")[2])


def _parts(entries: Sequence[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    """Entries by the first part whose beginnings they have, empty parts left out."""
    parts: list[list[tuple[str, str]]] = [[] for _ in PARTS]
    for symbol, entry in entries:
        name = entry.removeprefix("*")
        at = next(n for n, starts in enumerate(PARTS) if name.startswith(starts))
        parts[at].append((symbol, entry))
    return [part for part in parts if part]


def _compile(
    part: Sequence[tuple[str, str]],
    platforms: Sequence[str],
    place: Path,
    done: Callable[[str], None],
) -> Any:
    """Have another process compile a part; tell of each entry point that is done."""
    asked = {"entries": part, "platforms": platforms, "place": str(place)}
    with subprocess.Popen(
        [sys.executable, "-m", "tools.library.share"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=_environment(),
        cwd=ROOT,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(asked))
        process.stdin.close()
        last = ""
        for line in process.stdout:
            last = line
            if not line.startswith("{"):
                done(line.strip())
    if process.returncode != 0:
        raise SystemExit(
            f"A kernel could not be compiled, after {last.strip() or 'none'}. "
            "Hint: if kernels take other arguments now, run `make entries`."
        )
    return json.loads(last)


def _environment() -> dict[str, str]:
    """Compile for the baseline processor, with the tools and sources of this clone."""
    paths = [str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        SWITCH: "off",
        "NUMBA_CPU_NAME": TARGETS[here()].processor,
        "NUMBA_CPU_FEATURES": "",
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
    }


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2


def _put(made: Path, place: Path) -> None:
    """Put a whole library where the old one was."""
    shutil.rmtree(place, ignore_errors=True)
    os.replace(made, place)


def demo_entries() -> list[str]:
    """The entry points that the demo calls."""
    return [entry for entry in entry_points.read() if entry.startswith(DEMO)]


def main(words: Sequence[str]) -> None:
    """Build libraries and print their sizes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "library")
    parser.add_argument("--for", dest="platforms", action="append", default=[])
    parser.add_argument("--demo", action="store_true")
    told = parser.parse_args(words)
    platforms = [*TARGETS] if "all" in told.platforms else told.platforms or [here()]
    entries = entry_points.read()
    if told.demo and _built_key(told.out / here()) != _key(sorted(entries)):
        entries = frozenset(demo_entries())
    for file in build(told.out.resolve(), platforms, entries):
        print(f"{file}: {file.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(sys.argv[1:])
