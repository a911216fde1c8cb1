"""Counts in messages have thousands marks: 1,234,567 rows can be read, 1234567 cannot."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InfeasibleError
from tests.conftest import ROOT

COUNTS = re.compile(
    r"(^|[._])(num_)?"
    r"(rows|cells|count|counts|groups|people|nodes|checked|sizes?|rows_in|rows_out)$"
)
SOURCES = sorted((ROOT / "src" / "sfumato").rglob("*.py"))


def _messages(tree: ast.AST) -> Iterator[ast.JoinedStr]:
    """The texts of errors, warnings and verdicts of feasibility."""
    for call in ast.walk(tree):
        if isinstance(call, ast.Call):
            name = ast.unparse(call.func).rsplit(".", 1)[-1]
            if name.endswith(("Error", "Warning")) or name == "Feasibility":
                texts = (n for n in ast.walk(call) if isinstance(n, ast.JoinedStr))
                yield from texts


def _is_count(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return ast.unparse(value.func) == "len"
    return bool(COUNTS.search(ast.unparse(value)))


def _plain_counts(path: Path) -> Iterator[str]:
    for text in _messages(ast.parse(path.read_text())):
        parts = [p for p in text.values if isinstance(p, ast.FormattedValue)]
        for part in parts:
            if part.format_spec is None and _is_count(part.value):
                yield f"{path.name}:{text.lineno} {ast.unparse(part.value)}"


def test_counts_in_messages_have_thousands_marks():
    assert [place for path in SOURCES for place in _plain_counts(path)] == []


def test_a_message_with_large_numbers_has_them():
    ages = pa.table({"age": list(range(1_200))})
    with pytest.raises(InfeasibleError, match=r"at least 5,000; the table has 1,200\."):
        sf.anonymize(ages, quasi="age", k=5_000)
