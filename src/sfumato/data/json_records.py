"""Write and read manifests, audit records and machine output as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any


def dump(record: Mapping[str, Any]) -> str:
    """Format a record as indented, strictly valid JSON, keeping its order."""
    return json.dumps(plain(record), indent=2, ensure_ascii=False, allow_nan=False)


def parse(text: str | bytes) -> Any:
    """Read untrusted JSON; anything wrong is a ValueError."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def dump_line(record: Mapping[str, Any]) -> str:
    """Format a record as one line of strictly valid JSON."""
    return json.dumps(plain(record), ensure_ascii=False, allow_nan=False)


def plain(value: Any) -> Any:
    """Convert a value to JSON's own types; NaN and infinity become null."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if hasattr(value, "item"):
        return plain(value.item())
    if isinstance(value, float) and not isfinite(value):
        return None
    return value if isinstance(value, bool | int | float | None) else str(value)
