"""Change settings in the text of a policy, so that comments and layout survive."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

from sfumato.policy.line_numbers import SETTING, Key, keys_of

BARE = re.compile(r"[A-Za-z0-9_-]+")
HEADER = re.compile(r"^\s*\[")
WAS = "# was "


def edited(text: str, settings: Mapping[Key, Any]) -> str:
    """Write other values into a TOML text; None takes a setting away.

    The first value stays in the comment of its line; what the comment said of it goes,
    because it need not be true of another value. Texts of an unusual layout may come
    out wrong: compare what the result says before you use it.
    """
    lines = text.splitlines()
    for key, value in settings.items():
        lines = _with(lines, key, value)
    return "\n".join(lines) + "\n"


def toml_value(value: Any) -> str:
    """Write a value as TOML, on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # JSON's escapes are valid in TOML, except for one.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        inside = ", ".join(f"{toml_key(k)} = {toml_value(v)}" for k, v in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    return repr(value)


def toml_key(name: str) -> str:
    """Write a name as a part of a TOML key."""
    return name if BARE.fullmatch(name) else toml_value(name)


def _with(lines: list[str], key: Key, value: Any) -> list[str]:
    """Put one value where its key, a table around it, or neither is written."""
    places = list(keys_of("\n".join(lines)))
    for number, found in reversed(places):
        if not HEADER.match(lines[number - 1]) and key[: len(found)] == found:
            return _replaced(lines, number - 1, key[len(found) :], value)
    if value is None:
        return lines
    for number, found in reversed(places):
        header = HEADER.match(lines[number - 1])
        if header and found == key[:-1]:
            return _inserted(lines, number - 1, _line(key[-1:], value))
    return _in_new_place(lines, places, key, value)


def _in_new_place(
    lines: list[str], places: Sequence[tuple[int, Key]], key: Key, value: Any
) -> list[str]:
    """Put a setting beside the dotted keys of its table, at the top, or at the end."""
    table: Key = ()
    at = -1
    for number, found in places:
        if HEADER.match(lines[number - 1]):
            table, at = found, number - 1
        elif found[: len(key) - 1] == key[:-1] and len(table) < len(key) - 1:
            return _inserted(lines, at, _line(key[len(table) :], value))
    if len(key) == 1:
        return _inserted(lines, -1, _line(key, value))
    header = ".".join(toml_key(str(part)) for part in key[:-1])
    gap = [""] if lines and lines[-1].strip() else []
    return [*lines, *gap, f"[{header}]", _line(key[-1:], value)]


def _line(key: Key, value: Any) -> str:
    name = ".".join(toml_key(str(part)) for part in key)
    return f"{name} = {toml_value(value)}"


def _inserted(lines: list[str], header: int, line: str) -> list[str]:
    """Insert a line after the last setting of the table that begins at a line."""
    end = at = header + 1
    while at < len(lines) and not HEADER.match(lines[at]):
        if _is_setting(lines[at]):
            at = end = _end(lines, at)
        else:
            at += 1
    return [*lines[:end], line, *lines[end:]]


def _is_setting(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _replaced(lines: list[str], at: int, rest: Key, value: Any) -> list[str]:
    """Replace a value, or a part of an inline table; with None, take it away."""
    end = _end(lines, at)
    piece = "\n".join(lines[at:end])
    before, old, comment = _split(piece)
    new = value
    if rest:
        new = _nested(old, rest, value)
        note = "" if _says(old, rest) else comment
    elif value is None:
        return [*lines[:at], *lines[end:]]
    else:
        note = _history(old, value, comment)
    written = f"{before}{toml_value(new)}{'  ' if note else ''}{note}"
    return [*lines[:at], written, *lines[end:]]


def _history(old: Any, new: Any, comment: str) -> str:
    """The comment of a line whose value changed: its first value, and no reason."""
    if old == new:
        return comment
    first = _first_value(comment) or toml_value(old)
    return "" if first == toml_value(new) else f"{WAS}{first}"


def _first_value(comment: str) -> str | None:
    """The value that an earlier edit kept, without the reason that may follow it."""
    if not comment.startswith(WAS):
        return None
    parts = comment.removeprefix(WAS).split("; ")
    starts = ("; ".join(parts[: at + 1]) for at in range(len(parts)))
    return next((text for text in starts if _parsed(f"x = {text}") is not None), None)


def _says(inline: Any, path: Key) -> bool:
    """Whether an inline value has a setting, of which its comment may speak."""
    for part in path:
        try:
            inline = inline[part]
        except (KeyError, IndexError, TypeError):
            return False
    return True


def _nested(old: Any, rest: Key, value: Any) -> Any:
    """A copy of an inline value with one place in it changed, if it has the place."""
    result = deepcopy(old)
    place = result
    for part in rest[:-1]:
        place = _entered(place, part)
    last = rest[-1]
    if isinstance(place, dict) and value is None:
        place.pop(last, None)
    elif isinstance(place, dict):
        place[last] = value
    return result


def _entered(place: Any, part: str | int) -> Any:
    if isinstance(place, dict):
        return place.setdefault(part, {})
    if isinstance(place, list) and isinstance(part, int) and part < len(place):
        return place[part]
    return None


def _end(lines: list[str], at: int) -> int:
    """The line after the setting that begins at a line."""
    for end in range(at + 1, len(lines) + 1):
        if _parsed("\n".join(lines[at:end])) is not None:
            return end
    return at + 1


def _split(piece: str) -> tuple[str, Any, str]:
    """The part of a setting before its value, the value, and the comment after it."""
    old = _parsed(piece)
    comment = ""
    for at in _hashes(piece):
        if _parsed(piece[:at]) == old:
            comment = piece[at:].strip()
            break
    name = SETTING.match(piece)
    before = "" if name is None else f"{name.group()} "
    for _, key in keys_of(piece):
        return before, _reached(old, key), comment
    return before, old, comment


def _hashes(piece: str) -> Iterator[int]:
    last = piece.rfind("\n") + 1
    return (at for at in range(last, len(piece)) if piece[at] == "#")


def _reached(document: Any, key: Key) -> Any:
    """The value behind the, perhaps dotted, key of a line."""
    for part in key:
        document = document[part]
    return document


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, ValueError, RecursionError):
        return None
