"""Cells of a table that show a number and draw it as a bar."""

from __future__ import annotations

from typing import NamedTuple


class BarCell(NamedTuple):
    """A text, and parts of a bar: each its share of the width, and its style."""

    text: str
    bars: tuple[tuple[float, str], ...]


BarRow = tuple[str | BarCell, ...]
"""A row of a table; its first cell is its heading."""


def bar(text: str, share: float | None, style: str = "") -> BarCell | str:
    """A text with one bar; just the text where there is no number."""
    return text if share is None else BarCell(text, ((clipped(share), style),))


def clipped(share: float) -> float:
    """A share between 0 and 1."""
    return min(max(share, 0.0), 1.0)
