"""Workload files: TOML, JSON or SQL."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import tomli_w

from sfumato.data.json_records import parse
from sfumato.errors import UsageError
from sfumato.workload.queries import (
    Bound,
    Condition,
    Query,
    RandomQueries,
    Share,
    Sign,
    Workload,
)
from sfumato.workload.sql import parse_sql

ENDS: dict[str, Sign] = {"from": ">=", "to": "<=", "above": ">", "below": "<"}
QUERY_KEYS = {"name", "histogram", "group_by", "where"}
RANDOM_KEYS = {"count", "seed", "histogram", "group_by", "selectivity", "columns"}
TOP_KEYS = {"version", "query", "random", "sql"}
_FORM = (
    'For example: [[query]] with histogram = "age" and where = { sex = "female" }, or '
    "[[random]] with count = 100."
)


def load_workload(path: str | Path) -> Workload:
    """Read a workload; the end of the file's name says its form."""
    place = Path(path)
    try:
        text = place.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UsageError(
            f"There is no workload '{path}'.", hint="Name a .toml, .json or .sql file."
        ) from None
    except (OSError, ValueError):
        raise UsageError(
            f"The workload '{path}' cannot be read as UTF-8 text.",
            hint="Name a .toml, .json or .sql file.",
        ) from None
    try:
        return parse_workload(text, form=place.suffix.lower().lstrip("."))
    except UsageError as fault:
        named = f"'{path}': {fault.message}"
        raise UsageError(named, hint=fault.hint, values=fault.values) from None


def parse_workload(text: str, *, form: str = "toml") -> Workload:
    """Read a workload from text: `toml`, `json` or `sql`."""
    if form == "sql":
        return Workload(queries=parse_sql(text))
    if form not in ("toml", "json"):
        raise UsageError(
            f"A workload file ends in .toml, .json or .sql; this one in '.{form}'.",
            hint="Rename the file after what is in it.",
        )
    try:
        document = tomllib.loads(text) if form == "toml" else parse(text)
    except (ValueError, RecursionError) as error:
        # The TOML parser is recursive.
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        raise UsageError(
            f"The workload is not {form.upper()}: {reason}.", hint=_FORM
        ) from None
    return workload_of(document)


def workload_of(document: Any) -> Workload:
    """The workload that a document stands for."""
    table = _table(document, "The workload")
    _refuse_keys(table, TOP_KEYS, "The workload")
    if table.get("version", 1) != 1:
        raise _wrong("The workload", "has a version other than 1")
    queries = [_query(each, i) for i, each in enumerate(_list(table, "query"), 1)]
    for text in _list(table, "sql"):
        queries += parse_sql(_text(text, "An entry of 'sql'"))
    drawn = [_random(each, i) for i, each in enumerate(_list(table, "random"), 1)]
    if not queries and not drawn:
        raise _wrong("The workload", "has no query")
    return Workload(queries=tuple(queries), random=tuple(drawn))


def dump_workload(workload: Workload) -> str:
    """Write a workload as TOML."""
    document: dict[str, Any] = {"version": 1}
    if workload.queries:
        document["query"] = [_query_table(each) for each in workload.queries]
    if workload.random:
        document["random"] = [_random_table(each) for each in workload.random]
    return tomli_w.dumps(document)


def _query(value: Any, place: int) -> Query:
    what = f"Query {place}"
    table = _table(value, what)
    _refuse_keys(table, QUERY_KEYS, what)
    where = _table(table.get("where", {}), f"'where' of {what.lower()}")
    return Query(
        where=tuple(_condition(name, each, what) for name, each in where.items()),
        histogram=_optional_text(table, "histogram", what),
        group_by=_texts(table.get("group_by", []), what),
        name=_optional_text(table, "name", what) or "",
    )


