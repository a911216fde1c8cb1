"""What holds for every file that is published with the project."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "sfumato"

# Where someone's own machine shows through: home and scratch directories.
MACHINE = re.compile(
    r"(?<![\w.<~/-])/(?:work|tmp|root|home/\w+|Users/\w+|opt/\w+)(?:/|\b)"
)
ADDRESS = re.compile(r"https?://\S*(?:pypi|pythonhosted|simple/)", re.IGNORECASE)
PIN = re.compile(
    r'[A-Za-z0-9._-]+==[A-Za-z0-9.]+(?: ; python_version [<>]=? "3\.\d+")?'
)

RANGE = re.compile(r"[A-Za-z0-9-]+>=\d[\d.]*,<\d[\d.]*")


def tracked() -> list[Path]:
    """Text files that git keeps, or, outside a repository, all those that matter."""
    run = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    names = [name for name in run.stdout.split("\0") if name]
    files = [ROOT / name for name in names] or [*SOURCE.rglob("*.py")]
    return [path for path in files if path.is_file() and is_text(path)]


def is_text(path: Path) -> bool:
    return b"\0" not in path.read_bytes()[:4096]


files = tracked()
every_file = pytest.mark.parametrize(
    "path", files, ids=lambda path: path.relative_to(ROOT).as_posix()
)


@every_file
def test_no_file_names_a_directory_of_one_machine(path):
    if path == Path(__file__).resolve():
        return
    text = path.read_text(encoding="utf-8", errors="replace")
    assert MACHINE.findall(text) == []


@every_file
def test_no_file_names_a_package_registry(path):
    text = path.read_text(encoding="utf-8", errors="replace")
    assert ADDRESS.findall(text) == []


def test_the_constraints_are_names_and_versions_alone():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert [line for line in pins if not PIN.fullmatch(line)] == []


def test_every_declared_dependency_is_pinned():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {canonical(line.split("==")[0]) for line in lines if "==" in line}
    assert declared("test", "check", "bench") - pinned == set()


def test_the_package_imports_only_what_it_declares():
    imported = {name for path in SOURCE.rglob("*.py") for name in imports(path)}
    assert distributions(imported) - declared("test") == set()


def test_the_tests_import_only_what_they_declare():
    imported = {n for path in (ROOT / "tests").rglob("*.py") for n in imports(path)}
    assert distributions(imported) - declared("test", "check", "bench") == set()


def test_the_package_declares_only_what_it_imports():
    imported = {name for path in SOURCE.rglob("*.py") for name in imports(path)}
    assert declared() - distributions(imported) == set()


def test_every_dependency_has_a_lowest_and_a_newest_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *extras["dp"], *extras["workload"]]
    assert [line for line in lines if not RANGE.fullmatch(line)] == []


def declared(*extras: str) -> set[str]:
    """The distributions named in pyproject.toml, plain and for these extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    optional = project["optional-dependencies"]
    lines = [*project["dependencies"], *(x for e in extras for x in optional[e])]
    return {canonical(re.split(r"[ ;<>=!~\[]", line)[0]) for line in lines}


def imports(path: Path) -> set[str]:
    """The top-level modules that a file imports, anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found - {"sfumato", "benchmarks"} - set(sys.stdlib_module_names)


def distributions(names: set[str]) -> set[str]:
    """The distributions behind modules; helpers of the tests have none."""
    known = packages_distributions()
    return {canonical(known[name][0]) for name in names if name in known}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_no_two_test_files_have_one_name():
    # pytest imports them by their names, so that one of two is never run.
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert len(names) == len(set(names))
