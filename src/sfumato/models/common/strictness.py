"""Which parameters of a model ask for less than those of another one."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from sfumato.models.base import Model


def looser_parameters(asked: Model, tried: Model) -> tuple[str, ...]:
    """The parameters in which a model asks for less than another of the same kind.

    A parameter whose values have no known order counts as looser if it differs: a
    change that is not known to be safe is none.
    """
    names = [each.name for each in fields(asked)]
    return tuple(name for name in names if not _at_least_as_strict(name, asked, tried))


def _at_least_as_strict(name: str, asked: Model, tried: Model) -> bool:
    before, after = getattr(asked, name), getattr(tried, name)
    if before == after and type(before) is type(after):
        return True
    if name in asked.never_weakening:
        return True
    if name == "on":
        return after is None or (before is not None and _names(before) <= _names(after))
    order = asked.choices_by_strictness.get(name, ())
    if before in order and after in order:
        return order.index(after) >= order.index(before)
    return _on_the_strict_side(name, asked, before, after)


def _on_the_strict_side(name: str, model: Model, before: Any, after: Any) -> bool:
    """Whether a number moved to the side that asks for more; no limit asks least."""
    above, below = name in model.stricter_above, name in model.stricter_below
    if not above and not below:
        return False
    if before is None or after is None:
        return before is None
    if _counts_and_shares(model, before, after):
        return False
    return bool(after >= before if above else after <= before)


def _counts_and_shares(model: Model, before: Any, after: Any) -> bool:
    """Whether one value counts rows and the other one is a share of them."""
    return bool(getattr(model, "counts_values", False)) and (
        isinstance(before, float) is not isinstance(after, float)
    )


def _names(columns: str | tuple[str, ...]) -> set[str]:
    return {columns} if isinstance(columns, str) else set(columns)
