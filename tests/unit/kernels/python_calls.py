"""Which kernels Python calls, read from the sources."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from sfumato.kernels.compilation.library import PACKAGE

DOORS = {"door", "both", "both_numpy"}
COMPILED = DOORS | {"inner", "inner_numpy", "inlined", "inlined_numpy", "intrinsic"}


def kernels_called(pointed: Collection[str]) -> set[str]:
    """Kernels with a door that are named where Python runs.

    `pointed` are functions that are compiled although no decorator says so.
    """
    trees = {_module(path): ast.parse(path.read_text("utf-8")) for path in _files()}
    doors = {
        f"{module}.{function.name}"
        for module, tree in trees.items()
        for function in tree.body
        if isinstance(function, ast.FunctionDef) and _decorators(function) & DOORS
    }
    return {
        name
        for module, tree in trees.items()
        for name in _named(tree, module, _known(tree, module), pointed)
        if name in doors
    }


def _files() -> Iterator[Path]:
    yield from PACKAGE.rglob("*.py")


def _module(path: Path) -> str:
    inside = path.relative_to(PACKAGE.parent).with_suffix("")
    return ".".join(part for part in inside.parts if part != "__init__")


def _decorators(function: ast.FunctionDef) -> set[str]:
    return {each.id for each in function.decorator_list if isinstance(each, ast.Name)}


def _known(tree: ast.Module, module: str) -> Mapping[str, str]:
    """What the names of a module stand for: its own functions, and those it imports."""
    own = {
        f.name: f"{module}.{f.name}"
        for f in tree.body
        if isinstance(f, ast.FunctionDef)
    }
    taken = {
        each.asname or each.name: f"{node.module}.{each.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for each in node.names
    }
    return {**own, **taken}


def _named(
    tree: ast.AST, module: str, known: Mapping[str, str], pointed: Collection[str]
) -> Iterator[str]:
    """Full names of whatever is named outside of compiled functions."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef) and (
            _decorators(node) & COMPILED or f"{module}.{node.name}" in pointed
        ):
            continue
        if isinstance(node, ast.Name) and node.id in known:
            yield known[node.id]
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{known.get(node.value.id)}.{node.attr}"
        yield from _named(node, module, known, pointed)
