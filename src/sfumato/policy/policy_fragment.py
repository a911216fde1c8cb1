"""A policy as a small table for notebooks: names and numbers, never a value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from sfumato.data.html_fragment import html_fragment
from sfumato.policy.redact import WORDS
from sfumato.policy.sections import ColumnSection, Requirement


class ShownPolicy(Protocol):
    """The parts of a policy that are shown."""

    @property
    def columns(self) -> Mapping[str, ColumnSection]: ...
    @property
    def require(self) -> Sequence[Requirement]: ...


def policy_fragment(policy: ShownPolicy) -> str:
    """The columns of a policy in a table, and its requirements below."""
    rows = [_row(name, section) for name, section in policy.columns.items()]
    head = ("column", "role", "kind", "hierarchy")
    asked = "; ".join(_requirement(each) for each in policy.require)
    title = f"Policy: {len(policy.columns)} columns"
    return html_fragment(title, head, rows, f"Requires {asked}." if asked else "")


def _row(name: str, section: ColumnSection) -> tuple[str, str, str, str]:
    role = "left out" if section.drop else str(section.role or "")
    return name, role, str(section.kind or ""), _hierarchy(section.hierarchy)


def _hierarchy(declared: Any) -> str:
    """How a hierarchy is built, without its values and paths."""
    if declared is None:
        return ""
    if isinstance(declared, str):
        return declared if declared in WORDS else "file"
    return ", ".join(declared)


def _requirement(each: Requirement) -> str:
    numbers = ", ".join(_numbers(each.settings))
    return f"{each.model} ({numbers})" if numbers else each.model


def _numbers(settings: Mapping[str, Any]) -> Iterator[str]:
    for name, value in settings.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield f"{name} = {value}"
