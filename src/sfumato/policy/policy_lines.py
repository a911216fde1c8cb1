"""Write keys, texts and commented settings of a policy."""

from __future__ import annotations

import json
import re

COMMENT_COLUMN = 40


def setting_line(setting: str, reason: str) -> str:
    """A setting with its reason beside it."""
    return f"{setting:<{COMMENT_COLUMN}}  # {reason}"


def quoted_key(name: str) -> str:
    """A name as a TOML key, quoted if need be."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else quoted(name)


def quoted(value: str) -> str:
    """Write a text as TOML; JSON's escapes are valid there, except for one."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
