"""Hierarchies drawn at random: every builder of the policy, with every option."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass, field
from random import Random
from typing import Any

import tomli_w

from tests.fuzz.cases import Column
from tests.fuzz.values import canary

NUMERIC = frozenset({"integer", "decimal", "date", "datetime"})
DAY = 86_400


@dataclass
class Drawn:
    """A hierarchy as the policy writes it, its file, and what its labels mean."""

    spec: Any = None
    files: dict[str, str] = field(default_factory=dict)
    paths: dict[str, list[str]] | None = None


def draw_hierarchy(
    random: Random, name: str, column: Column, *, leaves: list[str], judged: bool
) -> Drawn:
    """A hierarchy that suits a column; `leaves` are all values that it must know.

    That of a `judged` column is one whose nodes the oracle knows, unless its values
    are numbers, which are judged by their order.
    """
    if judged and column.kind not in NUMERIC:
        return random.choice([_flat, _file, _tree])(random, name, column, leaves)
    makers = [_none, _auto, _flat, _file, _tree]
    if column.kind in NUMERIC:
        makers += [_free, _intervals, _intervals, _quantiles]
    if column.kind in ("date", "datetime"):
        makers += [_calendar, _calendar]
    if column.kind in ("code", "category"):
        makers += [_prefix, _vocabulary, _learned]
    return random.choice(makers)(random, name, column, leaves)


def _none(*_: Any) -> Drawn:
    return Drawn()


def _auto(*_: Any) -> Drawn:
    return Drawn("auto")


def _flat(*_: Any) -> Drawn:
    return Drawn("flat")


def _free(*_: Any) -> Drawn:
    return Drawn("free")


def _learned(*_: Any) -> Drawn:
    return Drawn("learned")


def _intervals(random: Random, _name: str, column: Column, _leaves: Any) -> Drawn:
    width: float = random.choice([2, 5, 10])
    if column.kind == "datetime":
        width *= random.choice([1, 3600, DAY])
    elif column.kind == "date":
        width *= random.choice([1, 30, 3000])
    else:
        width *= random.choice([1, 1, 1000])
    if column.kind == "decimal":
        width /= random.choice([1, 8])
    widths = [width]
    for _ in range(random.randint(0, 2)):
        widths.append(widths[-1] * random.choice([2, 3, 10]))
    spec: dict[str, Any] = {"intervals": widths}
    marks = _marks(column.kind)
    for option, value in zip(("origin", "bottom", "top"), marks, strict=True):
        if random.random() < 0.25:
            spec[option] = value
    return Drawn(spec)


def _marks(kind: str) -> tuple[Any, Any, Any]:
    if kind == "date":
        return "1985-03-01", "1991-01-01", "1996-06-30"
    if kind == "datetime":
        return "2020-01-01T00:00", "2021-01-02T00:00", "2021-01-09T12:00"
    return (1, 3, 20) if kind == "integer" else (0.5, 1.25, 6.0)


def _quantiles(random: Random, *_: Any) -> Drawn:
    return Drawn({"quantiles": random.choice([[8, 4, 2], [4, 2], [3], [20, 10, 5]])})


def _prefix(random: Random, *_: Any) -> Drawn:
    return Drawn({"prefix": random.choice([[4, 3, 2], [3, 1], [2]])})


def _vocabulary(random: Random, *_: Any) -> Drawn:
    return Drawn({"vocabulary": random.choice(["country", "education", "occupation"])})


def _calendar(random: Random, _name: str, column: Column, _leaves: Any) -> Drawn:
    units = ["month", "quarter", "year", "decade"]
    if column.kind == "datetime":
        units.insert(0, "day")
    chosen = [unit for unit in units if random.random() < 0.5] or ["year"]
    return Drawn({"calendar": chosen})


def _branches(random: Random, leaves: list[str]) -> list[list[str]]:
    """Each leaf with its labels up to the root, all equally long."""
    coarse = [canary(random) for _ in range(random.randint(1, 3))]
    fine = [(canary(random), random.choice(coarse)) for _ in range(4)]
    three = random.random() < 0.7
    rows = []
    for leaf in leaves:
        low, high = random.choice(fine)
        rows.append([leaf, low, high, "*"] if three else [leaf, high, "*"])
    return rows


def _file(random: Random, name: str, _column: Column, leaves: list[str]) -> Drawn:
    rows = _branches(random, leaves)
    paths = {row[0]: row for row in rows}
    if random.random() < 0.2:
        return _nested_file(random, name, rows)
    delimiter = random.choice([",", ";", "\t"])
    sink = io.StringIO()
    writer = csv.writer(sink, delimiter=delimiter, lineterminator="\n")
    header = random.random() < 0.4
    if header:
        writer.writerow([name, *(f"level {n}" for n in range(1, len(rows[0])))])
    writer.writerows(rows)
    file = f"hierarchy-{name}.csv"
    spec: Any = {"file": file, "delimiter": delimiter, "header": header}
    if random.random() < 0.3:
        spec["trust"] = spec["multiline"] = random.random() < 0.5
    if delimiter == "," and random.random() < 0.3:
        spec = file if header else {"file": file, "header": False}
    return Drawn(spec, {file: sink.getvalue()}, paths)


def _nested(rows: list[list[str]]) -> dict[str, Any]:
    """The same as tables of tables; the root may be left out where it has two children."""
    tree: dict[str, Any] = {}
    for row in rows:
        at = tree
        for label in row[-2:1:-1]:
            at = at.setdefault(label, {})
        at.setdefault(row[1], []).append(row[0])
    return tree if len(tree) > 1 else {"*": tree}


def _nested_file(random: Random, name: str, rows: list[list[str]]) -> Drawn:
    ending = random.choice(["json", "toml"])
    file = f"hierarchy-{name}.{ending}"
    tree = _nested(rows)
    text = json.dumps(tree) if ending == "json" else tomli_w.dumps(tree)
    spec: Any = random.choice([file, {"file": file}, {"tree": file}])
    return Drawn(spec, {file: text}, {row[0]: row for row in rows})


def _tree(random: Random, _name: str, _column: Column, leaves: list[str]) -> Drawn:
    rows = _branches(random, leaves)
    spec: dict[str, Any] = {"tree": _nested(rows)}
    if random.random() < 0.3:
        spec["trust"] = random.random() < 0.5
    return Drawn(spec, {}, {row[0]: row for row in rows})
