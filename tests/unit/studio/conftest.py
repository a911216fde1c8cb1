"""A studio for each test, on a project folder of its own."""

from __future__ import annotations

import pytest

from tests.running_studio import running_studio


@pytest.fixture
def stranger(tmp_path):
    """A studio, and a client that is not known to it."""
    with running_studio(tmp_path / "home", most_bytes=100_000) as studio:
        yield studio


@pytest.fixture
def studio(stranger):
    """A studio, and a client with its cookie."""
    stranger.enter()
    return stranger


@pytest.fixture
def example(studio):
    """A studio with the embedded example open."""
    assert studio.send("/data/example").status == 303
    return studio
