"""Sentences about the columns that no requirement covers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.report.number_text import listing, percent

UNIQUE = "unique_with_exact_columns"
"""The share of rows that are unique with exact columns; a key of the risk."""
RARE = "rare_values"
"""The exact columns with values that few hold; a key of the risk."""
EXACT_ROLES = ("insensitive", "weight")


def unique_sentence(risk: Mapping[str, Any]) -> str | None:
    """How many rows are unique with exact columns; None without such columns."""
    if UNIQUE not in risk:
        return None
    columns: Mapping[str, Mapping[str, Any]] = risk["columns"]
    names = [name for name, each in columns.items() if each["role"] in EXACT_ROLES]
    return (
        f"{percent(risk[UNIQUE])} of rows are unique by the quasi-identifiers together "
        f"with {_quoted(names)}."
    )


def rare_sentence(risk: Mapping[str, Any]) -> str | None:
    """Which exact columns have values that few hold; None where there is none."""
    rare: Mapping[str, Any] = risk.get(RARE, {})
    if not rare:
        return None
    fewest = [f"'{name}' ({count:,})" for name, count in rare["columns"].items()]
    return (
        f"{listing(fewest)} {'has' if len(fewest) == 1 else 'have'} values that fewer "
        f"than {rare['below']:,} {rare['unit']} hold; the fewest are in brackets."
    )


def _quoted(names: list[str]) -> str:
    return listing([f"'{name}'" for name in names])
