"""Change one setting of a document."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from sfumato.errors import UsageError


def changed(document: Mapping[str, Any], key: str, value: Any) -> dict[str, Any]:
    """A copy of a document with one setting changed; None takes a setting away."""
    result = deepcopy(dict(document))
    *way, last = parts_of(key)
    place: Any = result
    for part in way:
        place = _entered(place, part, key)
    _assign(place, last, _read(value), key)
    return result


def without_nothing(value: Any) -> Any:
    """Return a document without keys that have no value: TOML has no null."""
    if isinstance(value, Mapping):
        return {k: without_nothing(v) for k, v in value.items() if v is not None}
    return (
        [without_nothing(item) for item in value] if isinstance(value, list) else value
    )


def parts_of(key: str) -> list[str]:
    """Split `columns."a.b".kind` into parts; only names with dots need quotes."""
    try:
        nested: Any = tomllib.loads(f"{key} = 0")
    except tomllib.TOMLDecodeError:
        nested = None
    parts = []
    while isinstance(nested, Mapping) and len(nested) == 1:
        name, nested = next(iter(nested.items()))
        parts.append(name)
    return parts or key.split(".")


def _read(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        read = tomllib.loads(f"value = {value}")
    except (ValueError, RecursionError):
        # Not TOML, a number with thousands of digits, or lists nested too deeply.
        return value
    return read["value"] if len(read) == 1 else value


def _entered(place: Any, part: str, key: str) -> Any:
    if isinstance(place, list):
        return place[_index(place, part, key)]
    if not isinstance(place, dict):
        raise _no_such(key, f"'{part}' lies inside a plain value")
    return place.setdefault(part, {})


def _assign(place: Any, part: str, value: Any, key: str) -> None:
    if isinstance(place, list):
        place[_index(place, part, key)] = value
    elif isinstance(place, dict) and value is None:
        place.pop(part, None)
    elif isinstance(place, dict):
        place[part] = value
    else:
        raise _no_such(key, f"'{part}' lies inside a plain value")


def _index(items: list[Any], part: str, key: str) -> int:
    if part.isdigit() and int(part) < len(items):
        return int(part)
    raise _no_such(key, f"'{part}' is not one of its {len(items)} entries, from 0")


def _no_such(key: str, why: str) -> UsageError:
    return UsageError(
        f"There is no setting '{key}': {why}.",
        hint="For example: publish.max_suppressed=0.05, or require.0.k=10.",
    )
