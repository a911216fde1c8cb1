"""What the documentation shows is run: examples, policies, the first minute."""

from __future__ import annotations

import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest

import sfumato as sf

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)

pages = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
with_examples = [
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted(SOURCE.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


def blocks(language: str) -> list[pytest.param]:
    """The blocks of code in one language, of all pages."""
    return [
        pytest.param(text, id=f"{page.relative_to(ROOT).as_posix()}-{number}")
        for page in pages
        for number, (found, text) in enumerate(BLOCK.findall(page.read_text("utf-8")))
        if found == language
    ]


@pytest.mark.parametrize("module", with_examples)
def test_the_examples_of_a_module_are_true(module):
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    assert doctest.testmod(import_module(module), optionflags=options).failed == 0


@pytest.mark.parametrize("text", blocks("toml"))
def test_every_policy_shown_is_a_policy(text, tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text(text, encoding="utf-8")
    assert sf.Policy.load(path).version == 1
