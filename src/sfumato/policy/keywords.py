"""Build a policy document from the keyword arguments of a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, TypedDict

from sfumato.data.schema import Role
from sfumato.errors import PolicyError, UsageError

Names = str | Sequence[str] | None
ByColumn = Mapping[str, Any] | None


class Settings(TypedDict, total=False):
    """Every setting of a call, for editors: a name or names, or a mapping by column."""

    identifier: Names
    quasi: Names
    sensitive: Names
    insensitive: Names
    subject: Names
    weight: Names
    drop: Names
    keep_as_is: Names
    hierarchies: ByColumn
    kinds: ByColumn
    orders: ByColumn
    domains: ByColumn
    weights: ByColumn
    bands: ByColumn
    bottoms: ByColumn
    tops: ByColumn
    pseudonymize: Names | ByColumn
    k: int | None
    l: float | None
    t: float | None
    require: Sequence[Mapping[str, Any]] | None
    algorithm: str | Mapping[str, Any] | None
    operator: str | None
    max_suppressed: float | None
    max_loss: float | None
    numbers: str | None
    flat: str | None
    order: str | None
    format: str | None
    trim: bool | None
    spreadsheet_safe: bool | None
    publish: Mapping[str, Any] | None
    missing: Sequence[str] | None
    missing_as: str | None
    delimiter: str | None
    encoding: str | None
    multiline: bool | None
    decimal: str | None
    sheet: str | None
    key: str | Sequence[str] | None
    unlisted: str | None
    privacy: Mapping[str, Any] | None
    loss_by: Names


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
        "bands": "bands",
        "bottoms": "bottom",
        "tops": "top",
        "pseudonymize": "pseudonymize",
    }
)
MODELS = MappingProxyType({"k": "k-anonymity", "l": "l-diversity", "t": "t-closeness"})
DATA = (
    "missing",
    "missing_as",
    "delimiter",
    "encoding",
    "multiline",
    "decimal",
    "sheet",
    "key",
)
PUBLISH = (
    "operator",
    "max_suppressed",
    "max_loss",
    "numbers",
    "flat",
    "order",
    "format",
    "trim",
    "spreadsheet_safe",
)
OTHERS = (
    "drop",
    "keep_as_is",
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
    """Build the document that keyword settings stand for.

    Roles (`identifier`, `quasi`, `sensitive`, `insensitive`, `subject`, `weight`,
    `drop`) take a column's name or a list of names; `hierarchies`, `kinds`, `orders`,
    `domains`, `weights`, `bands`, `bottoms` and `tops` a mapping by column;
    `keep_as_is` names columns to publish although their values tell rows apart; `k`,
    `l` and `t` add requirements, `require` further tables of them; `loss_by` names
    columns by whose values the loss is reported. `algorithm` is a name, or a mapping
    with its options.
    """
    _check_known(settings)
    given = {k: _plain(value) for k, value in settings.items() if value is not None}
    publish = {key: given[key] for key in PUBLISH if key in given}
    document = {
        "columns": _columns(columns, given),
        "require": _requirements(given),
        "data": _data(given),
        "publish": publish | _table("publish", given.get("publish", {})),
        "algorithm": _named_table(given.get("algorithm")),
    }
    if "privacy" in given:
        document["privacy"] = _table("privacy", given["privacy"])
    if "loss_by" in given:
        document["report"] = {"loss_by": _names("loss_by", given["loss_by"])}
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
        for name in _names(keyword, given.get(keyword)):
            _add(sections, name, "role", str(role))
    for name in _names("drop", given.get("drop")):
        _add(sections, name, "drop", True)
    for name in _names("keep_as_is", given.get("keep_as_is")):
        _check_listed(name, "keep_as_is", sections)
        sections[name]["keep_as_is"] = True
    for keyword, setting in BY_COLUMN.items():
        for name, value in _by_column(keyword, given.get(keyword)).items():
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
    tables = given.get("require", ())
    if isinstance(tables, Mapping) or not _is_list(tables):
        raise _misused("require", "a list of tables, such as [{'model': 'k-map'}]")
    return short + [_table("require", table) for table in tables]


def _named_table(algorithm: Any) -> dict[str, Any]:
    if algorithm is None:
        return {}
    if isinstance(algorithm, str):
        return {"name": algorithm}
    return _table("algorithm", algorithm)


def _table(keyword: str, value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    raise _misused(keyword, "a table: a dict of settings")


def _by_column(keyword: str, value: Any) -> Mapping[str, Any]:
    """Return a mapping by column; plain names ask for a keyed hash."""
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return {name: _plain(setting) for name, setting in value.items()}
    if keyword != "pseudonymize":
        raise _misused(keyword, "a dict with the names of columns")
    return dict.fromkeys(_names(keyword, value), "keyed-hash")


def _data(given: Mapping[str, Any]) -> dict[str, Any]:
    said = {key: given[key] for key in DATA if key in given}
    if "key" in said:
        said["key"] = _names("key", said["key"])
    return said


def _names(keyword: str, value: Any) -> list[str]:
    """A name or several, as a list."""
    if value is None:
        return []
    found = [value] if isinstance(value, str) else value
    if _is_list(found) and all(isinstance(name, str) for name in found):
        return [str(name) for name in found]
    raise _misused(keyword, "the name of a column, or a list of names")


def _is_list(value: Any) -> bool:
    """Return whether a value is a list, or a pandas index, but not a table or text."""
    return hasattr(value, "__iter__") and not isinstance(value, str | bytes | Mapping)


def _plain(value: Any) -> Any:
    """Convert a setting to what a document can hold: no NumPy numbers, no tuples."""
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        return value.tolist()
    return value


def _misused(keyword: str, expected: str) -> UsageError:
    return UsageError(
        f"'{keyword}' is not {expected}.",
        hint="For example quasi=['age', 'zip'], kinds={'zip': 'code'}, k=5.",
    )
