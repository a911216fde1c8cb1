"""HTML by construction: text is escaped unless it was made here."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

VOID = frozenset({"meta", "br", "rect", "line", "path", "circle"})


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


Child = str | float | None | Iterable["Child"]


def tag(name: str, /, *children: Child, **attributes: str | float | None) -> Html:
    """An element; `class_` is written `class`, other underscores as hyphens."""
    start = f"<{name}{_attributes(attributes)}"
    if name in VOID:
        return Html(f"{start}/>")
    return Html(f"{start}>{join(*children)}</{name}>")


def join(*children: Child) -> Html:
    """Children one after the other, None left out, plain text escaped."""
    return Html("".join(_render(child) for child in children))


def _render(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Html):
        return child
    if isinstance(child, str | int | float):
        return escape(str(child))
    return "".join(_render(each) for each in child)


def _attributes(attributes: dict[str, str | float | None]) -> str:
    return "".join(
        f' {_attribute_name(key)}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )


def _attribute_name(key: str) -> str:
    # Only SVG's viewBox has a capital, and it has no underscore.
    return key.rstrip("_").replace("_", "-")
