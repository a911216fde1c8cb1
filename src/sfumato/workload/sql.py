"""Queries from a subset of SQL: `SELECT … COUNT(*) … WHERE … GROUP BY`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sfumato.errors import UsageError
from sfumato.workload.queries import Bound, Condition, Query, Sign

SqlNode = Any
"""A part of a parsed statement; sqlglot names its type differently in each version."""

SUBSET = (
    "Supported: SELECT a, COUNT(*) FROM t WHERE b IN (…) AND c = x AND d >= y "
    "AND e BETWEEN y AND z GROUP BY a."
)
TURNED: dict[Sign, Sign] = {">": "<", ">=": "<=", "<": ">", "<=": ">="}


def parse_sql(text: str) -> tuple[Query, ...]:
    """The queries of a text of SQL statements."""
    try:
        return _queries(text)
    except RecursionError:
        raise _nested_too_deeply() from None


def _queries(text: str) -> tuple[Query, ...]:
    parse_all, fault = _parser()
    try:
        # MySQL's double quotes are texts, as in the queries of Boger 2020.
        statements = [each for each in parse_all(text, read="mysql") if each]
    except fault as error:
        raise UsageError(
            f"The workload is not SQL: {_first_line(error)}.", hint=SUBSET
        ) from None
    return tuple(_query(each, place) for place, each in enumerate(statements, 1))


def _nested_too_deeply() -> UsageError:
    return UsageError(
        "The workload has a statement that is nested too deeply.",
        hint="Use IN (…) and BETWEEN instead of hundreds of conditions.",
    )


def _parser() -> tuple[Any, type[Exception]]:
    try:
        import sqlglot
        from sqlglot.errors import SqlglotError
    except ImportError:
        raise UsageError(
            "SQL workloads need sqlglot, which is not installed.",
            hint='Install it with: pip install "sfumato[workload]".',
        ) from None
    return sqlglot.parse, SqlglotError


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(". ")


def _query(statement: SqlNode, place: int) -> Query:
    from sqlglot import exp

    if not isinstance(statement, exp.Select):
        raise _strange(place, "is not a SELECT")
    _refuse_parts(statement, place)
    where = statement.args.get("where")
    conditions = _conditions(where.this, place) if where else ()
    keys = _keys(statement, place)
    shown = _shown(statement, place)
    if set(shown) - set(keys):
        raise _strange(place, "selects a column that it does not group by")
    return Query(where=conditions, group_by=keys, name=f"statement {place}")


def _refuse_parts(statement: SqlNode, place: int) -> None:
    known = {"kind", "expressions", "from", "from_", "where", "group"}
    for part, value in statement.args.items():
        if value and part not in known:
            raise _strange(place, f"has a part that is not read ('{part}')")


def _keys(statement: SqlNode, place: int) -> tuple[str, ...]:
    group = statement.args.get("group")
    if group is None:
        return ()
    if any(value for part, value in group.args.items() if part != "expressions"):
        raise _strange(place, "groups by more than columns")
    return tuple(_column(each, place) for each in group.expressions)


def _shown(statement: SqlNode, place: int) -> list[str]:
    """The selected columns; the one thing beside them must be COUNT(*)."""
    from sqlglot import exp

    columns, counts = [], 0
    for each in statement.expressions:
        bare = each.unalias()
        if isinstance(bare, exp.Count) and isinstance(bare.this, exp.Star):
            counts += 1
        else:
            columns.append(_column(bare, place))
    if counts != 1:
        raise _strange(place, f"has {counts} COUNT(*), not one")
    return columns


def _conditions(node: SqlNode, place: int) -> tuple[Condition, ...]:
    from sqlglot import exp

    node = node.unnest()
    if isinstance(node, exp.And):
        return _conditions(node.left, place) + _conditions(node.right, place)
    if isinstance(node, exp.In) and not node.args.get("query"):
        values = _texts(node.expressions, place)
        return (Condition(column=_column(node.this, place), values=values),)
    if isinstance(node, exp.Between):
        ends = (node.args["low"], node.args["high"])
        low, high = (_literal(end, place) for end in ends)
        bounds = (Bound(">=", low), Bound("<=", high))
        return (Condition(column=_column(node.this, place), bounds=bounds),)
    return (_comparison(node, place),)


def _comparison(node: SqlNode, place: int) -> Condition:
    from sqlglot import exp

    if isinstance(node, exp.EQ):
        column, value, _ = _sides(node, ">=", place)
        return Condition(column=column, values=(_text(value),))
    signs: dict[Any, Sign] = {
        exp.GT: ">",
        exp.GTE: ">=",
        exp.LT: "<",
        exp.LTE: "<=",
    }
    sign = signs.get(type(node))
    if sign is None:
        raise _strange(place, f"has a condition that is not read ({node.key.upper()})")
    column, value, sign = _sides(node, sign, place)
    return Condition(column=column, bounds=(Bound(sign, value),))


def _sides(node: SqlNode, sign: Sign, place: int) -> tuple[str, str | float, Sign]:
    """Column, value and sign, whichever side the column stands on."""
    from sqlglot import exp

    left, right = node.args["this"], node.args["expression"]
    if isinstance(left, exp.Column):
        return _column(left, place), _literal(right, place), sign
    return _column(right, place), _literal(left, place), TURNED[sign]


def _column(node: SqlNode, place: int) -> str:
    from sqlglot import exp

    if not isinstance(node, exp.Column):
        raise _strange(place, "has an expression where a column is expected")
    return str(node.name)


def _texts(nodes: Iterable[SqlNode], place: int) -> tuple[str, ...]:
    return tuple(_text(_literal(each, place)) for each in nodes)


def _text(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.17g}"


def _literal(node: SqlNode, place: int) -> str | float:
    from sqlglot import exp

    negative = isinstance(node, exp.Neg)
    bare = node.this if negative else node
    if not isinstance(bare, exp.Literal):
        raise _strange(place, "compares with something that is not a plain value")
    if bare.is_string:
        return str(bare.this)
    return -float(bare.this) if negative else float(bare.this)


def _strange(place: int, what: str) -> UsageError:
    return UsageError(f"SQL statement {place} {what}.", hint=SUBSET)
