"""The program of docs/how-to/spark.md calls functions with arguments that they take."""

from __future__ import annotations

import ast
import inspect

import sfumato as sf
from tests.conftest import ROOT
from tools.run_page import blocks

PAGE = (ROOT / "docs" / "how-to" / "spark.md").read_text(encoding="utf-8")
PROGRAM = next(each.text for each in blocks(PAGE) if each.language == "python")


def test_the_program_gives_arguments_that_anonymize_takes():
    calls = [
        node for node in ast.walk(ast.parse(PROGRAM)) if isinstance(node, ast.Call)
    ]
    given = {
        word.arg
        for call in calls
        if ast.unparse(call.func) == "sf.anonymize"
        for word in call.keywords
    }
    assert given
    assert given <= set(inspect.signature(sf.anonymize).parameters)


def test_the_program_uses_what_a_release_has():
    tree = ast.walk(ast.parse(PROGRAM))
    used = {
        node.attr
        for node in tree
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "release"
    }
    assert used == {"data", "save"}
    assert all(hasattr(sf.Release, name) for name in used)
