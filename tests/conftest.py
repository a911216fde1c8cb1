"""What every test can ask for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]

# The same examples on every run, and no deadline: a first call may compile a kernel.
settings.register_profile("sfumato", derandomize=True, deadline=None, database=None)
settings.load_profile("sfumato")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse test names that hold an address: workers side by side would disagree."""
    unstable = [item.nodeid for item in items if " at 0x" in item.nodeid]
    if unstable:
        raise pytest.UsageError(f"Give these tests names that last: {unstable[:3]}")


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
    if os.environ.get("CI", "").lower() in {"1", "true", "yes"}:
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)
