"""A release in a notebook: a small HTML fragment that does not affect the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.models.common.judged_columns import NOTHING_JUDGED
from sfumato.report.exact_column_words import UNIQUE
from sfumato.report.number_text import amount, percent
from sfumato.report.templating import fill

RISKS = {
    "prosecutor_max": "highest risk",
    "value_max": "highest risk",
    UNIQUE: "rows unique with exact columns",
}


def card(manifest: Mapping[str, Any]) -> str:
    """Show counts and verdicts as one element, styled only by its own attributes."""
    return fill(
        "card.html.jinja",
        counts=_counts(manifest),
        requirements=manifest["requirements"],
        unjudged=NOTHING_JUDGED if manifest.get("judged") == [] else None,
        warning=manifest.get("not_for_publication"),
    )


def _counts(manifest: Mapping[str, Any]) -> str:
    parts = [
        f"{amount(manifest['rows_out'])} rows",
        f"{amount(manifest['groups'])} groups",
    ]
    if "rows_suppressed" in manifest:
        parts.append(f"{amount(manifest['rows_suppressed'])} rows suppressed")
    parts += [
        f"{name} {percent(manifest['risk'][key])}"
        for key, name in RISKS.items()
        if key in manifest["risk"]
    ]
    if "unit" in manifest:
        parts.append(f"requirements count {manifest['unit']}")
    return ", ".join(parts) + "."
