"""Add and remove a requirement in the text of a policy, and keep the rest as it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sfumato.errors import PolicyError
from sfumato.policy import Policy
from sfumato.policy.edit_text import toml_key, toml_value

BLOCK = re.compile(r"^\s*\[\[\s*require\s*\]\]")
HEADER = re.compile(r"^\s*\[")


def with_requirement(policy: Policy, text: str, table: Mapping[str, Any]) -> str:
    """The text of a policy with another requirement after the others."""
    wanted = [*requirement_tables(policy), dict(table)]
    lines = text.splitlines()
    starts = _starts(lines)
    end = _end(lines, starts[-1]) if starts else len(lines)
    made = [
        "",
        "[[require]]",
        *(f"{toml_key(k)} = {toml_value(v)}" for k, v in table.items()),
    ]
    while end > 0 and not lines[end - 1].strip():
        end -= 1
    return _kept(policy, [*lines[:end], *made, *_apart(lines[end:])], wanted)


def without_requirement(policy: Policy, text: str, place: int) -> str:
    """The text of a policy without one of its requirements."""
    tables = requirement_tables(policy)
    wanted = [table for at, table in enumerate(tables) if at != place]
    lines = text.splitlines()
    starts = _starts(lines)
    if place < len(starts):
        before, after = lines[: starts[place]], lines[_end(lines, starts[place]) :]
        while before and after and not before[-1].strip() and not after[0].strip():
            after = after[1:]
        lines = [*before, *after]
    return _kept(policy, lines, wanted)


def requirement_tables(policy: Policy) -> list[dict[str, Any]]:
    """The requirements as the policy writes them."""
    return [{"model": each.model, **each.settings} for each in policy.require]


def _starts(lines: list[str]) -> list[int]:
    return [at for at, line in enumerate(lines) if BLOCK.match(line)]


def _end(lines: list[str], start: int) -> int:
    """The line at which the table after a requirement begins, with its comments."""
    end = start + 1
    while end < len(lines) and not HEADER.match(lines[end]):
        end += 1
    while end > start + 1 and _is_aside(lines[end - 1]) and end < len(lines):
        end -= 1
    return end


def _is_aside(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _apart(lines: list[str]) -> list[str]:
    return lines if not lines or not lines[0].strip() else ["", *lines]


def _kept(policy: Policy, lines: list[str], wanted: list[dict[str, Any]]) -> str:
    """The lines, if they say what is wanted; else the policy without its comments."""
    changed = policy.with_settings({"require": wanted})
    text = "\n".join(lines) + "\n"
    try:
        same = Policy.parse(text, base=policy.base) == changed
    except PolicyError:
        same = False
    return text if same else changed.dump()
