"""The blocks of install.md are run with a wheel and the real pip, without a network.

Packages that Sfumato needs are not installed again: pip leaves them out
(`PIP_NO_DEPS`), and the environment borrows those of the tests.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import ROOT
from tools.run_page import blocks

PAGE = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
BLOCKS = [block.text for block in blocks(PAGE)]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]["optional-dependencies"]


def block(word: str) -> str:
    """The first block of the page that has a word."""
    return next(text for text in BLOCKS if word in text)


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A directory with a wheel, and an environment that has it."""
    found = tmp_path_factory.mktemp("install")
    wheel = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    wheel += ["--no-build-isolation", "--no-index", "--wheel-dir", str(found)]
    subprocess.run([*wheel, str(copied(found / "sources"))], check=True, cwd=found)
    borrow(found / "borrowed")
    ran(block("pip install ./sfumato-*.whl"), found)
    return found


def copied(place: Path) -> Path:
    """The sources of the package, so that building leaves nothing among them."""
    unwanted = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "src", place / "src", ignore=unwanted)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, place / name)
    return place


def borrow(place: Path) -> None:
    """Link to the packages of the tests, so that pip sees none of them as installed."""
    place.mkdir()
    for package in Path(np.__file__).parents[1].iterdir():
        told = package.suffix in {".dist-info", ".pth"} or "sfumato" in package.name
        if not told and not package.name.startswith(("pip", "_distutils")):
            (place / package.name).symlink_to(package)


def ran(text: str, place: Path, *, active: bool = False) -> str:
    """What a block prints; in an active environment, pip and sfumato are its own."""
    first = [str(place / "sfumato-env" / "bin")] if active else []
    done = subprocess.run(
        ["bash", "-euc", text],
        cwd=place,
        env={
            **os.environ,
            "PATH": os.pathsep.join([*first, os.environ["PATH"]]),
            "PYTHONPATH": str(place / "borrowed"),
            "PIP_NO_DEPS": "1",
            "PIP_NO_INDEX": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def installed(place: Path) -> bool:
    return (place / "sfumato-env" / "bin" / "sfumato").exists()


def test_a_wheel_is_installed_and_the_doctor_finds_it(place):
    assert installed(place)
    said = ran("sfumato doctor", place, active=True)
    assert str(place / "sfumato-env" / "bin" / "python") in said
    assert "kernels" in said
    assert block("sfumato doctor\n").splitlines() == ["sfumato doctor", "sfumato demo"]


def test_an_extra_is_added_to_what_is_installed(place):
    assert "already satisfied" in ran(block("[dp,excel]"), place, active=True)


def test_a_wheelhouse_holds_the_wheel_and_is_enough_to_install_from(place):
    ran(block("pip download"), place)
    assert list((place / "wheelhouse").glob("sfumato-*.whl"))
    ran("pip uninstall --yes sfumato", place, active=True)
    assert not installed(place)
    ran(block("--find-links"), place)
    assert installed(place)


def test_it_is_updated_and_removed(place):
    ran(block("--upgrade"), place, active=True)
    assert installed(place)
    ran(block("uninstall"), place, active=True)
    assert not installed(place)
    ran(block("pip install ./sfumato-*.whl"), place)


def test_no_other_block_is_left_untried():
    tried = ("pip install", "pip download", "pip uninstall", "sfumato doctor")
    assert [text for text in BLOCKS if not any(word in text for word in tried)] == []


def test_the_table_has_every_extra_of_the_package():
    table = PAGE.partition("| extra | for |")[2].partition("\n\n")[0]
    named = re.findall(r"^\| `([\w-]+)` \|", table, re.MULTILINE)
    assert set(named) == set(EXTRAS) - {"test", "check", "bench", "site", "wheels"}


def test_the_extras_of_the_commands_exist():
    named = re.findall(r"\[([\w,-]+)\]'|\[([\w,-]+)\]\"", "".join(BLOCKS))
    found = {name for pair in named for part in pair for name in part.split(",")}
    assert found - {""} <= set(EXTRAS)
    assert found - {""}
