"""Which tests need Numba is written in one place, and nothing else asks."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.needs_numba import FILES

COMPILING = ("numba", "tools.library.numba_code")
ASKING = "has_" + "compiler("


def imported(path: Path) -> set[str]:
    """The modules that a file imports when it is loaded."""
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def test_the_tests_that_import_numba_are_listed(repository):
    tests = repository / "tests"
    importing = {
        path.relative_to(tests).as_posix()
        for path in tests.rglob("test_*.py")
        if any(name.split(".core")[0] in COMPILING for name in imported(path))
    }
    assert importing == set(FILES)


def test_no_other_test_asks_whether_numba_is_installed(repository):
    tests = repository / "tests"
    asking = {
        path.relative_to(tests).as_posix()
        for path in tests.rglob("*.py")
        if ASKING in path.read_text(encoding="utf-8")
    }
    assert asking <= {"needs_numba.py"}
