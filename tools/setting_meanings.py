"""What each setting of a class is: its type, its default and its meaning.

The meaning is the text under the field in the code, which is its only place.
"""

from __future__ import annotations

import ast
import inspect
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from itertools import pairwise
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

WORDS = {str: "text", int: "whole number", float: "number", bool: "true or false"}


@dataclass(frozen=True)
class Setting:
    """One line of a table of settings."""

    name: str
    type: str
    default: str
    meaning: str

    def row(self) -> str:
        """The line in Markdown."""
        cells = (f"`{self.name}`", self.type, self.default, self.meaning)
        return "| " + " | ".join(escaped(cell) for cell in cells) + " |"


def table(settings: Sequence[Setting]) -> str:
    """A table of settings in Markdown."""
    head = "| setting | type | default | meaning |\n|---|---|---|---|"
    return "\n".join([head, *(each.row() for each in settings)])


def escaped(cell: str) -> str:
    """A cell of a table, with bars that do not end it."""
    return cell.replace("|", "\\|")


def settings_of(cls: type) -> list[Setting]:
    """Every setting of a dataclass or of a table of the policy, in order."""
    if issubclass(cls, BaseModel):
        return list(_of_model(cls))
    return list(_of_dataclass(cls)) if is_dataclass(cls) else []


def _of_model(cls: type[BaseModel]) -> Iterator[Setting]:
    said = meanings(cls)
    for name, field in cls.model_fields.items():
        default = field.default
        if field.default_factory is not None:
            default = ()
        shown = "must be given" if default is PydanticUndefined else _value(default)
        yield Setting(name, type_text(field.annotation), shown, said.get(name, ""))


def _of_dataclass(cls: Any) -> Iterator[Setting]:
    said, hints = meanings(cls), typing.get_type_hints(cls)
    for field in fields(cls):
        if field.default is not MISSING:
            shown = _value(field.default)
        else:
            shown = "must be given" if field.default_factory is MISSING else "empty"
        yield Setting(
            field.name, type_text(hints[field.name]), shown, said.get(field.name, "")
        )


def _value(default: object) -> str:
    """A default as a policy writes it."""
    if default is None:
        return "left out"
    if isinstance(default, BaseModel) or default in ((), {}, []):
        return "empty"
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    if isinstance(default, tuple):
        return "`[" + ", ".join(f'"{each}"' for each in default) + "]`"
    return f'`"{default}"`' if isinstance(default, str) else f"`{default}`"


def type_text(annotation: Any) -> str:
    """A type as a person says it: `text`, `"a" or "b"`, `list of texts`."""
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return type_text(parts[0])
    if origin is typing.Literal:
        return _choices(parts)
    if origin in (typing.Union, types.UnionType):
        said = [type_text(part) for part in parts if part is not type(None)]
        return " or ".join(dict.fromkeys(said))
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return _choices([each.value for each in annotation])
    if origin in (tuple, list, Sequence):
        return f"list of {_plural(type_text(parts[0]))}"
    if origin in (dict, Mapping) or annotation in (dict, Mapping):
        return "table"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "table"
    return WORDS.get(annotation, "value")


def _plural(word: str) -> str:
    return "tables" if word == "table" else f"{word}s"


def _choices(values: Sequence[object]) -> str:
    said = [f'`"{v}"`' if isinstance(v, str) else f"`{v}`" for v in values]
    return " or ".join([", ".join(said[:-1]), said[-1]] if len(said) > 1 else said)


def meanings(cls: type) -> dict[str, str]:
    """What is said under each field of a class and of the classes it extends."""
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if base.__module__.startswith("sfumato"):
            found |= _own_meanings(base)
    return found


@cache
def _own_meanings(cls: type) -> dict[str, str]:
    """What is said under the fields that a class itself declares."""
    body = next(iter(_class_bodies(cls)), [])
    return {
        field.target.id: " ".join(inspect.cleandoc(said.value.value).split())
        for field, said in pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(said, ast.Expr)
        and isinstance(said.value, ast.Constant)
        and isinstance(said.value.value, str)
    }


def _class_bodies(cls: type) -> Iterator[list[ast.stmt]]:
    module = inspect.getmodule(cls)
    assert module is not None
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.ClassDef) and node.name == cls.__name__:
            yield node.body
