"""Make a dataclass from settings; pydantic compares them with the types of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from difflib import get_close_matches
from enum import Enum
from functools import cache
from typing import Any, TypeVar, get_type_hints

from pydantic import TypeAdapter, ValidationError

from sfumato.errors import PolicyError
from sfumato.policy.error_text import misfit
from sfumato.policy.line_numbers import Key, Origin

Made = TypeVar("Made")


def make(
    kind: type[Made], settings: Mapping[str, Any], *, key: Key, origin: Origin
) -> Made:
    """Make a dataclass from settings, or raise an error that names the key."""
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
    except ValidationError as error:
        raise misfit(error, value, key, origin) from None


def fit(value: Any, annotation: Any) -> Any:
    """Fit a setting to the type of its field, or raise pydantic's error.

    Nothing is converted: a text is no number, and a whole number stays one where any
    number is allowed. But lists become tuples, and words become members of an
    enumeration.
    """
    adapter, frozen = _adapter(annotation, repr(annotation)), _frozen(value)
    if isinstance(value, str) and _is_enumeration(annotation):
        return adapter.validate_python(value)
    adapter.validate_python(frozen, strict=True)
    return frozen


def _is_enumeration(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Enum)


@cache
def _adapter(annotation: Any, _spelled: str) -> TypeAdapter[Any]:
    """Make the adapter of a type once.

    Literals with the same choices in another order are equal, but messages list the
    choices in the order of the source: so the spelling is a part of the key.
    """
    return TypeAdapter(annotation)


def _frozen(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return tuple(map(_frozen, value))
    if isinstance(value, Mapping):
        return {str(key): _frozen(item) for key, item in value.items()}
    return value


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
