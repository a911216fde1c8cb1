"""A name means one thing in the whole project."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "sfumato"
SHARED = {"base", "__init__"}
"""`base` is the contract of its package, in every package that has one."""
modules = sorted(SOURCE.rglob("*.py"))


def repeated(places: Iterator[tuple[str, str]]) -> Mapping[str, set[str]]:
    """Names with more than one meaning, from pairs of a name and a meaning."""
    found = defaultdict(set)
    for name, meaning in places:
        found[name].add(meaning)
    return {name: meanings for name, meanings in found.items() if len(meanings) > 1}


def defined(path: Path) -> Iterator[tuple[str, str]]:
    """The classes of a module, each with the one place where it is defined."""
    where = path.relative_to(SOURCE).as_posix()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            yield node.name, where


def aliased(path: Path) -> Iterator[tuple[str, str]]:
    """The type aliases of a module, each with what it stands for."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name[0].isupper() and not name.isupper():
                yield name, ast.unparse(node.value)


def test_a_class_name_means_one_class():
    assert repeated(pair for path in modules for pair in defined(path)) == {}


def test_a_module_name_means_one_module():
    pairs = ((path.stem, str(path)) for path in modules if path.stem not in SHARED)
    assert repeated(pairs) == {}


def test_a_type_alias_means_one_type():
    assert repeated(pair for path in modules for pair in aliased(path)) == {}
