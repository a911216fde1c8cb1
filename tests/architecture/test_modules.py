"""What holds for every module: size, shape, words and what it may say."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import median

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "sfumato"
LINES = 600
MEDIAN_BODY = 10
LONG_BODY = 40
LONG_SHARE = 0.05
BY_POSITION = 4

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef

modules = sorted(SOURCE.rglob("*.py"))
every_module = pytest.mark.parametrize(
    "path", modules, ids=lambda path: path.relative_to(SOURCE).as_posix()
)


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def functions(path: Path) -> Iterator[Function]:
    return (node for node in ast.walk(parsed(path)) if isinstance(node, Function))


def body_lines(function: Function) -> int:
    """The lines of a function, without its signature and its docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    if not body:
        return 0
    return (body[-1].end_lineno or 0) - body[0].lineno + 1


def public_definitions(path: Path) -> Iterator[Definition]:
    """Public functions and classes of a module, and public methods of the latter."""
    for node in parsed(path).body:
        if isinstance(node, Definition) and not node.name.startswith("_"):
            yield node


def names_called(path: Path) -> set[str]:
    return {
        node.func.id
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


@every_module
def test_a_file_stays_short(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) < LINES


@every_module
def test_a_module_says_what_it_is_for(path):
    assert ast.get_docstring(parsed(path))


@every_module
def test_public_functions_and_classes_have_docstrings(path):
    silent = [d.name for d in public_definitions(path) if not ast.get_docstring(d)]
    assert silent == []


@every_module
def test_only_the_command_line_prints(path):
    if path.is_relative_to(SOURCE / "cli"):
        return
    assert "print" not in names_called(path)


@every_module
def test_nothing_is_left_to_do(path):
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"\b(?:TODO|FIXME|XXX|NotImplementedError)\b", text) == []


@every_module
def test_no_module_keeps_state(path):
    assert lists_that_may_grow(path) == []
    assert not any(isinstance(node, ast.Global) for node in ast.walk(parsed(path)))


def lists_that_may_grow(path: Path) -> list[str]:
    """Module-level lists, sets and dictionaries that are not named as constants."""
    names = [
        ast.unparse(node.target if isinstance(node, ast.AnnAssign) else node.targets[0])
        for node in parsed(path).body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        and isinstance(node.value, ast.List | ast.Dict | ast.Set | ast.ListComp)
    ]
    return [name for name in names if name != "__all__" and not name.isupper()]


def test_the_median_body_is_under_ten_lines(record_property):
    found = median(body_lines(f) for path in modules for f in functions(path))
    record_property("median_body_lines", found)
    assert found < MEDIAN_BODY


def test_hardly_any_body_is_above_forty_lines(record_property):
    bodies = [body_lines(f) for path in modules for f in functions(path)]
    share = sum(lines > LONG_BODY for lines in bodies) / len(bodies)
    record_property("share_of_long_bodies", share)
    assert share < LONG_SHARE


NOT_PUBLISHED = ("testing", "workload")
"""Packages whose draws are in no release: checks, and queries with a public seed."""


@every_module
def test_every_draw_of_a_release_comes_from_the_keyed_seed(path):
    if path.relative_to(SOURCE).parts[0] in NOT_PUBLISHED:
        return
    used = [n for n in ast.walk(parsed(path)) if isinstance(n, ast.Attribute)]
    assert [n for n in used if ast.unparse(n) == "np.random"] == []
    assert imports(path) & {"random", "numpy.random"} == set()


def imports(path: Path) -> set[str]:
    """The modules that a file imports, by their whole names."""
    found: set[str] = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def by_position(function: Function) -> list[ast.arg]:
    """The arguments that a caller may pass without their names."""
    found = [*function.args.posonlyargs, *function.args.args]
    return [each for each in found if each.arg not in ("self", "cls")]


def public_functions(path: Path) -> Iterator[Function]:
    """Public functions and methods that are called by people rather than by Typer."""
    if path.parent.name == "cli" or "kernels" in path.parts:
        return
    for scope in (parsed(path), *public_definitions(path)):
        if isinstance(scope, ast.Module | ast.ClassDef):
            for node in scope.body:
                if isinstance(node, Function) and not node.name.startswith("_"):
                    yield node


@every_module
def test_few_arguments_are_passed_by_position(path):
    many = [f.name for f in public_functions(path) if len(by_position(f)) > BY_POSITION]
    assert many == []


@every_module
def test_a_true_or_false_is_passed_by_name(path):
    unnamed = [
        f"{function.name}({each.arg})"
        for function in public_functions(path)
        for each in by_position(function)[1:]
        if each.annotation is not None and ast.unparse(each.annotation) == "bool"
    ]
    assert unnamed == []
