"""Make the models, algorithms and operators that a policy names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sfumato import registry
from sfumato.data.safe_repr import SafeRepr
from sfumato.errors import PolicyError
from sfumato.models.base import Model
from sfumato.policy.fit_options import make
from sfumato.policy.line_numbers import Key, Origin
from sfumato.policy.sections import Requirement

Load = Callable[[str], type[Any]]
"""Finds a class by the name that the policy uses."""


@dataclass(frozen=True, repr=False)
class PolicyModels(SafeRepr):
    """The models of a policy's requirements, kept on the policy that they were made for.

    All instances compare equal, because policies are compared by content.
    """

    sections: tuple[Requirement, ...] | None = field(default=None, compare=False)
    """The requirements that the models were made from."""
    models: tuple[Model, ...] = field(default=(), compare=False)


def make_model(
    table: Mapping[str, Any],
    key: Key = ("require",),
    *,
    origin: Origin | None = None,
    load: Load | None = None,
) -> Model:
    """The model that a `[[require]]` table asks for."""
    made: Model = make_named(table, "model", "models", key, origin=origin, load=load)
    return made


def make_named(
    table: Mapping[str, Any],
    name_key: str,
    kind: str,
    key: Key,
    *,
    origin: Origin | None = None,
    load: Load | None = None,
) -> Any:
    """Make the catalogue item that a table names, with its settings."""
    origin = origin or Origin()
    found = load_named(table, name_key, kind, key, origin=origin, load=load)
    settings = {name: value for name, value in table.items() if name != name_key}
    return make(found, settings, key=key, origin=origin)


def load_named(
    table: Mapping[str, Any],
    name_key: str,
    kind: str,
    key: Key,
    *,
    origin: Origin,
    load: Load | None = None,
) -> type[Any]:
    """The class that a table names."""
    name = table.get(name_key)
    if not isinstance(name, str):
        raise origin.fault(
            key, f"lacks '{name_key}'.", hint=f"'sfumato list {kind}' has the names."
        )
    try:
        return load(name) if load else registry.load(kind, name)
    except PolicyError as error:
        raise origin.fault(
            (*key, name_key), f"– {error.message}", hint=error.hint
        ) from None
