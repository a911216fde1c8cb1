"""What the documentation shows is run: examples, policies, the first minute."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow.csv as pa_csv
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


def blocks(language: str) -> list[Any]:
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


@pytest.fixture
def patients(tmp_path, monkeypatch) -> Path:
    """A directory with the file that the README speaks of, to work in."""
    from sfumato.demo import hospital

    pa_csv.write_csv(hospital(rows=600), tmp_path / "patients.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def readme(language: str, *, having: str) -> str:
    """The block of the README in a language that has some text."""
    found = BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    return next(text for word, text in found if word == language and having in text)


def test_the_python_of_the_readme_leaves_a_release(patients):
    exec(readme("python", having="sf.anonymize"), {})
    assert (patients / "release" / "data.csv").is_file()


def test_the_commands_of_the_readme_end_well(patients):
    for line in readme("sh", having="sfumato init").splitlines():
        words = shlex.split(line, comments=True)
        run = subprocess.run(
            [sys.executable, "-m", *words], capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, f"{line}\n{run.stderr}"
