"""Read hierarchies from CSV files, JSON and TOML trees, and trees inside a policy."""

from __future__ import annotations

import csv
import io
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import isnan
from pathlib import Path

from sfumato.data.csv_syntax import (
    CsvGrammar,
    GrammarError,
    grammar_fault,
    line_number,
)
from sfumato.data.source import probable_encoding
from sfumato.data.table import Column
from sfumato.errors import HierarchyError
from sfumato.hierarchies.axis import STAR
from sfumato.hierarchies.labels import parse_value

_DELIMITERS = (";", "\t", ",")
"""Most reliable first: labels such as `[0, 5[` contain commas, rarely the others."""
_TREES = (".json", ".toml")
LINE_BREAK = re.compile("[\r\n]")


@dataclass(frozen=True, kw_only=True)
class LabelTable:
    """A hierarchy as it was written: per level, the label of each leaf."""

    name: str
    """What messages call it: the file's name, or 'tree'."""
    levels: tuple[tuple[str, ...], ...]
    """Level 0 (the leaves) first."""

    @property
    def leaves(self) -> tuple[str, ...]:
        return self.levels[0]


def read_file(
    path: Path,
    column: Column,
    *,
    header: bool | None = None,
    delimiter: str | None = None,
    multiline: bool = False,
) -> LabelTable:
    """Read a hierarchy file: a tree by its suffix, a CSV file otherwise.

    Labels of a CSV file may have line breaks if they are values of the column, or if
    the file is said to be `multiline`.
    """
    if path.suffix.lower() in _TREES:
        return read_tree(path, column)
    text = _text_of(path, column)
    rows = _parse_rows(text, path, column, delimiter, multiline=multiline)
    if _has_header(rows, column) if header is None else header:
        rows = rows[1:]
    _check_rows(rows, path, column)
    cells = [row for _, row in rows]
    return LabelTable(name=path.name, levels=tuple(zip(*cells, strict=True)))


def read_tree(path: Path, column: Column) -> LabelTable:
    """Read a nested tree from a JSON or TOML file."""
    text = _text_of(path, column)
    load = _load_toml if path.suffix.lower() == ".toml" else _load_json
    try:
        return tree_table(load(text), column, name=path.name)
    except ValueError as error:
        problem = f"cannot be read: {_reason(error)}."
    except RecursionError:
        problem = "is nested too deeply."
    raise _fault(
        path.name,
        column,
        problem,
        hint="A tree is tables of tables, with lists of leaves at the end.",
    )


def _reason(error: ValueError) -> str:
    """Return a parser's message, without the text that it could not parse."""
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON at line {error.lineno}, column {error.colno}"
    if isinstance(error, tomllib.TOMLDecodeError):
        place = re.search(r"line \d+, column \d+", str(error))
        return f"not TOML at {place[0] if place else 'its end'}"
    return str(error)


def tree_table(tree: object, column: Column, *, name: str = "tree") -> LabelTable:
    """Lay a nested tree out as one row per leaf, short branches padded at the leaf."""
    if not isinstance(tree, (Mapping, list)) or not tree:
        raise _fault(
            name, column, "is not a tree: tables and lists of values expected."
        )
    paths = list(_paths(tree, (), name, column))
    if not paths:
        raise _fault(name, column, "has no leaves.")
    depth = max(len(path) for path in paths)
    padded = [path[::-1][:1] * (depth - len(path)) + path[::-1] for path in paths]
    return LabelTable(name=name, levels=tuple(zip(*padded, strict=True)))


def _paths(
    node: object, above: tuple[str, ...], name: str, column: Column
) -> Iterator[tuple[str, ...]]:
    """Return every path from the top to a leaf; a key without children is a leaf."""
    if isinstance(node, Mapping):
        for key, below in node.items():
            if below is None or (isinstance(below, (Mapping, list)) and not below):
                yield (*above, str(key))
            else:
                yield from _paths(below, (*above, str(key)), name, column)
    elif isinstance(node, list):
        for item in node:
            yield from _paths(item, above, name, column)
    elif isinstance(node, bool) or node is None:
        raise _fault(name, column, "holds a leaf that is neither text nor number.")
    else:
        yield (*above, str(node))


def _load_json(text: str) -> object:
    return json.loads(
        text, parse_float=str, parse_int=str, object_pairs_hook=_without_twins
    )


def _load_toml(text: str) -> object:
    return tomllib.loads(text, parse_float=str)


def _without_twins(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"{len(pairs) - len(found)} keys occur twice in one table")
    return found


