"""Small tables for notebooks: names and counts, never a cell."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_CELL = 'style="text-align:left;padding:0.15em 0.8em 0.15em 0;vertical-align:top"'


def html_fragment(
    title: str, head: Sequence[str], rows: Sequence[Sequence[str]], note: str = ""
) -> str:
    """A titled table whose styles apply to itself alone."""
    heads = "".join(f'<th scope="col" {_CELL}>{escape(text)}</th>' for text in head)
    body = "".join(f"<tr>{_cells(row)}</tr>" for row in rows)
    below = f"<p>{escape(note)}</p>" if note else ""
    caption = f'<caption style="text-align:left"><b>{escape(title)}</b></caption>'
    return (
        f"<div><table>{caption}<thead><tr>{heads}</tr></thead>"
        f"<tbody>{body}</tbody></table>{below}</div>"
    )


def _cells(row: Sequence[str]) -> str:
    return "".join(f"<td {_CELL}>{escape(text)}</td>" for text in row)
