"""Fixtures for all tests."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from sfumato.kernels.compilation import decorators, library
from tests.needs_numba import left_out, may_compile
from tests.other_tools import in_ci

ROOT = Path(__file__).resolve().parents[1]
collect_ignore = left_out()

# The same examples on every run, and no deadline: machines differ.
settings.register_profile("sfumato", derandomize=True, deadline=None, database=None)
settings.load_profile("sfumato")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse test names that hold an address: workers side by side would disagree."""
    unstable = [item.nodeid for item in items if " at 0x" in item.nodeid]
    if unstable:
        raise pytest.UsageError(f"Give these tests names that last: {unstable[:3]}")


def pytest_configure() -> None:
    """Where a library is built, what it lacks is a fault: nothing hides behind Numba.

    Tests of the kernels themselves may call them in ways that the catalogue does not.
    """
    kernels: Any = decorators.Kernel
    compiled = kernels._compiled

    def compiled_or_failed(kernel: Any, missing: str) -> Any:
        if may_compile() or library.usable() is None:
            return compiled(kernel, missing)
        return pytest.fail(f"The library has no {missing}: run `make entries library`.")

    kernels._compiled = compiled_or_failed


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The directory of real tables: SFUMATO_DATA, or shared/data beside the repository.

    Without it these tests are skipped, except where CI is set: there nothing that
    should run may be left out in silence.
    """
    named = os.environ.get("SFUMATO_DATA")
    directory = Path(named) if named else ROOT.parent / "shared" / "data"
    if not (directory / "adult").is_dir():
        absent("The real tables are not here: set SFUMATO_DATA to their directory.")
    return directory


def absent(reason: str) -> None:
    """Skip a test for a reason, or fail it where CI is set."""
    if in_ci():
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)
