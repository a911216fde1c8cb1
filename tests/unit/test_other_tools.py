"""A comparison with another tool is never left out in silence where it could run."""

from __future__ import annotations

import sys

import pytest

from tests.other_tools import other_tool


@pytest.fixture(params=["anjana.anonymity", "anonypy", "pycanon.anonymity", "sklearn"])
def missing(request, monkeypatch):
    """A tool that cannot be imported."""
    monkeypatch.setitem(sys.modules, request.param, None)
    return request.param


def test_a_missing_tool_fails_in_ci(missing, monkeypatch):
    monkeypatch.setenv("CI", "true")
    monkeypatch.setattr(sys, "version_info", (3, 12))
    with pytest.raises(pytest.fail.Exception, match="is not installed: pip install"):
        other_tool(missing)


def test_a_missing_tool_skips_elsewhere(missing, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="is not installed"):
        other_tool(missing)


@pytest.mark.parametrize("module", ["anjana.anonymity", "pycanon.anonymity"])
def test_a_tool_that_has_no_wheel_is_not_asked_for(module, monkeypatch):
    monkeypatch.setenv("CI", "true")
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr(sys, "version_info", (3, 13))
    with pytest.raises(pytest.skip.Exception):
        other_tool(module)


@pytest.mark.parametrize("module", ["anonypy", "sklearn"])
def test_other_tools_are_asked_for_on_every_python(module, monkeypatch):
    monkeypatch.setenv("CI", "true")
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr(sys, "version_info", (3, 13))
    with pytest.raises(pytest.fail.Exception):
        other_tool(module)


def test_what_is_installed_is_imported():
    assert other_tool("json").loads("1") == 1


def test_no_test_skips_a_missing_package_by_itself(repository):
    asked = "importor" + "skip("
    found = [
        line.strip()
        for path in sorted((repository / "tests").rglob("*.py"))
        for line in path.read_text("utf-8").splitlines()
        if asked in line
    ]
    # A module of Python itself that some systems lack.
    assert found == [f'pytest.{asked}"resource")']
