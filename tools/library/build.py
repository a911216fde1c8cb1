"""Compile all kernels ahead of time into one shared library for this platform.

Usage: python -m tools.library.build [--out build/library]

Kernels are called without Numba wherever a library made from the same sources is found:
see `sfumato.kernels.compilation.library`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from sfumato.kernels.compilation.library import (
    INDEX,
    SWITCH,
    platform_name,
    source_hash,
)

ROOT = Path(__file__).resolve().parents[2]
PROCESSORS = {"x86_64": "x86-64-v2", "arm64": "generic"}
"""The oldest processor that a library for each architecture serves."""


def build(out: Path) -> Path:
    """Compile every entry point the catalogue reaches; the file that holds them."""
    name = platform_name()
    processor = PROCESSORS[name.rpartition("-")[2]]
    _set_up_numba(processor)
    # Late: Numba reads its settings when it is imported.
    from tools.library import reach
    from tools.library.link import link
    from tools.library.numba_code import Recorder

    recorder = Recorder()
    reach.everything()
    place = out / name
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    lines = link(recorder.found(), place, processor)
    index = {"sources": source_hash(), "file": "kernels.so", "entries": lines}
    (place / INDEX).write_text(json.dumps(index), encoding="utf-8")
    return place / "kernels.so"


def _set_up_numba(processor: str) -> None:
    """Compile for the baseline processor, with a cache of its own and no library."""
    os.environ[SWITCH] = "off"
    os.environ["NUMBA_CPU_NAME"] = processor
    os.environ["NUMBA_CPU_FEATURES"] = ""
    os.environ["SFUMATO_CACHE_DIR"] = str(ROOT / "build" / "kernels")


def main(words: Sequence[str]) -> None:
    """Build the library and print its size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "library")
    file = build(parser.parse_args(words).out.resolve())
    print(f"{file}: {file.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(sys.argv[1:])
