"""The list of entry points: every kernel that Python calls, and the kinds it is given.

`entry_points.json` has a line per entry point. Kinds that are long and used often,
those of named tuples and of pointers, are written once, under `shapes`, and named
`<Units>` wherever they occur.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).resolve().with_suffix(".json")
SHAPE = re.compile(r"(\w+)?\([^()\[\]]*\)|p\[[^()\[\]]*\]")
"""A named tuple or a pointer with nothing of the kind inside it."""
NAMED = re.compile(r"<([\w.]+)>")


class EntryPoint(NamedTuple):
    """A kernel, and the kinds of what it takes; a pointer's end with what it gives."""

    function: str
    takes: str


def read(file: Path = FILE) -> frozenset[str]:
    """The entry points of the list, each as `module.function(kinds)`."""
    if not file.exists():
        return frozenset()
    found = json.loads(file.read_text(encoding="utf-8"))
    shapes: dict[str, str] = {}
    for name, shape in found["shapes"].items():
        shapes[name] = NAMED.sub(lambda match: shapes[match[1]], shape)
    return frozenset(
        NAMED.sub(lambda match: shapes[match[1]], text) for text in found["entries"]
    )


def write(entries: Iterable[str], file: Path = FILE) -> None:
    """Replace the list."""
    shapes: dict[str, str] = {}
    lines = [_shortened(entry, shapes) for entry in sorted(entries)]
    found = {"shapes": {name: text for text, name in shapes.items()}, "entries": lines}
    text = json.dumps(found, indent=0, ensure_ascii=False)
    file.write_text(f"{text}\n", encoding="utf-8")


def _shortened(entry: str, shapes: dict[str, str]) -> str:
    """An entry with names for its shapes, which are added where they are new."""
    function, takes = entry[:-1].split("(", 1)
    while True:
        shorter = SHAPE.sub(lambda match: _named(match, shapes), takes)
        if shorter == takes:
            return f"{function}({takes})"
        takes = shorter


def _named(match: re.Match[str], shapes: dict[str, str]) -> str:
    text, stem = match[0], match[1] or ("pointer" if match[0][0] == "p" else "tuple")
    if text not in shapes:
        same = sum(name.partition(".")[0] == stem for name in shapes.values())
        shapes[text] = f"{stem}.{same + 1}" if same else stem
    return f"<{shapes[text]}>"


def parsed(entry: str) -> EntryPoint:
    """The parts of an entry point."""
    return EntryPoint(*entry[:-1].split("(", 1))
