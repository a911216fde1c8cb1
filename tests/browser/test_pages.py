"""Every page in a real browser: quiet, self-contained, readable by everybody."""

from __future__ import annotations

import pytest

from tests.browser.chromium import DESKTOP, PHONE
from tests.browser.pages import STILL

MOST_BYTES = 3_000_000
sizes = pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
schemes = pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])


def test_a_page_asks_for_itself_and_nothing_else(browser, page_file):
    with browser.open(page_file) as opened:
        assert opened.requests == [page_file.as_uri()]


def test_a_page_makes_the_browser_complain_of_nothing(browser, page_file):
    with browser.open(page_file) as opened:
        assert opened.complaints == []


def test_a_page_is_small(browser, page_file):
    assert page_file.stat().st_size < MOST_BYTES


@schemes
@sizes
def test_axe_finds_no_violation(browser, page_file, size, dark):
    with browser.open(page_file, size=size, dark=dark) as opened:
        assert browser.violations(opened) == []


@sizes
def test_no_page_is_wider_than_its_window(browser, page_file, size):
    with browser.open(page_file, size=size) as opened:
        width = opened.page.evaluate("document.documentElement.scrollWidth")
        assert width <= size[0]


@pytest.mark.parametrize("page_file", STILL, indirect=True)
def test_a_page_needs_no_script(browser, page_file):
    with browser.open(page_file) as one, browser.open(page_file, scripts=False) as two:
        assert one.page.inner_text("main") == two.page.inner_text("main")


def test_paper_shows_what_is_folded(browser, page_file):
    folded = "details:not([open]) > :not(summary)"
    tall = f"[...document.querySelectorAll('{folded}')].map(e => e.clientHeight)"
    with browser.open(page_file) as opened:
        opened.page.emulate_media(media="print")
        assert all(height > 0 for height in opened.page.evaluate(tall))
        assert opened.page.pdf(format="A4").startswith(b"%PDF")
