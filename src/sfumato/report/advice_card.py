"""Advice in a notebook: a small HTML fragment that does not affect the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.report.number_text import percent
from sfumato.report.templating import fill

MOST = 12
"""How many suggestions are shown."""


def advice_card(record: Mapping[str, Any]) -> str:
    """Show the numbered edits as one element, styled only by its own attributes."""
    listed = record["advice"]
    return fill(
        "advice_card.html.jinja",
        private=record["private"] or " ".join(record["notes"][:1]),
        feasible=record["feasible"],
        needed=record["needed"],
        lines=[_line(each) for each in listed[:MOST]],
        more=max(len(listed) - MOST, 0),
    )


def _line(each: Mapping[str, Any]) -> dict[str, Any]:
    gain = each["gain"]
    sign = "" if gain is None or gain < 0 else "+"
    return {
        "number": each["number"],
        "text": each["text"],
        "needed": each["needed"],
        "gain": "" if gain is None else f"{sign}{percent_signed(gain)}",
    }


def percent_signed(value: float) -> str:
    """A share as a percentage, with its sign where it is below 0."""
    return f"−{percent(-value)}" if value < 0 else percent(value)
