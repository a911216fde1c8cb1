"""The files for CI and schedulers that pages show: parsed, and their commands run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pyarrow.csv as pa_csv
import pytest
import yaml

from tests.conftest import ROOT
from tools.run_page import blocks

HOW_TO = ROOT / "docs" / "how-to"


def shown(page: str, name: str) -> str:
    """A file that a page shows."""
    text = (HOW_TO / f"{page}.md").read_text(encoding="utf-8")
    return next(each.text for each in blocks(text) if each.said == name)


@pytest.fixture(scope="module")
def repository(tmp_path_factory) -> Path:
    """A checked-out repository: a release without its private part, and a wheel."""
    import sfumato as sf
    from sfumato.demo import hospital

    place = tmp_path_factory.mktemp("repository")
    pa_csv.write_csv(hospital(rows=600), place / "patients.csv")
    tutorial = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    policy = next(each.text for each in blocks(tutorial) if each.said == "policy.toml")
    (place / "policy.toml").write_text(policy, encoding="utf-8")
    fast = sf.Policy.load(place / "policy.toml").with_setting(
        "algorithm.name", "mondrian"
    )
    (place / "policy.toml").write_text(fast.dump(), encoding="utf-8")
    sf.anonymize(place / "patients.csv", fast).save(place / "published")
    (place / "published" / "private").rename(place / "kept-private")
    (place / "wheels").mkdir()
    (place / "wheels" / "sfumato-1.0-py3-none-any.whl").touch()
    return place


def run(command: str, place: Path) -> int:
    """The exit code of a step."""
    return ended(command, place).returncode


def ended(command: str, place: Path) -> subprocess.CompletedProcess[str]:
    """Run a step; `pip` only writes down what it is asked for."""
    tools = place / "tools"
    tools.mkdir(exist_ok=True)
    (tools / "pip").write_text('#!/bin/sh\necho "$@" >> pip.log\n')
    (tools / "pip").chmod(0o755)
    path = [str(tools), str(Path(sys.executable).parent), os.environ["PATH"]]
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", command],
        cwd=place,
        env={**os.environ, "PATH": os.pathsep.join(path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def github_steps() -> list[str]:
    workflow = yaml.safe_load(shown("ci", ".github/workflows/release-gate.yml"))
    steps = workflow["jobs"]["prove"]["steps"]
    return [step["run"] for step in steps if "run" in step]


def gitlab_steps() -> list[str]:
    job = yaml.safe_load(shown("ci", ".gitlab-ci.yml"))["prove-release"]
    return [*job["before_script"], *job["script"]]


def hook_steps() -> list[str]:
    hooks = yaml.safe_load(shown("ci", ".pre-commit-config.yaml"))["repos"][0]["hooks"]
    return [hook["entry"] for hook in hooks if hook["language"] == "system"]


GATES = {"github": github_steps, "gitlab": gitlab_steps, "pre-commit": hook_steps}
gates = pytest.mark.parametrize("gate", GATES)


@gates
def test_the_steps_of_a_gate_pass_a_release_that_holds(gate, repository):
    assert [run(step, repository) for step in GATES[gate]()] == [0] * len(GATES[gate]())


@gates
def test_a_gate_stops_a_table_that_does_not_hold(gate, repository):
    data = repository / "published" / "data.csv"
    held = data.read_bytes()
    data.write_bytes(held + b"1999,M,04101,Nurse,2024-01,G40 Epilepsy\n")
    try:
        runs = [ended(step, repository) for step in GATES[gate]()]
    finally:
        data.write_bytes(held)
    log = next(each.stdout for each in runs if each.returncode == 1)
    assert "k-anonymity" in log
    assert "measured k = 1" in log or "k = 1     ✗ broken by 1 group (1 row)" in log


@gates
def test_a_gate_stops_a_table_that_was_changed_though_it_holds(gate, repository):
    data = repository / "published" / "data.csv"
    held = data.read_bytes()
    data.write_bytes(held + held.splitlines(keepends=True)[-1])
    try:
        runs = [ended(step, repository) for step in GATES[gate]()]
    finally:
        data.write_bytes(held)
    log = next(each.stdout for each in runs if each.returncode == 1)
    assert "is not the table that the manifest describes; its SHA-256 differs." in log


@gates
def test_a_gate_that_cannot_read_its_policy_says_so_in_the_log(gate, repository):
    policy = repository / "policy.toml"
    held = policy.read_text("utf-8")
    policy.write_text(held.replace("k = 5", "k = 'five'"), "utf-8")
    try:
        runs = [ended(step, repository) for step in GATES[gate]()]
    finally:
        policy.write_text(held, "utf-8")
    log = next(each.stdout for each in runs if each.returncode == 2)
    assert "Error: 'policy.toml', line" in log


@pytest.mark.parametrize("gate", ["github", "gitlab"])
def test_a_gate_stops_what_is_private(gate, repository):
    (repository / "published" / "private").mkdir()
    try:
        runs = [ended(step, repository) for step in GATES[gate]()]
        log = next(each.stdout for each in runs if each.returncode == 1)
        assert "published/private is not for sharing" in log
    finally:
        (repository / "published" / "private").rmdir()


def test_the_verdicts_that_a_gate_keeps_are_json(repository):
    for step in github_steps():
        run(step, repository)
    assert json.loads((repository / "verdicts.json").read_text("utf-8"))["holds"]


def test_the_hook_runs_for_the_files_that_it_is_about():
    hooks = yaml.safe_load(shown("ci", ".pre-commit-config.yaml"))["repos"][0]["hooks"]
    check, private = (hook["files"] for hook in hooks)
    assert re.search(check, "published/data.csv")
    assert re.search(private, "published/private/rows.parquet")
    assert not re.search(private, "published/data.csv")


class Operator:
    """What a page uses of Airflow's BashOperator."""

    made: ClassVar[list[Operator]] = []

    def __init__(self, **settings: Any) -> None:
        self.settings = settings
        self.made.append(self)

    def __rshift__(self, other: Operator) -> Operator:
        return other


class Dag:
    """What a page uses of Airflow's DAG."""

    def __init__(self, name: str, **settings: Any) -> None:
        self.settings = settings

    def __enter__(self) -> Dag:
        return self

    def __exit__(self, *error: object) -> None:
        return None


@pytest.fixture
def airflow(monkeypatch) -> list[Operator]:
    """Stand-ins for the two classes of Airflow, which is not installed here."""
    parts = ("airflow", "providers", "standard", "operators")
    for name in [".".join(parts[: n + 1]) for n in range(len(parts))]:
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    bash = ModuleType("airflow.providers.standard.operators.bash")
    bash.BashOperator = Operator  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, bash.__name__, bash)
    sys.modules["airflow"].DAG = Dag  # type: ignore[attr-defined]
    monkeypatch.setattr(Operator, "made", [])
    return Operator.made


def test_the_commands_of_the_dag_make_and_prove_a_release(airflow, repository):
    exec(shown("schedule", "dags/sfumato_nightly.py"), {})
    commands = [each.settings["bash_command"] for each in Operator.made]
    filled = [command.replace("{{ ds }}", "2026-01-02") for command in commands]
    assert [run(command, repository) for command in filled] == [0, 0]
    assert (repository / "releases" / "2026-01-02" / "data.csv").is_file()


def test_the_line_for_cron_has_five_times_and_a_command():
    text = (HOW_TO / "schedule.md").read_text(encoding="utf-8")
    line = next(each for each in text.splitlines() if each.startswith("15 2"))
    *times, command = line.split(maxsplit=5)
    assert times == ["15", "2", "*", "*", "*"]
    assert "sh nightly.sh" in command