def _condition(column: str, value: Any, what: str) -> Condition:
    if isinstance(value, list):
        return Condition(column=column, values=_cells(value, column, what))
    if not isinstance(value, Mapping):
        return Condition(column=column, values=_cells([value], column, what))
    _refuse_keys(value, {*ENDS, "in"}, f"The range of '{column}' in {what.lower()}")
    listed = value.get("in")
    return Condition(
        column=column,
        values=None if listed is None else _cells(listed, column, what),
        bounds=tuple(
            Bound(ENDS[key], end if isinstance(end, int | float) else str(end))
            for key, ends in value.items()
            if key in ENDS
            for end in (ends if isinstance(ends, list) else [ends])
        ),
    )


def _cells(values: Any, column: str, what: str) -> tuple[str, ...]:
    if not isinstance(values, list) or not values:
        raise _wrong(what, f"needs a list of values for '{column}'")
    return tuple(str(each) for each in values)


def _random(value: Any, place: int) -> RandomQueries:
    what = f"Random part {place}"
    table = _table(value, what)
    _refuse_keys(table, RANDOM_KEYS, what)
    return RandomQueries(
        count=_whole(table, "count", what, default=None),
        seed=_whole(table, "seed", what, default=0),
        selectivity=_selectivity(table, what),
        histogram=_optional_text(table, "histogram", what),
        group_by=_texts(table.get("group_by", []), what),
    )


def _selectivity(table: Mapping[str, Any], what: str) -> dict[str, Share]:
    """Per column; or one share of all rows, spread evenly over `columns`."""
    given = table.get("selectivity")
    if isinstance(given, Mapping) and "columns" not in table:
        return {str(name): _share(each, what) for name, each in given.items()}
    columns = _texts(table.get("columns", []), what)
    if isinstance(given, float) and columns:
        return dict.fromkeys(columns, given ** (1 / len(columns)))
    raise _wrong(
        what, "needs 'selectivity' per column, or one share and a list of 'columns'"
    )


def _share(value: Any, what: str) -> Share:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong(what, "has a selectivity that is not a number")
    return value


def _query_table(query: Query) -> dict[str, Any]:
    table: dict[str, Any] = {"name": query.name} if query.name else {}
    if query.histogram:
        table["histogram"] = query.histogram
    if query.group_by:
        table["group_by"] = list(query.group_by)
    if query.where:
        table["where"] = {each.column: _where(each) for each in query.where}
    return table


def _where(condition: Condition) -> list[str] | dict[str, Any]:
    listed = None if condition.values is None else list(condition.values)
    if listed is not None and not condition.bounds:
        return listed
    ends: dict[str, Any] = {}
    for name, sign in ENDS.items():
        found = [bound.value for bound in condition.bounds if bound.sign == sign]
        if found:
            ends[name] = found if len(found) > 1 else found[0]
    return ends if listed is None else ends | {"in": listed}


def _random_table(part: RandomQueries) -> dict[str, Any]:
    table: dict[str, Any] = {"count": part.count, "seed": part.seed}
    if part.histogram:
        table["histogram"] = part.histogram
    if part.group_by:
        table["group_by"] = list(part.group_by)
    return table | {"selectivity": dict(part.selectivity)}


def _table(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _wrong(what, "is not a table")
    return value


def _list(table: Mapping[str, Any], key: str) -> Sequence[Any]:
    value = table.get(key, [])
    if not isinstance(value, list):
        raise _wrong("The workload", f"needs a list in '{key}'")
    return value


def _texts(value: Any, what: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise _wrong(what, "needs a list of column names")
    return tuple(_text(each, what) for each in value)


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise _wrong(what, "has something else where a text is expected")
    return value


def _optional_text(table: Mapping[str, Any], key: str, what: str) -> str | None:
    return None if table.get(key) is None else _text(table[key], what)


def _whole(
    table: Mapping[str, Any], key: str, what: str, *, default: int | None
) -> int:
    value = table.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong(what, f"needs a whole number in '{key}'")
    return value


def _refuse_keys(table: Mapping[str, Any], known: set[str], what: str) -> None:
    strange = sorted(set(table) - known)
    if strange:
        raise _wrong(what, f"has the unknown key '{strange[0]}'")


def _wrong(what: str, problem: str) -> UsageError:
    return UsageError(f"{what} {problem}.", hint=_FORM)
