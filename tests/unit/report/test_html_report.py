"""The report page: complete, escaped, readable without a network."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from html.parser import HTMLParser
from typing import Any

import pytest

from sfumato.report.column_rows import column_rows
from sfumato.report.facts import ColumnFacts
from sfumato.report.html import render

SCARY = "<script>alert('x')</script>&\"zip\""
MANIFEST: dict[str, Any] = {
    "sfumato": "0.1.0",
    "policy_sha256": "a" * 64,
    "data_sha256": "b" * 64,
    "rows_in": 3000,
    "rows_out": 2990,
    "rows_suppressed": 10,
    "groups": 420,
    "requirements": [
        {
            "model": "l-diversity",
            "parameters": {"on": SCARY, "level": 0, "others_known": False, "l": 3},
            "holds": True,
            "measured": 4,
            "offending_groups": 0,
            "sentence": "Every group holds at least l values.",
            "blind_spot": "Values may be alike.",
        }
    ],
    "utility": {"ncp": 0.2731, "discernibility": 123456.0, "a_plug_in_metric": 2.5},
    "risk": {"prosecutor_max": 0.2, "prosecutor_mean": 0.05},
    "algorithm": {"name": "mondrian", "cut": "gain"},
    "operator": {"name": "generalize"},
    "policy": {
        "version": 1,
        "columns": {
            "name": {"role": "identifier", "hierarchy": None},
            SCARY: {"role": "quasi", "hierarchy": {"prefix": [4]}},
            "ward": {"role": "insensitive"},
        },
    },
    "known_limits": ["A second release can be compared with this one."],
    "seconds": {"solve": 0.12},
}
FOUND: dict[str, Any] = {
    "columns": {SCARY: {"ncp": 0.4321, "generalized_loss": 0.4}},
    "group_sizes": [{"size": 5, "groups": 300}, {"size": 12, "groups": 120}],
    "algorithm": {"cuts": 419},
}
GIVEAWAYS = {"role": "insensitive", "unique_with_quasi": 0.5}
VOID = {"meta", "br", "rect", "line", "path", "circle"}


class Reader(HTMLParser):
    """Collects what a test asks about, and insists that elements nest."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def named(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.tags if tag == name]


def read(manifest: dict[str, Any] = MANIFEST, found: dict[str, Any] = FOUND) -> Reader:
    reader = Reader()
    reader.feed(render(manifest, found))
    reader.close()
    return reader


@pytest.fixture(scope="module")
def page() -> Reader:
    return read()


def test_elements_nest(page):
    assert page.open == []


def test_no_name_of_the_data_becomes_markup(page):
    assert page.named("script") == []
    assert SCARY in page.text


def test_nothing_is_fetched_and_nothing_runs():
    text = render(MANIFEST, FOUND)
    assert not re.search(r"https?://|url\(|@import|src=|href=(?!\"#)| on\w+=", text)


def test_every_link_leads_to_a_section_of_the_page(page):
    ids = {attributes.get("id") for _, attributes in page.tags}
    links = [str(link["href"]) for link in page.named("a")]
    assert links
    assert {link.removeprefix("#") for link in links} <= ids


def test_the_page_forbids_itself_the_network(page):
    [rule] = [m["content"] for m in page.named("meta") if "http-equiv" in m]
    assert rule == "default-src 'none'; style-src 'unsafe-inline'"


def test_the_language_is_declared(page):
    assert page.named("html") == [{"lang": "en"}]


def test_headings_leave_out_no_level(page):
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels))


def test_every_chart_has_a_title_and_a_description(page):
    ids = {attributes.get("id") for _, attributes in page.tags}
    charts = page.named("svg")
    assert len(charts) == 1
    for chart in charts:
        assert chart["role"] == "img"
        assert set(str(chart["aria-labelledby"]).split()) <= ids


def test_every_table_header_has_a_scope(page):
    assert {attributes.get("scope") for attributes in page.named("th")} == {
        "col",
        "row",
    }


