"""The lines with `make` in README.md and CONTRIBUTING.md call targets that exist.

`make test` runs these tests, `make trial` installs the wheel and takes the steps of a
fresh clone; here each line is only planned, with `make --dry-run`.
"""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.conftest import ROOT
from tools.run_page import blocks

PAGES = ("README.md", "CONTRIBUTING.md", "benchmarks/README.md")
LINES = [
    (page, line.partition("#")[0].strip())
    for page in PAGES
    for block in blocks((ROOT / page).read_text(encoding="utf-8"))
    for line in block.text.splitlines()
    if re.match(r"make\b", line)
]


@pytest.mark.parametrize(("page", "line"), LINES)
def test_a_line_with_make_can_be_planned(page, line):
    command = re.sub(r"^make\b", "make --dry-run --always-make", line).split("&&")[0]
    run = subprocess.run(
        ["bash", "-c", command], cwd=ROOT, capture_output=True, check=False
    )
    assert run.returncode == 0, run.stderr


def test_every_target_is_among_the_lines_for_contributors():
    targets = re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.M)
    named = {line.split()[1] for page, line in LINES if page == "CONTRIBUTING.md"}
    assert set(targets) - named - {"help", "clean"} == set()


def test_the_second_way_to_install_names_an_extra_that_exists():
    line = next(
        line
        for line in (ROOT / "README.md").read_text("utf-8").splitlines()
        if line.startswith("pip install '.[")
    )
    extra = re.search(r"\[(\w+)\]", line)
    assert extra is not None
    assert f"\n{extra[1]} = [" in (ROOT / "pyproject.toml").read_text("utf-8")
