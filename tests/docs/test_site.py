"""The site builds without a warning, and needs nothing but its own files."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.docs.site_build import build_site

LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src"}


class Page(HTMLParser):
    """The names that a page can be linked by, its links, and what it loads."""

    def __init__(self, place: Path) -> None:
        super().__init__()
        self.place = place
        self.names: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(place.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        said = dict(attrs)
        self.names |= {said[key] for key in ("id", "name") if said.get(key)}
        if tag == "a" and said.get("href"):
            self.links.append(said["href"])
        if tag in LOADED and said.get(LOADED[tag]):
            self.loaded.append(said[LOADED[tag]])


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    target = tmp_path_factory.mktemp("docs") / "site"
    return target, build_site(target)


@pytest.fixture(scope="module")
def pages(built):
    target, _ = built
    return {path: Page(path) for path in target.rglob("*.html")}


def broken(page: Page, pages: dict[Path, Page]) -> list[str]:
    """The links of a page that lead nowhere in the site."""
    return [link for link in page.links if not leads(page, link, pages)]


def leads(page: Page, link: str, pages: dict[Path, Page]) -> bool:
    if re.match(r"[a-z]+:", link):
        return True
    target, _, name = unquote(link).partition("#")
    place = (page.place.parent / target).resolve() if target else page.place
    if place not in pages:
        return place.is_file()
    return not name or name in pages[place].names


def test_the_site_builds_without_a_warning(built):
    assert built[1] == ""


def test_it_begins_with_the_start_page(built):
    start = (built[0] / "index.html").read_text(encoding="utf-8")
    assert 'href="docs/index.html"' in start
    assert (built[0] / "docs" / "index.html").is_file()


def test_every_link_and_anchor_of_the_site_leads_somewhere(pages):
    found = {path.name: broken(page, pages) for path, page in pages.items()}
    assert {name: links for name, links in found.items() if links} == {}


def test_no_page_loads_anything_from_elsewhere(pages):
    elsewhere = {
        link for page in pages.values() for link in page.loaded if "//" in link
    }
    assert elsewhere == set()


def test_no_style_loads_anything_from_elsewhere(built):
    styles = "".join(path.read_text("utf-8") for path in built[0].rglob("*.css"))
    assert re.findall(r"url\(['\"]?(?:https?:)?//[^)]*|@import[^;]*", styles) == []