def test_a_promise_says_what_was_required_and_what_was_measured(page):
    assert f"l = 3 on {SCARY}" in page.text
    assert "l = 4" in page.text
    assert "Does not protect from this: Values may be alike." in page.text


def test_measures_have_their_definitions(page):
    assert "27.3%" in page.text
    assert "one divided by the smallest group" in page.text


def test_a_measure_without_an_entry_is_shown_by_its_name(page):
    assert "A plug in metric" in page.text


def test_a_chart_has_its_numbers_in_a_table(page):
    assert "43.2%" in page.text
    assert "3,000" in page.text
    assert "1,500" in page.text  # rows in groups of five
    assert "1,440" in page.text  # rows in groups of twelve


def test_dropped_and_kept_columns_are_named(page):
    assert "Left out altogether: name." in page.text
    assert "Published as they were: ward." in page.text


def test_hashes_versions_and_limits_are_there(page):
    for text in ("a" * 64, "b" * 64, "0.1.0", *MANIFEST["known_limits"]):
        assert text in page.text


def test_a_sensitive_column_that_no_requirement_is_about_is_named():
    columns = {"debt": {"role": "sensitive"}, SCARY: {"role": "sensitive"}}
    policy = {**MANIFEST["policy"], "columns": columns}
    text = read(MANIFEST | {"policy": policy}).text
    assert "No requirement is about the sensitive column debt: a group may" in text


def test_a_column_left_out_is_not_called_insensitive():
    columns = [ColumnFacts(name="note", role="insensitive", treatment="dropped")]
    assert column_rows(columns)[0][:3] == ("note", "–", "left out")


def test_a_broken_promise_is_said_in_words():
    broken = {**MANIFEST["requirements"][0], "holds": False, "offending_groups": 7}
    text = read(MANIFEST | {"requirements": [broken]}).text
    assert "✗ does not hold" in text
    assert "does not keep every promise" in text


def test_a_guessable_seed_is_said_first():
    why = "Made with a guessable seed: not for publication."
    text = read(MANIFEST | {"not_for_publication": why}).text
    assert f"✗ {why}" in text
    assert "The promise of the policy holds" not in text


def test_a_bare_manifest_makes_a_page():
    kept = ("sfumato", "rows_out", "groups", "requirements")
    assert read({key: MANIFEST[key] for key in kept}, {}).open == []


def luminance(color: str) -> float:
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [
        p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("ink", ["ink", "soft", "accent", "good", "bad"])
@pytest.mark.parametrize("ground", ["paper", "wash"])
@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_stands_out_from_its_ground(ink, ground, scheme):
    schemes = render(MANIFEST, FOUND).split("prefers-color-scheme: dark")
    colors = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", schemes[scheme]))
    ends = sorted((luminance(colors[ground]), luminance(colors[ink])))
    assert (ends[1] + 0.05) / (ends[0] + 0.05) >= 4.5


def test_the_templates_that_are_compiled_ahead_are_those_of_a_page():
    """Others would take time, and one that is missing is compiled while people wait."""
    code = f"""
from sfumato.report import html, templating
html.render({MANIFEST!r}, {FOUND!r})
used = [name for _, name in templating._environment(templating.REPORT).cache]
assert sorted(used) == sorted(html.TEMPLATES), used
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("share", "light", "text"),
    [
        (0.0, "green", "✓ 0.00%"),
        (0.0004, "amber", "! 0.04%"),
        (0.588, "red", "✗ 58.8%"),
    ],
)
def test_rows_that_one_column_gives_away_have_a_mark_of_their_own(share, light, text):
    column = GIVEAWAYS | {"unique": share}
    risk = MANIFEST["risk"] | {"columns": {"ward": column}}
    page = render(MANIFEST | {"risk": risk}, FOUND)
    head = page.split('id="short"')[1].split("</section>")[0]
    assert (
        "<dt>rows that one other column gives away</dt>"
        f'<dd class="light {light}">{text}</dd>'
    ) in head
