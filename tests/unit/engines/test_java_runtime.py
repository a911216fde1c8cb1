"""Which Java is taken for Spark, and what is said where there is none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sfumato.engines.java_runtime import Java, find_java, write_launcher
from sfumato.errors import InstallationError


def fake_java(home: Path, version: str) -> Path:
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(
        f'#!/bin/sh\n[ "$1" = -version ] && echo \'openjdk version "{version}"\' >&2\n'
        'echo "$@"\n'
    )
    program.chmod(0o700)
    return program


@pytest.fixture(autouse=True)
def no_java(monkeypatch, tmp_path):
    """A machine without Java, and without the wheel that brings one."""
    (tmp_path / "empty").mkdir()
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path / 'empty'}:/nowhere")
    monkeypatch.setattr("sfumato.engines.java_runtime.find_spec", lambda _name: None)


def test_java_home_comes_before_path(monkeypatch, tmp_path):
    fake_java(tmp_path / "home", "21.0.1")
    fake_java(tmp_path / "other", "17.0.15")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path / "other" / "bin"))
    assert (find_java().found, find_java().version) == ("JAVA_HOME", 21)


def test_a_java_that_is_too_old_is_passed_over(monkeypatch, tmp_path):
    fake_java(tmp_path / "home", "1.8.0_392")
    fake_java(tmp_path / "other", "17")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path / "other" / "bin"))
    assert (find_java().found, find_java().version) == ("PATH", 17)


def test_the_error_says_which_java_was_found(monkeypatch, tmp_path):
    fake_java(tmp_path / "home", "1.8.0_392")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    said = r"needs Java 17 or later; found: Java 8 \(JAVA_HOME\)"
    with pytest.raises(InstallationError, match=said):
        find_java()


def test_the_error_says_that_no_java_was_found():
    with pytest.raises(InstallationError, match="no Java was found") as fault:
        find_java()
    assert "sfumato[spark-java]" in str(fault.value)


def test_the_launcher_drops_one_argument_and_keeps_the_others(tmp_path):
    real = fake_java(tmp_path / "real one", "17")
    home = tmp_path / "home's"
    write_launcher(Java(real, "PATH", 17), home)
    words = ["-Da=b c", "--add-modules=jdk.incubator.vector", "", "$HOME"]
    ran = subprocess.run(
        [home / "bin" / "java", *words],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "/usr/bin:/bin"},
    )
    assert ran.stdout == "-Da=b c  $HOME\n"
    assert len((home / "processes").read_text().split()) == 1


def test_a_run_in_memory_never_imports_pyspark(tmp_path):
    code = (
        "import sys, pyarrow as pa, sfumato as sf\n"
        "table = pa.table({'a': [1, 1, 2, 2]})\n"
        "sf.anonymize(table, quasi=['a'], k=2, engine='memory')\n"
        "sf.check(table, quasi=['a'], k=2)\n"
        "assert 'pyspark' not in sys.modules and 'py4j' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
