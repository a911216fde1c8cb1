"""Settings of models, algorithms and operators, drawn from what the catalogue says.

Names come from the registry, options from the fields of each class, and choices from
types; where a field is a plain text, from the class itself, which names them when it
is given something else. What is new in the catalogue is drawn without a line here.
"""

from __future__ import annotations

import dataclasses
import re
import typing
from collections.abc import Callable
from enum import Enum
from functools import cache
from random import Random
from typing import Any, Literal

from sfumato import registry
from sfumato.errors import PolicyError

NONSENSE = "?!"
COUNTS = (1, 2, 2, 2, 3, 3, 4, 5)
SHARES = (0.05, 0.1, 0.25, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0)
RATIOS = (0.25, 0.5, 1.0, 1.5, 2.0, 4.0)

PARAMETERS: dict[str, Callable[[Random], Any]] = {
    "l": lambda r: r.choice((1, 2, 2, 3)),
    "p": lambda r: r.choice((1, 2, 2, 3)),
    "beta": lambda r: r.choice(RATIOS),
    "delta": lambda r: r.choice(RATIOS),
    "theta": lambda r: r.choice(SHARES[5:]),
    "alpha": lambda r: r.choice(SHARES[5:]),
    "t": lambda r: r.choice((0.0, *SHARES)),
    "upper": lambda r: r.choice(SHARES[5:]),
    "lower": lambda r: r.choice((0.0, 0.0, 0.05, 0.1, 0.3)),
    "significance": lambda r: r.choice((0.01, 0.05, 0.3)),
}
"""Where the type of a parameter says too little of what is sensible."""

OPTIONS: dict[str, Callable[[Random], Any]] = {
    "refine": lambda r: r.choice((False, True, 0.01, 0.5, 2.0)),
    "seconds": lambda r: r.choice((0.0, 0.05, 1.0)),
    "node_limit": lambda r: r.choice((1, 50, 10**6)),
    "max_checks": lambda r: r.choice((1, 5, 50_000)),
    "budget": lambda r: r.choice((100, 10_000, 1_000_000)),
    "tries": lambda r: r.choice((1, 20)),
    "size": lambda r: r.choice((5, 20)),
    "iterations": lambda r: r.choice((1, 4)),
    "orders": lambda r: r.choice((1, 3, 6)),
    "depth": lambda r: r.choice((1, 3, 6)),
    "confidence": lambda r: r.choice((0.5, 0.95)),
    "rounds": lambda r: r.choice((1, 2)),
    "rows_per_subject": lambda r: r.choice((1, 3)),
    "base": lambda r: r.choice(("k-member", "mondrian", "oka", "mdav", "harvest")),
}
"""Options whose type says too little of what is sensible."""

UNDRAWN = frozenset({"levels", "thresholds"})
"""Options that name columns; `draw` sets what they need."""


@cache
def fields(kind: str, name: str) -> dict[str, Any]:
    """The settings of a thing in the catalogue, by name, and their types."""
    cls = registry.load(kind, name)
    hints = typing.get_type_hints(cls)
    return {each.name: hints[each.name] for each in dataclasses.fields(cls)}


@cache
def required(kind: str, name: str) -> frozenset[str]:
    """The settings without a default."""
    cls = registry.load(kind, name)
    return frozenset(
        each.name
        for each in dataclasses.fields(cls)
        if each.default is dataclasses.MISSING
        and each.default_factory is dataclasses.MISSING
    )


@cache
def choices(kind: str, name: str, setting: str) -> tuple[Any, ...]:
    """What a setting may be, if its type or its class says so; else nothing."""
    hint = fields(kind, name)[setting]
    parts = typing.get_args(hint) or (hint,)
    if typing.get_origin(hint) is Literal:
        return tuple(parts)
    found: list[Any] = []
    for part in parts:
        if typing.get_origin(part) is Literal:
            found += typing.get_args(part)
        elif isinstance(part, type) and issubclass(part, Enum):
            found += [each.value for each in part]
        elif part is bool:
            found += [False, True]
    if not found and str in parts:
        return _named_choices(kind, name, setting)
    return tuple(found)


def _named_choices(kind: str, name: str, setting: str) -> tuple[str, ...]:
    """The choices that a class names when it is given none of them."""
    needed = dict.fromkeys(required(kind, name), 1)
    try:
        registry.load(kind, name)(**needed, **{setting: NONSENSE})
    except PolicyError as refusal:
        _, _, listed = str(refusal.hint).partition(" one of")
        return tuple(re.findall(r"[\w-]+", listed))
    return ()


def draw_setting(random: Random, kind: str, name: str, setting: str) -> Any:
    """A value for one setting, or None to leave it out."""
    special = PARAMETERS if kind == "models" else OPTIONS
    if setting in special:
        return special[setting](random)
    listed = choices(kind, name, setting)
    if listed:
        return random.choice(listed)
    hint = fields(kind, name)[setting]
    parts = typing.get_args(hint) or (hint,)
    if float in parts:
        return random.choice(SHARES)
    return random.choice(COUNTS) if int in parts else None


def draw_options(random: Random, kind: str, name: str) -> dict[str, Any]:
    """Some of the options of an algorithm or operator, often none."""
    if random.random() < 0.4:
        return {}
    drawn = {
        setting: draw_setting(random, kind, name, setting)
        for setting in fields(kind, name)
        if setting not in UNDRAWN and random.random() < 0.4
    }
    return {setting: value for setting, value in drawn.items() if value is not None}
