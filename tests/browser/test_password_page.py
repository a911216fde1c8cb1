"""The page that asks for the studio's password, in each of its states."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfumato.report.templating import fill
from sfumato.studio import server
from tests.browser.test_site_pages import LOOKS

STATES = {
    "asking": {"wrong": False, "locked": False},
    "wrong": {"wrong": True, "locked": False},
    "locked": {"wrong": True, "locked": True},
}
STYLES = {
    "/static/report.css": "report/templates/style.css",
    "/static/studio.css": "studio/static/studio.css",
    "/static/icon.svg": "studio/static/icon.svg",
}


@pytest.fixture(params=STATES)
def page(request, tmp_path) -> Path:
    """The page as a file, with the styles of the studio."""
    text = fill("enter.html.jinja", package=server.PACKAGE, **STATES[request.param])
    package = Path(server.__file__).parents[1]
    for address, place in STYLES.items():
        assert address in text
        text = text.replace(address, (package / place).as_uri())
    file = tmp_path / "enter.html"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_no_violation_where_a_password_is_asked_for(browser, page, look):
    size, dark = LOOKS[look]
    with browser.open(page, size=size, dark=dark) as opened:
        assert browser.violations(opened) == []
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= size[0]
