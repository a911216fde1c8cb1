"""Every link and every file that the documentation names exists."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
FILE = re.compile(r"`((?:\w+/)+\w+\.py)`")
CARD = re.compile(r"^:link: (\S+)$", re.MULTILINE)
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)

pages = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
sources = sorted(ROOT.glob("src/**/*.py"))
places = (ROOT, ROOT / "src" / "sfumato")
every_page = pytest.mark.parametrize(
    "page", pages, ids=lambda page: page.relative_to(ROOT).as_posix()
)


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """The names that headings of a page can be linked by."""
    headings = re.findall(r"^#+\s+(.*)$", prose(page), re.MULTILINE)
    return {anchor(heading) for heading in headings}


def anchor(heading: str) -> str:
    kept = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return kept.replace(" ", "-")


def linked_pages(page: Path) -> set[Path]:
    """The pages that a reader gets to from a page with one click."""
    text = prose(page)
    links = [link.partition("#")[0] for link in LINK.findall(text)]
    links += [f"{card}.md" for card in CARD.findall(text)]
    found = {(page.parent / link).resolve() for link in links if link.endswith(".md")}
    return {each for each in found if each.is_file()}


def within_clicks(start: Path, clicks: int) -> set[Path]:
    """The pages that can be reached from a page with so many clicks."""
    reached = {start}
    for _ in range(clicks):
        reached |= {each for page in reached for each in linked_pages(page)}
    return reached


def leads_somewhere(page: Path, link: str) -> bool:
    target, _, fragment = link.partition("#")
    place = (page.parent / target).resolve() if target else page
    if not place.exists():
        return False
    return not fragment or place.suffix != ".md" or fragment in anchors(place)


@every_page
def test_every_relative_link_leads_somewhere(page):
    links = [link for link in LINK.findall(prose(page)) if "://" not in link]
    links = [link for link in links if not link.startswith("mailto:")]
    assert [link for link in links if not leads_somewhere(page, link)] == []


def test_every_page_is_within_three_clicks_of_the_start_page():
    reached = within_clicks(ROOT / "docs" / "index.md", 3)
    lost = [page.relative_to(ROOT).as_posix() for page in pages if page not in reached]
    assert lost == [], (
        "Link it from its section's index.md, and name it in its toctree."
    )


def test_no_page_is_in_the_menu_twice():
    listed = [
        (page.parent / name).resolve() if name[0] != "/" else ROOT / name[1:]
        for page in pages
        for menu in re.findall(
            r"^```\{toctree\}\n(.*?)^```", page.read_text("utf-8"), re.M | re.S
        )
        for name in re.findall(r"^(?:[^:\n]*<)?([\w./-]+)>?$", menu, re.M)
    ]
    twice = [name for name, count in Counter(listed).items() if count > 1]
    assert [name.relative_to(ROOT).as_posix() for name in twice] == []
    assert ROOT / "docs" / "tutorial" in listed


@pytest.mark.parametrize(
    "text", [*pages, *sources], ids=lambda text: text.relative_to(ROOT).as_posix()
)
def test_every_named_file_exists(text):
    named = set(FILE.findall(text.read_text(encoding="utf-8")))
    assert [n for n in named if not any((p / n).is_file() for p in places)] == []
