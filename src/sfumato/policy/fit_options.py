"""Settings against the types that dataclass fields declare."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from sfumato.errors import PolicyError
from sfumato.policy.line_numbers import Key, Origin

Made = TypeVar("Made")


class MisfitError(Exception):
    """A setting that is not what its field declares; the text says what is."""


def fit(value: Any, annotation: Any) -> Any:
    """A setting as the type of its field, or MisfitError with what was expected."""
    if annotation is Any or annotation is object:
        return value
    origin = get_origin(annotation)
    if origin in (Union, types.UnionType):
        return _fit_any(value, get_args(annotation))
    if origin is Literal:
        return _fit_choice(value, get_args(annotation))
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return annotation(_fit_choice(value, tuple(map(str, annotation))))
    if origin in (tuple, list, Sequence):
        return _fit_list(value, get_args(annotation))
    if origin in (dict, Mapping) or annotation in (dict, Mapping):
        return _fit_table(value, get_args(annotation))
    return _fit_plain(value, annotation)


def _fit_any(value: Any, choices: tuple[Any, ...]) -> Any:
    expected = []
    for choice in choices:
        if choice is type(None):
            if value is None:
                return None
            continue
        try:
            return fit(value, choice)
        except MisfitError as misfit:
            expected.append(str(misfit))
    raise MisfitError(" or ".join(dict.fromkeys(expected)))


def _fit_choice(value: Any, choices: tuple[Any, ...]) -> Any:
    if value in choices:
        return value
    raise MisfitError("one of " + ", ".join(f'"{choice}"' for choice in choices))


def _fit_list(value: Any, parts: tuple[Any, ...]) -> tuple[Any, ...]:
    inner = parts[0] if parts else Any
    if not isinstance(value, list | tuple):
        raise MisfitError("a list")
    try:
        return tuple(fit(item, inner) for item in value)
    except MisfitError as misfit:
        raise MisfitError(f"a list, each of it {misfit}") from None


def _fit_table(value: Any, parts: tuple[Any, ...]) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise MisfitError("a table")
    inner = parts[1] if len(parts) > 1 else Any
    try:
        return {str(key): fit(item, inner) for key, item in value.items()}
    except MisfitError as misfit:
        raise MisfitError(f"a table, each value of it {misfit}") from None


def _fit_plain(value: Any, annotation: Any) -> Any:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if annotation is int and whole:
        return value
    if annotation is float and (whole or isinstance(value, float)):
        return value
    if annotation is bool and isinstance(value, bool):
        return value
    if annotation is str and isinstance(value, str):
        return value
    raise MisfitError(_NAMES.get(annotation, "something else"))


_NAMES: Mapping[Any, str] = types.MappingProxyType(
    {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}
)


def make(
    kind: type[Made], settings: Mapping[str, Any], *, key: Key, origin: Origin
) -> Made:
    """An instance of a dataclass from settings, or an error that names the key."""
    hints = get_type_hints(kind)
    known = {field.name: field for field in fields(kind) if field.init}  # type: ignore[arg-type]
    name = getattr(kind, "name", kind.__name__)
    given = {}
    for setting, value in settings.items():
        if setting not in known:
            raise origin.fault(
                (*key, setting), f"is unknown to {name}.", hint=_close(setting, known)
            )
        given[setting] = _fitted(value, hints[setting], (*key, setting), origin)
    for setting, field in known.items():
        required = field.default is MISSING and field.default_factory is MISSING
        if required and setting not in given:
            raise origin.fault(
                key,
                f"lacks '{setting}', which {name} needs.",
                hint=f"Add {setting} = …",
            )
    return _made(kind, given, key, origin)


def _fitted(value: Any, annotation: Any, key: Key, origin: Origin) -> Any:
    try:
        return fit(value, annotation)
    except MisfitError as misfit:
        choice = isinstance(value, str) and str(misfit).startswith("one of ")
        what = f"must be {misfit}." if choice else f"is {kind_of(value)}, not {misfit}."
        raise origin.fault(key, what, hint=advice_for(value)) from None


def _made(kind: type[Made], given: Mapping[str, Any], key: Key, origin: Origin) -> Made:
    try:
        return kind(**given)
    except PolicyError as error:
        raise origin.fault(key, f"– {error.message}", hint=error.hint) from None


def _close(name: str, known: Mapping[str, Any]) -> str:
    close = get_close_matches(name, known, n=1)
    if close:
        return f"Did you mean '{close[0]}'?"
    return f"It has: {', '.join(known)}." if known else "It has no settings."


def kind_of(value: Any) -> str:
    """What a setting is, in words."""
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list | tuple):
        return "a list"
    return _NAMES.get(type(value), "a date or a time")


def advice_for(value: Any) -> str:
    """The way out for a setting of the wrong kind."""
    if isinstance(value, str) and value.replace(".", "", 1).isdigit():
        return "Write numbers without quotation marks."
    return "'sfumato init DATA -o -' shows a policy for your data, key by key."
