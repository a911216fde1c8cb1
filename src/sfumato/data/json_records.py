"""Records as JSON: what manifests, audits and machine output are written in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any


def dump(record: Mapping[str, Any]) -> str:
    """A record as text: indented, in the order it came, and JSON to the letter."""
    return json.dumps(plain(record), indent=2, ensure_ascii=False, allow_nan=False)


def plain(value: Any) -> Any:
    """A value in JSON's own types; a number that is none, or infinite, is null."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if hasattr(value, "item"):
        return plain(value.item())
    if isinstance(value, float) and not isfinite(value):
        return None
    return value if isinstance(value, bool | int | float | None) else str(value)
