"""The page of a comparison: what a script adds, and what is there without one."""

from __future__ import annotations

import pytest

SHOWN = ".point:not(.away)"


@pytest.fixture
def page(browser, comparison_file):
    """The page, opened with its script."""
    with browser.open(comparison_file) as opened:
        yield opened.page


@pytest.fixture(scope="session")
def comparison_file(workshop):
    """The comparison of the demo: two algorithms, three k, one of them infeasible."""
    from tests.browser.pages import PAGES

    return PAGES["comparison"](workshop)


def places(page) -> list[str]:
    return [each.get_attribute("transform") for each in page.query_selector_all(SHOWN)]


def test_without_a_script_chart_table_and_failures_are_there(browser, comparison_file):
    with (
        browser.open(comparison_file) as one,
        browser.open(comparison_file, scripts=False) as two,
    ):
        assert places(one.page) == places(two.page)
        rows = "#candidates tbody"
        assert one.page.inner_text(rows) == two.page.inner_text(rows)
        assert "What failed" in two.page.inner_text("main")
        assert not two.page.is_visible("#controls")


def test_every_mark_is_reached_with_the_keyboard(page):
    page.focus("#only-front")
    reached = []
    for _ in range(4):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id"))
    assert reached == ["p1", "p2", "p4", "p5"]


def test_arrow_keys_go_from_mark_to_mark(page):
    page.focus("#p1")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") != "p1"


def test_a_mark_in_focus_shows_its_details_and_the_command(page):
    page.focus("#p2")
    told = page.inner_text("#details")
    assert "2, mondrian, k = 10" in told
    assert "--set algorithm.name=mondrian --set require.0.k=10" in told


def test_another_axis_moves_the_marks_and_names_itself(page):
    before = places(page)
    page.select_option("#utility", "discernibility")
    assert places(page) != before
    assert page.text_content("#x-title") == "Discernibility →"


def test_the_script_draws_the_first_chart_as_the_page_does(page):
    before, line = places(page), page.get_attribute("#front", "d")
    page.check("#log")
    page.uncheck("#log")
    assert places(page) == before
    assert page.get_attribute("#front", "d") == line


def test_an_algorithm_can_be_hidden_in_chart_and_table(page):
    page.uncheck("#legend li:nth-child(1) input")
    assert len(places(page)) == 2
    assert not page.is_visible("#c1")


def test_the_table_is_sorted_by_a_figure(page):
    for _ in range(2):
        page.click("#candidates thead th:nth-child(5) button")
    rows = page.query_selector_all("#candidates tbody tr")
    shown = [row.query_selector("td:nth-child(5)").inner_text() for row in rows]
    numbers = [float(text.rstrip("%")) for text in shown if text != "–"]
    assert numbers == sorted(numbers, reverse=True)
