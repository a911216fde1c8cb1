"""Put what pydantic finds wrong in a policy into plain sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel, ValidationError

from sfumato.errors import PolicyError
from sfumato.policy.line_numbers import Key, Origin

Details = Mapping[str, Any]


def translated(
    error: ValidationError, origin: Origin, document: type[BaseModel]
) -> PolicyError:
    """Describe the first finding: its key, line, what was expected, and a hint."""
    found = error.errors(include_url=False, include_context=True)[0]
    key = _key(found["loc"])
    if found["type"] == "extra_forbidden":
        known = _known_keys(document, key[:-1])
        return origin.fault(
            key, "is not a key of the policy.", hint=_advice(key, known)
        )
    if found["type"] == "missing":
        return origin.fault(key, "is missing.", hint="Add it to the policy.")
    return origin.fault(key, _sentence(found), hint=advice_for(found["input"]))


def misfit(
    error: ValidationError, value: object, key: Key, origin: Origin
) -> PolicyError:
    """Describe what the type of a setting allows."""
    found = error.errors(include_url=False, include_context=True)
    inside = _key(found[0]["loc"])
    # A type with alternatives has a finding for each of them.
    alike = [each for each in found if _key(each["loc"])[: len(inside)] == inside]
    if len(alike) == 1:
        said, given = _sentence(found[0]), found[0]["input"]
    else:
        given = found[0]["input"] if inside else value
        allowed = dict.fromkeys(_allowed(each, inside) for each in alike)
        said = f"is {kind_of(given)}, not {' or '.join(allowed)}."
    return origin.fault((*key, *inside), said, hint=advice_for(given))


def _allowed(found: Details, inside: Key) -> str:
    """What one alternative of a type allows."""
    expected = _EXPECTED.get(found["type"], "one of its choices")
    if len(_key(found["loc"])) > len(inside):
        return f"a list whose items are each {expected}"
    return expected


def _key(location: tuple[str | int, ...]) -> Key:
    """Return the keys of a location, without pydantic's names of alternatives."""
    return tuple(part for part in location if not _ALTERNATIVE.fullmatch(str(part)))


_ALTERNATIVE = re.compile(r"str|int|float|bool|(dict|tuple|literal)\[.*\]")


def _known_keys(document: type[BaseModel], table: Key) -> tuple[str, ...]:
    """The keys that a table of the document may have."""
    sections: Mapping[str, Any] = document.model_fields
    for part in table:
        if isinstance(part, int) or part not in sections:
            continue
        inner = _section_of(sections[part].annotation)
        if inner is not None:
            sections = inner.model_fields
    return tuple(sections)


def _section_of(annotation: Any) -> type[BaseModel] | None:
    """The section behind an annotation such as `dict[str, ColumnSection]`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    parts = getattr(annotation, "__args__", ())
    return next((found for p in parts if (found := _section_of(p)) is not None), None)


def _advice(key: Key, known: tuple[str, ...]) -> str:
    close = get_close_matches(str(key[-1]), known, n=1)
    if close:
        return f"Did you mean '{close[0]}'?"
    return f"Known here: {', '.join(known)}."


def _sentence(found: Details) -> str:
    rule = _RULES.get(found["type"])
    context = found.get("ctx") or {}
    if rule is not None:
        return rule(context)
    expected = _EXPECTED.get(found["type"])
    if expected is not None:
        return f"is {kind_of(found['input'])}, not {expected}."
    return "is not what the policy expects here."


def _choice(context: Details) -> str:
    return f"must be one of {context['expected'].replace(' or ', ', ')}."


_RULES: Mapping[str, Callable[[Details], str]] = MappingProxyType(
    {
        "value_error": lambda context: f"{context['error']}.",
        "literal_error": _choice,
        "enum": _choice,
        "greater_than": lambda context: f"must be more than {context['gt']:g}.",
        "greater_than_equal": lambda context: f"must be at least {context['ge']:g}.",
        "less_than_equal": lambda context: f"must be at most {context['le']:g}.",
        "finite_number": lambda _: "must be a finite number.",
        "string_too_short": lambda _: "must be one character.",
        "string_too_long": lambda _: "must be one character.",
        "too_short": lambda _: "must not be empty.",
    }
)
_EXPECTED: Mapping[str, str] = MappingProxyType(
    {
        "string_type": "a text",
        "int_type": "a whole number",
        "float_type": "a number",
        "bool_type": "true or false",
        "tuple_type": "a list",
        "list_type": "a list",
        "dict_type": "a table",
        "model_type": "a table",
        "model_attributes_type": "a table",
    }
)


def kind_of(value: Any) -> str:
    """What a setting is, in words."""
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list | tuple):
        return "a list"
    return _KINDS.get(type(value), "a date or a time")


_KINDS: Mapping[type, str] = MappingProxyType(
    {int: "a whole number", float: "a number", str: "a text"}
)


def advice_for(value: Any) -> str:
    """Say what to do about a setting of the wrong kind."""
    if isinstance(value, str) and value.replace(".", "", 1).isdigit():
        return "Write numbers without quotation marks."
    return "'sfumato init DATA -o -' shows a policy for your data, key by key."
