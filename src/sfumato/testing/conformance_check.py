"""What a conformance check is."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from enum import Enum
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from hypothesis import settings

CALM = settings(
    derandomize=True, deadline=None, database=None, max_examples=60, print_blob=False
)
"""How drawn examples are tried: the same ones every time, and no clock."""


class Check(NamedTuple):
    """A statement that must hold, and how to check it."""

    name: str
    """The statement."""
    run: Callable[[], None]
    case: str = ""
    """The options and the table that it is checked on."""

    def __call__(self) -> None:
        self.run()

    def __str__(self) -> str:
        return f"{self.name}: {self.case}" if self.case else self.name


def must(condition: object, otherwise: str) -> None:
    """Fail with a text; unlike `assert`, this cannot be switched off."""
    if not condition:
        raise AssertionError(otherwise)


def must_be_named(thing: type[Any], *texts: str) -> None:
    """A name such as `k-anonymity`, and texts that are sentences."""
    must(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", thing.name), "the name has odd signs")
    for text in texts:
        must(text.strip().endswith("."), "a sentence does not end in a full stop")


def variants(thing: type[Any]) -> dict[str, dict[str, Any]]:
    """The defaults, each other choice of each option, and the examples of the class.

    Choices are found by type: a flag, an enumeration or a Literal.
    """
    found: dict[str, dict[str, Any]] = {"defaults": {}}
    hints = get_type_hints(thing)
    for option in fields(thing):
        for value in choices(hints[option.name]):
            if option.default is not MISSING and value != option.default:
                found[f"{option.name}={value}"] = {option.name: value}
    for example in thing.examples:
        found[", ".join(f"{name}={value}" for name, value in example.items())] = {
            **example
        }
    return found


def must_try_every_option(
    thing: type[Any],
    sets: Mapping[str, Mapping[str, Any]],
    *,
    elsewhere: Collection[str] = (),
) -> None:
    """Fail if no set has an option; those that name columns fit no table of ours."""
    hints = get_type_hints(thing)
    tried = {name for options in sets.values() for name in options}.union(elsewhere)
    untried = [
        option.name
        for option in fields(thing)
        if option.name not in tried and not _names_columns(hints[option.name])
    ]
    must(not untried, f"no example sets {', '.join(untried)}")


def _names_columns(kind: Any) -> bool:
    return any(get_origin(part) is Mapping for part in (kind, *get_args(kind)))


def choices(kind: Any) -> Sequence[Any]:
    """The values that a type allows, where it allows only a few."""
    if kind is bool:
        return (False, True)
    if get_origin(kind) is Literal:
        return get_args(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return tuple(kind)
    return ()


def nonsense(option: Field[Any], kind: Any) -> Sequence[Any]:
    """Values that no option of this type may accept."""
    allowed = {kind, *get_args(kind)}
    if kind is bool or option.name in _FREE_TEXT:
        return ()
    if float in allowed:
        return (-1, float("nan"))
    if int in allowed:
        return (-1, 1.5, float("nan"))
    return ("no such choice",) if str in allowed or choices(kind) else ()


_FREE_TEXT = frozenset({"on", "population", "base"})
