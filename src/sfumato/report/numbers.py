"""How the report writes numbers."""

from __future__ import annotations


def amount(value: object) -> str:
    """A number for reading: grouped digits, at most four that count."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "–" if value is None else str(value)
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def percent(value: object) -> str:
    """A share between 0 and 1 as a percentage."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return amount(value)
    if 0 < value < 0.0001:
        return "< 0.01 %"
    digits = 2 if value < 0.1 else 1
    return f"{value:.{digits}%}".replace("%", " %")
