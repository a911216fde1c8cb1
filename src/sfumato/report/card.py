"""A release in a notebook: a small fragment that leaves the rest of the page alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.report.markup import Html, tag
from sfumato.report.number_text import amount, measured, percent

BOX = "border:1px solid #d8dce5;border-radius:8px;padding:12px 16px;max-width:44em"
GOOD, BAD = "color:#17693a", "color:#a1232b"
CELL = "text-align:left;padding:2px 16px 2px 0"
RISKS = ("prosecutor_max", "value_max")


def card(manifest: Mapping[str, Any]) -> str:
    """Counts and verdicts as one element, styled by its own attributes alone."""
    return tag(
        "div",
        tag("strong", "Sfumato release"),
        tag("p", _counts(manifest)),
        tag("table", tag("tbody", [_row(each) for each in manifest["requirements"]])),
        _warning(manifest),
        style=BOX,
    )


def _counts(manifest: Mapping[str, Any]) -> str:
    parts = [
        f"{amount(manifest['rows_out'])} rows",
        f"{amount(manifest['groups'])} groups",
    ]
    if "rows_suppressed" in manifest:
        parts.append(f"{amount(manifest['rows_suppressed'])} rows suppressed")
    parts += [
        f"highest risk {percent(manifest['risk'][key])}"
        for key in RISKS
        if key in manifest["risk"]
    ]
    return ", ".join(parts) + "."


def _row(each: Mapping[str, Any]) -> Html:
    verdict, color = ("✓ holds", GOOD) if each["holds"] else ("✗ does not hold", BAD)
    return tag(
        "tr",
        tag("th", each["model"], scope="row", style=CELL),
        tag("td", measured(each), style=CELL),
        tag("td", verdict, style=f"{CELL};{color}"),
    )


def _warning(manifest: Mapping[str, Any]) -> Html | None:
    text = manifest.get("not_for_publication")
    return tag("p", text, style=BAD) if text else None
