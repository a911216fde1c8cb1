"""Compile some entry points to object files, one for each platform.

A process of `tools.library.build`, which says on its standard input what to compile.
Prints the name of each entry point when it is done, and at the end a line of JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from sfumato.kernels.compilation import decorators
from tools.library import entry_points, numba_code
from tools.library.targets import TARGETS

OUTSIDE = ("Py", "_Py", "numba_", "NRT_")
"""How the names begin that no C library has."""


def compile_share(entries: list[list[str]], platforms: list[str], place: Path) -> Any:
    """Write an object file per platform; the index's lines, and names from outside."""
    decorators.compiler()
    numba_code.stop_at_bitcode()
    compiled = []
    for symbol, entry in entries:
        compiled.append((symbol, numba_code.compile_entry(*entry_points.parsed(entry))))
        print(compiled[-1][1].function, flush=True)
    whole = numba_code.linked(compiled)
    unknown: set[str] = set()
    for platform in platforms:
        target = TARGETS[platform]
        code, names = numba_code.machine_code(whole, target.triple, target.processor)
        (place / f"{platform}-{entries[0][0]}.o").write_bytes(code)
        unknown.update(name for name in names if name.startswith(OUTSIDE))
    lines = [
        [symbol, made.function, made.takes, made.gives] for symbol, made in compiled
    ]
    return {"lines": lines, "unknown": sorted(unknown)}


if __name__ == "__main__":
    asked = json.loads(sys.stdin.read())
    made = compile_share(asked["entries"], asked["platforms"], Path(asked["place"]))
    print(json.dumps(made), flush=True)
