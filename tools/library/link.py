"""Link compiled kernels into one shared library that needs only libc and libm."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from tools.library.targets import TARGETS, here

RUNTIME = Path(__file__).resolve().parent / "call.c"
GIVEN = re.compile(r"\b((?:NRT|numba)_\w+)\(")
DATA = ("PyExc_", "_Py_")
"""How the names begin that stand for Python objects rather than functions."""
ALWAYS = ("-O2", "-shared", "-fPIC", "-fvisibility=hidden")
ELF = ("-Wl,-z,defs", "-Wl,-Bsymbolic", "-Wl,--gc-sections", "-s", "-lm")
MACOS = ("-Wl,-dead_strip", "-Wl,-install_name,@rpath/kernels.dylib")
WINDOWS = ("-s",)
SHOWN = ("sfumato_setup", "sfumato_call", "sfumato_release")
"""What the C half shows, beside the entries."""
ZIG_CACHE = "ZIG_GLOBAL_CACHE_DIR"


def link(
    platform: str,
    objects: Sequence[Path],
    place: Path,
    unknown: Iterable[str],
    symbols: Iterable[str],
) -> None:
    """Link machine code with the C half: calls, memory, and stubs."""
    stubs = place / "stubs.c"
    stubs.write_text(_stubs(unknown), encoding="utf-8")
    files = [str(path) for path in (*objects, RUNTIME, stubs)]
    out = ["-o", str(place / TARGETS[platform].file)]
    words = [*_compiler(platform), *ALWAYS, *out, *files, *_flags(platform)]
    with tempfile.TemporaryDirectory(prefix="sfumato-zig-") as cache:
        # Without a home directory Zig finds no place for its cache.
        settings = {} if _has_home() else {ZIG_CACHE: cache}
        subprocess.run(words, check=True, env={**settings, **os.environ})
    for path in place.iterdir():
        if path.name != TARGETS[platform].file:
            path.unlink()
    check_symbols(place / TARGETS[platform].file, [*SHOWN, *symbols])


def _has_home() -> bool:
    home = Path(os.environ.get("HOME", "")).absolute()
    return "HOME" in os.environ and os.access(home, os.W_OK)


def check_symbols(library: Path, symbols: Iterable[str]) -> None:
    """Refuse a library that does not show every symbol: what is stripped has no name."""
    code = library.read_bytes()
    hidden = [name for name in symbols if f"{name}\0".encode() not in code]
    if hidden:
        raise SystemExit(f"{library} does not show {len(hidden)} symbols: {hidden[0]}")


def _flags(platform: str) -> Sequence[str]:
    system = platform.partition("-")[0]
    return {"macos": MACOS, "windows": WINDOWS}.get(system, ELF)


def _stubs(unknown: Iterable[str]) -> str:
    """C code for Python's names on paths that are never taken: they end the process."""
    given = set(GIVEN.findall(RUNTIME.read_text(encoding="utf-8")))
    names = sorted(set(unknown) - given)
    data = [f"void *{name};" for name in names if name.startswith(DATA)]
    functions = [
        f"void *{name}(void) {{ abort(); }}"
        for name in names
        if not name.startswith(DATA)
    ]
    return "\n".join(["#include <stdlib.h>", *data, *functions, ""])


def _compiler(platform: str) -> Sequence[str]:
    """A C compiler: Zig's from the package `ziglang`, or this machine's for itself."""
    target = TARGETS[platform]
    if has_zig():
        return [sys.executable, "-m", "ziglang", "cc", "-target", target.zig]
    if platform == here():
        for name in ("cc", "gcc", "clang"):
            if shutil.which(name):
                return [name]
    raise SystemExit(
        f"No C compiler makes a library for {platform}. Hint: pip install ziglang"
    )


def has_zig() -> bool:
    """Whether Zig's compiler is installed."""
    from importlib.util import find_spec

    return find_spec("ziglang") is not None
