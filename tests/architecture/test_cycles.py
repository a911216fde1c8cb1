"""There are no import cycles, not even through imports inside functions."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src"
MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(
        ".__init__"
    ): path
    for path in (SOURCE / "sfumato").rglob("*.py")
}


def imported(name: str) -> set[str]:
    """The modules of ours that a module imports, now or late; types do not count."""
    tree = ast.parse(MODULES[name].read_text(encoding="utf-8"))
    found = set()
    for node in without_types(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= (names & set(MODULES)) or {node.module}
    return (found & set(MODULES)) - {name}


def without_types(tree: ast.AST):
    """Every node, without what only a type checker reads."""
    for node in ast.iter_child_nodes(tree):
        only_types = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        if not only_types:
            yield node
            yield from without_types(node)


def test_no_import_is_part_of_a_cycle():
    # A cycle raises CycleError, which names its modules.
    order = TopologicalSorter({name: imported(name) for name in MODULES})
    assert len(list(order.static_order())) == len(MODULES)
