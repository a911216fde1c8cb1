"""Where a policy came from, and the line of each of its keys."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sfumato.data.safe_repr import SafeRepr
from sfumato.errors import PolicyError

Key = tuple[str | int, ...]
"""The path to a setting: ("require", 1, "k")."""

_HEADER = re.compile(r"^\s*(\[\[?)(.+?)\]\]?\s*(#.*)?$")
SETTING = re.compile(
    r"""^\s*((?:"[^"]*"|'[^']*'|[\w-]+)(?:\s*\.\s*(?:"[^"]*"|'[^']*'|[\w-]+))*)\s*="""
)


@dataclass(frozen=True, repr=False)
class Origin(SafeRepr):
    """The text of a policy. All origins are equal: policies are compared by content."""

    name: str = field(default="the policy", compare=False)
    text: str = field(default="", compare=False)
    base: Path | None = field(default=None, compare=False)
    """The directory that relative paths start from."""

    def line_of(self, key: Key) -> int | None:
        """The line of a key, or of the nearest table around it that has one."""
        best, line = 0, None
        for number, found in keys_of(self.text):
            shared = _shared(found, key)
            if shared == len(found) and shared > best:
                best, line = shared, number
        return line

    def fault(self, key: Key, what: str, *, hint: str | None = None) -> PolicyError:
        """Build an error that names the key and its line."""
        line = self.line_of(key)
        place = f"{self.name}, line {line}: " if line else f"{self.name}: "
        return PolicyError(f"{place}{spelled(key)} {what}".strip(), hint=hint)


def spelled(key: Key) -> str:
    """Write a key the way people do: `require[1].k`."""
    text = ""
    for part in key:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")


def keys_of(text: str) -> Iterator[tuple[int, Key]]:
    """The line and the full key of every table header and setting."""
    table: Key = ()
    seen: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        header = _HEADER.match(line)
        setting = SETTING.match(line)
        if header and (parts := _parts(header.group(2))):
            table = parts
            if header.group(1) == "[[":
                seen[parts] = seen.get(parts, -1) + 1
                table = (*parts, seen[parts])
            yield number, table
        elif setting:
            yield number, (*table, *_parts(setting.group(1)))


def _parts(dotted: str) -> tuple[str, ...]:
    """The parts of a dotted key; none if it is not one."""
    try:
        nested: Any = tomllib.loads(f"{dotted} = 0")
    except tomllib.TOMLDecodeError:
        return ()
    parts = []
    while isinstance(nested, Mapping):
        name, nested = next(iter(nested.items()))
        parts.append(str(name))
    return tuple(parts)


def _shared(found: Key, key: Key) -> int:
    """How many parts two keys have in common from the start."""
    pairs = zip(found, key, strict=False)
    return next(
        (at for at, (a, b) in enumerate(pairs) if a != b), min(len(found), len(key))
    )
