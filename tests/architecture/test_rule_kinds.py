"""Kinds of rules are told apart in one table, `TRAITS` of `sfumato/data/rules.py`."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "sfumato"
FORMULAS = {
    "data/rules.py": "names the kinds, and says what they are",
    "kernels/common/group_rules.py": "judges a group: sizes and populations",
    "kernels/common/rule_pointers.py": "judges a group: histograms",
    "kernels/full_domain/fewest_removals.py": "bounds how many rows must go, by kind",
    "algorithms/refinement/growth_targets.py": "estimates what a group needs, by kind",
}
"""The modules that may name a kind, and the formula that each has for it. All others
ask the traits of a rule: a module that sorts kinds itself forgets the next one."""
MODELS = "models/"
"""Models build rules, and so name their kinds."""

modules = [
    path
    for path in sorted(SOURCE.rglob("*.py"))
    if not path.relative_to(SOURCE).as_posix().startswith(MODELS)
]


def names_kinds(path: Path) -> bool:
    """Whether a module mentions `RuleKind`."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return any(
        (isinstance(node, ast.Name) and node.id == "RuleKind")
        or (isinstance(node, ast.Attribute) and node.attr == "RuleKind")
        or (isinstance(node, ast.alias) and node.name == "RuleKind")
        for node in nodes
    )


def compares_kinds(path: Path) -> bool:
    """Whether a module compares the kind of a rule with anything."""
    found = [n for n in ast.walk(ast.parse(path.read_text("utf-8"))) if _compares(n)]
    return any(
        ast.unparse(part).endswith(("rule.kind", "r.kind"))
        for node in found
        for part in ast.walk(node)
        if isinstance(part, ast.Attribute)
    )


def _compares(node: ast.AST) -> bool:
    return isinstance(node, ast.Compare | ast.match_case | ast.Match | ast.Subscript)


@pytest.mark.parametrize(
    "path", modules, ids=lambda path: path.relative_to(SOURCE).as_posix()
)
def test_only_modules_with_a_formula_tell_kinds_apart(path):
    told_apart = names_kinds(path) or compares_kinds(path)
    assert not told_apart or path.relative_to(SOURCE).as_posix() in FORMULAS


@pytest.mark.parametrize("name", FORMULAS)
def test_every_module_that_may_name_kinds_does(name):
    assert names_kinds(SOURCE / name)
