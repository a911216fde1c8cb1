"""The keyword door: a policy document from the arguments of a call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from sfumato.data.schema import Role
from sfumato.errors import PolicyError, UsageError

ROLES = MappingProxyType(
    {
        "identifier": Role.IDENTIFIER,
        "quasi": Role.QUASI,
        "sensitive": Role.SENSITIVE,
        "insensitive": Role.INSENSITIVE,
        "subject": Role.SUBJECT,
        "weight": Role.WEIGHT,
    }
)
BY_COLUMN = MappingProxyType(
    {
        "hierarchies": "hierarchy",
        "kinds": "kind",
        "orders": "order",
        "domains": "domain",
        "weights": "weight",
        "pseudonymize": "pseudonymize",
    }
)
MODELS = MappingProxyType({"k": "k-anonymity", "l": "l-diversity", "t": "t-closeness"})
DATA = ("missing", "missing_as", "delimiter", "encoding")
PUBLISH = ("operator", "max_suppressed", "numbers", "flat", "order", "format")
OTHERS = (
    "drop",
    "require",
    "algorithm",
    "unlisted",
    "publish",
    "privacy",
    "loss_by",
)
KNOWN = (*ROLES, *BY_COLUMN, *MODELS, *DATA, *PUBLISH, *OTHERS)


def document_of(
    columns: Sequence[str] | None, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """The document that keyword settings stand for.

    Roles (`identifier`, `quasi`, `sensitive`, `insensitive`, `subject`, `weight`,
    `drop`) take a column's name or a list of names; `hierarchies`, `kinds`, `orders`,
    `domains` and `weights` a mapping by column; `k`, `l` and `t` add requirements,
    `require` further tables of them; `loss_by` names columns by whose values the loss is
    reported. `algorithm` is a name, or a mapping with its options.
    """
    _check_known(settings)
    given = {key: value for key, value in settings.items() if value is not None}
    publish = {key: given[key] for key in PUBLISH if key in given}
    document = {
        "columns": _columns(columns, given),
        "require": _requirements(given),
        "data": {key: _listed(given[key]) for key in DATA if key in given},
        "publish": publish | dict(given.get("publish", {})),
        "algorithm": _named_table(given.get("algorithm")),
    }
    if "privacy" in given:
        document["privacy"] = dict(given["privacy"])
    if "loss_by" in given:
        document["report"] = {"loss_by": _names(given["loss_by"])}
    if "unlisted" in given:
        document["unlisted"] = given["unlisted"]
    return document


def _check_known(settings: Mapping[str, Any]) -> None:
    for name in settings:
        if name not in KNOWN:
            close = get_close_matches(name, KNOWN, n=1)
            raise UsageError(
                f"There is no setting '{name}'.",
                hint=f"Did you mean '{close[0]}'?"
                if close
                else f"Settings are: {', '.join(KNOWN)}.",
            )


def _columns(
    columns: Sequence[str] | None, given: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    sections: dict[str, dict[str, Any]] = {}
    for keyword, role in ROLES.items():
        for name in _names(given.get(keyword)):
            _add(sections, name, "role", str(role))
    for name in _names(given.get("drop")):
        _add(sections, name, "drop", True)
    for keyword, setting in BY_COLUMN.items():
        for name, value in _by_column(given.get(keyword)).items():
            _check_listed(name, keyword, sections)
            sections[name][setting] = value
    return _in_table_order(columns, sections)


def _add(
    sections: dict[str, dict[str, Any]], name: str, setting: str, value: Any
) -> None:
    if name in sections:
        raise PolicyError(
            f"Column '{name}' is given more than one role.",
            hint="Name every column once.",
        )
    sections[name] = {setting: value}


def _check_listed(name: str, keyword: str, sections: Mapping[str, Any]) -> None:
    if name not in sections:
        raise PolicyError(
            f"'{keyword}' names the column '{name}', which has no role.",
            hint="Name it among quasi, sensitive or the other roles.",
        )


def _in_table_order(
    columns: Sequence[str] | None, sections: Mapping[str, dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    order = [name for name in columns or () if name in sections]
    return {name: sections[name] for name in dict.fromkeys([*order, *sections])}


def _requirements(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    short = [{"model": MODELS[key], key: given[key]} for key in MODELS if key in given]
    return short + [dict(table) for table in given.get("require", ())]


def _named_table(algorithm: Any) -> dict[str, Any]:
    if algorithm is None:
        return {}
    return {"name": algorithm} if isinstance(algorithm, str) else dict(algorithm)


def _by_column(value: Any) -> Mapping[str, Any]:
    """A mapping by column; names alone ask for a keyed hash."""
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return {name: _listed(setting) for name, setting in value.items()}
    return dict.fromkeys(_names(value), "keyed-hash")


def _names(value: str | Iterable[str] | None) -> list[str]:
    if value is None:
        return []
    return [value] if isinstance(value, str) else list(value)


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
