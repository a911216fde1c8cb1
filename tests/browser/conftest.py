"""Fixtures for tests of pages: the browser, and every page that Sfumato makes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.chromium import Browser, started
from tests.browser.pages import PAGES, Workshop


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The browser of all tests here; they are skipped without one, or fail under CI."""
    with started() as browser:
        yield browser


@pytest.fixture(scope="session")
def workshop(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Workshop:
    """Releases whose pages are opened, each made when it is first asked for."""

    def shared_data() -> Path:
        found: Path = request.getfixturevalue("shared_data")
        return found

    return Workshop(tmp_path_factory.mktemp("pages"), shared_data)


@pytest.fixture(scope="session", params=PAGES)
def page_file(
    request: pytest.FixtureRequest, browser: Browser, workshop: Workshop
) -> Path:
    """Each page in turn."""
    place = PAGES[request.param](workshop)
    assert place.is_file()
    return place
