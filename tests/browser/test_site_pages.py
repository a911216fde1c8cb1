"""The documentation site in a real browser, from the file system and without a network."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.chromium import DESKTOP, PHONE
from tests.docs.site_build import build_site

PAGES = (
    "docs/index",
    "docs/install",
    "docs/tutorial",
    "docs/choose",
    "docs/how-to/ci",
    "docs/how-to/epsilon",
    "docs/catalogue/models",
    "docs/explanation/models-and-attacks",
    "docs/policy",
    "docs/cli",
    "docs/reference/python",
    "docs/reference/glossary",
    "docs/compare",
    "docs/hierarchies",
    "README",
)
LOOKS = {"desktop, light": (DESKTOP, False), "phone, dark": (PHONE, True)}
every_page = pytest.mark.parametrize("name", PAGES)


@pytest.fixture(scope="module")
def site(browser, tmp_path_factory) -> Path:
    target = tmp_path_factory.mktemp("docs") / "site"
    assert build_site(target) == ""
    return target


@pytest.mark.parametrize("look", LOOKS)
@every_page
def test_axe_finds_no_violation_on_the_site(browser, site, name, look):
    size, dark = LOOKS[look]
    with browser.open(site / f"{name}.html", size=size, dark=dark) as opened:
        assert browser.violations(opened) == []


@every_page
def test_a_page_of_the_site_asks_for_files_alone(browser, site, name):
    with browser.open(site / f"{name}.html") as opened:
        assert [each for each in opened.requests if not each.startswith("file:")] == []
        assert opened.complaints == []


@every_page
def test_no_page_of_the_site_is_wider_than_a_phone(browser, site, name):
    with browser.open(site / f"{name}.html", size=PHONE) as opened:
        width = opened.page.evaluate("document.documentElement.scrollWidth")
        assert width <= PHONE[0]


def test_the_search_works_from_the_file_system(browser, site):
    with browser.open(site / "docs" / "index.html") as opened:
        opened.page.fill("input[name=q]", "ledger")
        opened.page.press("input[name=q]", "Enter")
        opened.page.wait_for_selector("#search-results a[href*='privacy']")


def test_the_first_page_leads_to_the_start_page(browser, site):
    with browser.open(site / "index.html") as opened:
        opened.page.wait_for_url("**/docs/index.html*")
