"""A third-party package adds to the catalogue through entry points alone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.csv as pa_csv
import pytest

from sfumato.demo import hospital
from tools.run_page import blocks

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "tests" / "plugin"
COMMAND = [sys.executable, "-m", "sfumato"]
POLICY = """\
version = 1
unlisted = "drop"

[data]
path = "patients.csv"

[columns.sex]
role = "quasi"

[columns.zip]
role = "quasi"

[columns.diagnosis]
role = "sensitive"

[[require]]
model = "k-anonymity"
k = 4

[[require]]
model = "no-majority"
share = 0.6

[algorithm]
name = "sorted-runs"
start = 8
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> dict[str, str]:
    """The environment of a process that finds the plug-in installed."""
    sources = tmp_path_factory.mktemp("sources") / "plugin"
    target = tmp_path_factory.mktemp("installed")
    shutil.copytree(PACKAGE, sources)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
    options = ["-q", "--no-deps", "--no-build-isolation", "--no-index"]
    words = [*pip, "install", *options, "--target", str(target), str(sources)]
    subprocess.run(words, check=True, capture_output=True)
    paths = [str(target), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


@pytest.fixture
def place(tmp_path) -> Path:
    """A directory with a table and a policy that asks for the plug-in."""
    pa_csv.write_csv(hospital(rows=600), tmp_path / "patients.csv")
    (tmp_path / "policy.toml").write_text(POLICY, encoding="utf-8")
    return tmp_path


def run(words: list[str], environment: dict[str, str], place: Path) -> str:
    done = subprocess.run(
        words, cwd=place, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_passes_the_conformance_checks(installed, tmp_path):
    shutil.copy(PACKAGE / "conformance.py", tmp_path)
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    assert " passed" in run([*words, "conformance.py"], installed, tmp_path)


def test_the_page_about_testing_shows_the_sample_itself():
    page = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
    own = "tests/conformance/test_plugin.py"
    shown = [block.text for block in blocks(page) if block.said == own]
    sample = "".join(path.read_text("utf-8") for path in PACKAGE.rglob("*.py"))
    assert len(shown) == 4
    assert [text for text in shown if text not in sample] == []


def test_the_catalogue_lists_it(installed, tmp_path):
    listed = json.loads(run([*COMMAND, "list", "--json"], installed, tmp_path))
    assert "sorted-runs" in {entry["name"] for entry in listed["algorithms"]}
    assert "no-majority" in {entry["name"] for entry in listed["models"]}


def test_a_policy_file_asks_for_it_and_the_release_is_proven(installed, place):
    run([*COMMAND, "anonymize", "policy.toml", "--out", "release"], installed, place)
    manifest = json.loads((place / "release" / "manifest.json").read_text("utf-8"))
    verdicts = {each["model"]: each["holds"] for each in manifest["requirements"]}
    assert verdicts == {"k-anonymity": True, "no-majority": True}
    assert manifest["algorithm"]["name"] == "sorted-runs"


def test_check_asks_for_its_model_on_the_command_line(installed, place):
    run([*COMMAND, "anonymize", "policy.toml", "--out", "release"], installed, place)
    asked = ["--require", "model=no-majority,share=0.6,on=diagnosis"]
    columns = ["--quasi", "sex,zip", "--sensitive", "diagnosis"]
    words = [*COMMAND, "check", "release/data.csv", *columns, *asked]
    assert "no-majority" in run(words, installed, place)
