"""Every kernel module documents its cost and invariants, and every family is tested."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ROOT / "src" / "sfumato" / "kernels"
TESTS = ROOT / "tests" / "unit" / "kernels"
LAYOUTS = {"cut_workspace", "point_space", "units"}
"""Modules that lay data out and take no step of an algorithm."""
WITHOUT_ALGORITHMS = {"common", "compilation"}
"""Families whose modules serve several algorithms and follow no paper's steps."""

families = sorted(place.name for place in KERNELS.iterdir() if place.is_dir())
families = [name for name in families if not name.startswith("_")]
modules = sorted(
    path
    for path in KERNELS.rglob("*.py")
    if path.stem != "__init__" and path.parent.name != "compilation"
)
every_module = pytest.mark.parametrize(
    "path", modules, ids=lambda path: path.relative_to(KERNELS).as_posix()
)


def said(path: Path, label: str) -> list[str]:
    """What stands after a label at the start of a line of a module's docstring."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return re.findall(rf"^{label}: (\S.*)$", text, flags=re.M)


@every_module
def test_a_kernel_module_states_its_cost_once(path):
    assert len(said(path, "Cost")) == 1


@every_module
def test_a_kernel_module_states_its_invariants_once(path):
    assert len(said(path, "Invariant")) == 1


@every_module
def test_a_kernel_module_of_an_algorithm_names_the_paper_or_says_there_is_none(path):
    if path.parent.name in WITHOUT_ALGORITHMS or path.stem in LAYOUTS:
        return
    assert len(said(path, "Paper")) == 1


@pytest.mark.parametrize("family", [f for f in families if f != "compilation"])
def test_a_kernel_family_has_property_tests(family):
    """Tests that compare kernels with a definition on many random tables."""
    found = sorted((TESTS / family).glob("test_*.py"))
    random = [
        p for p in found if re.search(r"default_rng|@given", p.read_text("utf-8"))
    ]
    assert random != []