def _text_of(path: Path, column: Column) -> str:
    hint, content = None, b""
    try:
        content = path.read_bytes()
        return content.decode("utf-8-sig")
    except FileNotFoundError:
        problem = "does not exist."
    except IsADirectoryError:
        problem = "is a directory, not a file."
    except UnicodeDecodeError as error:
        line = line_number(memoryview(error.object), error.start)
        problem = f"is not UTF-8: line {line} has other bytes."
        hint = f"It is probably {probable_encoding(content)}: save it as UTF-8."
    except OSError as error:
        problem = f"cannot be read: {error.strerror}."
    except ValueError:
        problem = "is no path: it contains a null character."
    raise _fault(str(path), column, problem, hint=hint)


def _parse_rows(
    text: str, path: Path, column: Column, delimiter: str | None, *, multiline: bool
) -> list[tuple[int, list[str]]]:
    """Return the rows that are not empty, each with the line it ends on."""
    grammar = CsvGrammar(delimiter or _detected(text))
    content = memoryview(text.encode())
    try:
        several = bool(list(grammar.rows_of_several_lines(content)))
    except GrammarError as error:
        fault = grammar_fault(content, error, grammar)
        raise _fault(
            path.name,
            column,
            f"cannot be read: line {fault.line}, column {fault.column + 1}: "
            f"{fault.problem}.",
            hint=fault.hint,
        ) from None
    rows = _split(text, grammar.delimiter, path, column)
    if not rows:
        raise _fault(path.name, column, "is empty.")
    if several and not multiline:
        _refuse_joined(rows, path, column)
    return rows


def _refuse_joined(
    rows: Sequence[tuple[int, list[str]]], path: Path, column: Column
) -> None:
    """Refuse a cell of several lines, unless it is a value of the column.

    Two stray quotation marks join the rows between them into one label.
    """
    values = frozenset(column.labels)
    for line, row in rows:
        if any(LINE_BREAK.search(cell) and cell not in values for cell in row):
            raise _fault(
                path.name,
                column,
                f"has a cell with a line break that ends in line {line}.",
                hint="A stray quotation mark joins rows into one cell: look at it. If "
                "labels of several lines are meant, set hierarchy = { file = "
                f'"{path.name}", multiline = true }}.',
            )


def _split(
    text: str, delimiter: str, path: Path, column: Column
) -> list[tuple[int, list[str]]]:
    """The rows that are not empty of a text that obeys the grammar."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        return [(reader.line_num, row) for row in reader if row]
    except csv.Error:
        raise _fault(
            path.name,
            column,
            f"has a cell of more than {csv.field_size_limit():,} characters in line "
            f"{reader.line_num}.",
            hint="A label is shorter: look at the cell.",
        ) from None


def _detected(text: str) -> str:
    """Detect the delimiter that splits all rows alike, or the first row's commonest."""
    for delimiter in _DELIMITERS:
        with suppress(csv.Error):
            rows = csv.reader(
                io.StringIO(text, newline=""), delimiter=delimiter, strict=True
            )
            widths = {len(row) for row in rows if row}
            if len(widths) == 1 and widths != {1}:
                return delimiter
    first = LINE_BREAK.split(text, maxsplit=1)[0]
    return max(reversed(_DELIMITERS), key=first.count)


def _has_header(rows: Sequence[tuple[int, list[str]]], column: Column) -> bool:
    """Return whether the first row names levels instead of values."""
    first, rest = rows[0][1], [row for _, row in rows[1:]]
    if not rest or first[0] in column.labels:
        return False
    if first[0].casefold() == column.name.casefold():
        return True
    if {row[-1] for row in rest} == {STAR}:
        return first[-1] != STAR
    return column.kind.numeric and _only_first_is_text(first[0], rest, column)


def _only_first_is_text(
    first: str, rest: Sequence[Sequence[str]], column: Column
) -> bool:
    def is_number(text: str) -> bool:
        return not isnan(parse_value(text, kind=column.kind))

    return not is_number(first) and all(is_number(row[0]) for row in rest)


def _check_rows(
    rows: Sequence[tuple[int, list[str]]], path: Path, column: Column
) -> None:
    if not rows:
        raise _fault(path.name, column, "has a header and no leaves.")
    width = len(rows[0][1])
    for line, row in rows:
        if len(row) != width:
            raise _fault(
                path.name,
                column,
                f"has {len(row)} cells in line {line}, and {width} in the rows above.",
                hint="Every row goes from the leaf to the root; repeat a label to pad, "
                "and quote labels that hold the delimiter.",
            )


def _fault(
    name: str, column: Column, problem: str, *, hint: str | None = None
) -> HierarchyError:
    return HierarchyError(
        f"Hierarchy '{name}' of column '{column.name}' {problem}",
        hint=hint or "Paths are relative to the policy file.",
    )
