"""Our errors hide their cause, because its text may quote a cell."""

from __future__ import annotations

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "sfumato"


def loud_raises(text: str) -> list[int]:
    """Lines that raise a new error in a handler and show what it handled."""
    handlers = [
        n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.ExceptHandler)
    ]
    raised = [n for h in handlers for n in ast.walk(h) if isinstance(n, ast.Raise)]
    return [each.lineno for each in raised if each.exc is not None and not silent(each)]


def silent(each: ast.Raise) -> bool:
    return isinstance(each.cause, ast.Constant) and each.cause.value is None


def test_every_new_error_in_a_handler_hides_its_cause():
    found = {
        str(path.relative_to(SOURCE)): loud_raises(path.read_text(encoding="utf-8"))
        for path in sorted(SOURCE.rglob("*.py"))
    }
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_the_rule_notices_a_cause_and_a_context():
    text = "try:\n  x\nexcept E as e:\n  raise F from e\nexcept G:\n  raise F()\n"
    assert loud_raises(text) == [4, 6]
