"""Format numbers, parameters and measurements for the report and the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from typing import Any

from sfumato.data.safe_repr import counted as counted

UNSAID: Mapping[str, object] = {
    "level": 0,
    "others_known": False,
    "reference": "published",
}
"""Parameters that are not shown while they have these values."""


def amount(value: object) -> str:
    """Format a number for reading: grouped digits, at most four significant ones."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "–" if value is None else str(value)
    if isinstance(value, int) or value.is_integer():
        return f"{int(value):,}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def percent(value: object) -> str:
    """A share between 0 and 1 as a percentage."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return amount(value)
    if 0 < value < 0.0001:
        return "< 0.01%"
    digits = 2 if value < 0.1 else 1
    return f"{value:.{digits}%}"


def listing(names: Sequence[str]) -> str:
    """Names as a person lists them: `a, b and c`."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def setting(value: object) -> str:
    """The value of a parameter, whatever its type."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return settings(value)
    if isinstance(value, list | tuple):
        return listing([setting(each) for each in value])
    return amount(value)


def settings(parameters: Mapping[str, Any]) -> str:
    """Parameters as a person would write them: `l = 3 on diagnosis`."""
    said = {key: value for key, value in parameters.items() if not _unsaid(key, value)}
    on = said.pop("on", None)
    text = ", ".join(f"{key} = {setting(value)}" for key, value in said.items())
    return f"{text} on {setting(on)}" if on else text


def _unsaid(key: str, value: object) -> bool:
    empty = value is None or (isinstance(value, Sized) and not len(value))
    return empty or (key in UNSAID and UNSAID[key] == value)


def measured(requirement: Mapping[str, Any]) -> str:
    """Format the measured figure, with its parameter's name where that is clear.

    Of a model with several limits it shows those that are broken. Where missing cells
    have several meanings, the figure of each is added.
    """
    found = _figure(requirement, requirement["measured"])
    readings = requirement.get("missing_as", {})
    said = [f"{name}: {amount(each['measured'])}" for name, each in readings.items()]
    return f"{found} (missing as {', as '.join(said)})" if said else found


def _figure(requirement: Mapping[str, Any], value: float | None) -> str:
    broken = requirement.get("broken_limits", {})
    if broken:
        return ", ".join(f"{name} = {amount(worst)}" for name, worst in broken.items())
    limits = [
        key
        for key, limit in requirement["parameters"].items()
        if isinstance(limit, int | float)
        and not isinstance(limit, bool)
        and key not in UNSAID
    ]
    if value is None or len(limits) != 1:
        return amount(value)
    return f"{limits[0]} = {amount(value)}"
