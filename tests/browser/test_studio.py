"""The studio in a real browser: the whole walk by mouse and by keyboard, every state."""

from __future__ import annotations

import json

import pytest

from tests.browser.studio_pages import (
    fit_for_everybody,
    go,
    idle,
    press,
    tab_to,
    window,
)
from tests.running_studio import running_studio

STEPS = (
    "/data",
    "/columns",
    "/hierarchies",
    "/hierarchies?column=occupation",
    "/protection",
    "/compare",
    "/compare?candidate=2",
    "/compare?candidate=2&show=records",
    "/attacks",
    "/release",
    "/projects",
)
EMPTY = {
    "/data": "There is no table in the project folder yet.",
    "/columns": "Choose the data first.",
    "/hierarchies": "Choose the data first.",
    "/protection": "Choose the data first.",
    "/compare": "Choose the data first.",
    "/attacks": "Choose the data first.",
    "/release": "Choose the data first.",
}
RELEASED = "Proven again from the written file"


def choose_few(page) -> None:
    """Compare one algorithm with two sizes."""
    page.click("text=Algorithms")
    page.check("input[name=algorithm][value=mondrian]")
    page.fill("#values-0", "5, 10")


@pytest.fixture(scope="module")
def released(browser, tmp_path_factory):
    """The example, walked with the mouse from the first page to a release."""
    home = tmp_path_factory.mktemp("studio") / "home"
    with running_studio(home) as studio, window(browser, studio) as opened:
        page = opened.page
        go(opened, studio, "/")
        page.click("text=Open the embedded example")
        page.click("nav.rail a[href='/columns']")
        page.click("text=These roles are right")
        page.click("nav.rail a[href='/compare']")
        choose_few(page)
        page.click("form[action='/compare/save'] button")
        page.click("form[action='/compare/run'] button")
        idle(opened, studio)
        page.click("#candidates a:text('k = 10')")
        page.click("text=Go on with this candidate")
        idle(opened, studio)
        page.click("nav.rail a[href='/attacks']")
        page.click("text=Only some attacks")
        page.check("input[name=attack][value=linkage]")
        page.click("form[action='/attacks/run'] button")
        idle(opened, studio)
        page.click("nav.rail a[href='/release']")
        page.fill("#approver", "Ada Example")
        page.click("text=Prove and release")
        idle(opened, studio)
        yield studio, opened


def test_the_mouse_leads_from_the_first_page_to_a_verified_release(released):
    studio, opened = released
    assert RELEASED in opened.page.inner_text("main")
    manifest = json.loads((studio.root / "release" / "manifest.json").read_text())
    assert all(each["holds"] for each in manifest["requirements"])


def test_no_request_leaves_the_machine_and_the_browser_complains_of_nothing(released):
    studio, opened = released
    assert opened.complaints == []
    assert {url.split("/")[2] for url in opened.requests} == {
        studio.access.origin.split("/")[2]
    }


def test_every_step_is_fit_for_everybody(browser, released):
    studio, _ = released
    with window(browser, studio) as opened:
        for path in STEPS:
            go(opened, studio, path)
            fit_for_everybody(browser, opened)
        assert opened.complaints == []


@pytest.fixture
def fresh(tmp_path):
    """A studio without a project."""
    with running_studio(tmp_path / "home") as studio:
        studio.enter()
        yield studio


def test_an_empty_project_says_what_is_missing_to_everybody(browser, fresh):
    with window(browser, fresh) as opened:
        for path, text in EMPTY.items():
            go(opened, fresh, path)
            assert text in opened.page.inner_text("main"), path
            fit_for_everybody(browser, opened)


def test_feasibility_is_told_while_one_types_and_nothing_is_saved(browser, fresh):
    fresh.send("/data/example")
    with window(browser, fresh) as opened:
        page = opened.page
        go(opened, fresh, "/protection")
        page.focus("#set-0-k")
        page.keyboard.press("End")
        page.keyboard.type("555")
        page.wait_for_selector("#outlook-0 >> text=the nearest feasible value")
        assert page.evaluate("document.activeElement.id") == "set-0-k"
        assert page.input_value("#set-0-k") == "5555"
        assert fresh.space.require_policy().require[0].settings["k"] == 5
        # The click leaves the field, which saves it: both arrive, one after the other.
        with page.expect_navigation():
            page.click("text=the nearest feasible value")
        assert page.input_value("#set-0-k") == "3000"
        page.fill("#set-0-k", "7")
        page.keyboard.press("Tab")
        page.wait_for_selector("text=Saved.")
        assert page.evaluate("document.activeElement.id") != "set-0-k"
        assert page.evaluate("document.activeElement.tagName") != "BODY"


def test_values_are_moved_grouped_and_renamed_with_keys_alone(browser, fresh):
    fresh.send("/data/example")
    with window(browser, fresh) as opened:
        page = opened.page
        go(opened, fresh, "/hierarchies?column=sex")
        tab_to(page, "input[name=value][value=M]")
        page.keyboard.press("Space")
        tab_to(page, "#group-label")
        page.keyboard.type("Men")
        press(page, "form[action='/hierarchies/group'] button")
        tab_to(page, "select[name=group]")
        page.keyboard.type("Men")
        tab_to(page, "#rename-label")
        page.keyboard.type("Male")
        press(page, "form[action='/hierarchies/rename'] button")
        exported = fresh.ask("/hierarchies/export?column=sex").text
        assert exported == "F;F;*\nM;Male;*\n"
        go(opened, fresh, "/hierarchies?column=occupation")
        tab_to(page, "#tree summary")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        here = "document.activeElement.textContent"
        inner = "document.activeElement.parentElement.open"
        branch = page.evaluate(here)
        page.keyboard.press("ArrowRight")
        assert page.evaluate(inner)
        page.keyboard.press("ArrowLeft")
        assert not page.evaluate(inner)
        page.keyboard.press("ArrowLeft")
        assert page.evaluate(here).startswith("*")
        page.keyboard.press("ArrowDown")
        assert page.evaluate(here) == branch


def test_errors_are_announced_and_readable(browser, fresh):
    fresh.send("/data/example")
    with window(browser, fresh) as opened:
        go(opened, fresh, "/protection")
        opened.page.fill("#set-0-k", "9999")
        opened.page.press("#set-0-k", "Tab")
        opened.page.wait_for_selector("text=the nearest feasible value")
        fit_for_everybody(browser, opened)
        opened.page.fill("#set-0-k", "many")
        opened.page.press("#set-0-k", "Tab")
        opened.page.wait_for_selector("[role=alert]")
        fit_for_everybody(browser, opened)


def test_a_role_is_changed_by_keyboard_saved_and_undone(browser, fresh):
    fresh.send("/data/example")
    with window(browser, fresh) as opened:
        page = opened.page
        go(opened, fresh, "/columns")
        tab_to(page, "#role-8")
        with page.expect_response("**/columns/save"):
            page.keyboard.press("End")
        page.wait_for_selector("text=Saved.")
        assert fresh.space.require_policy().columns["cost"].drop
        assert page.evaluate("document.activeElement.id") == "role-8"
        page.focus("body")
        press(page, "form[action='/history/undo'] button")
        assert not fresh.space.require_policy().columns["cost"].drop


def test_the_keyboard_alone_leads_to_a_verified_release(browser, fresh):
    with window(browser, fresh) as opened:
        page = opened.page
        go(opened, fresh, "/")
        press(page, "form[action='/data/example'] button")
        press(page, "nav.rail a[href='/columns']")
        press(page, "button[formaction='/columns/confirm']")
        press(page, "nav.rail a[href='/compare']")
        tab_to(page, "form[action='/compare/save'] summary")
        page.keyboard.press("Enter")
        tab_to(page, "input[name=algorithm][value=mondrian]")
        page.keyboard.press("Space")
        tab_to(page, "#values-0")
        page.keyboard.type("5, 10")
        press(page, "form[action='/compare/save'] button")
        press(page, "form[action='/compare/run'] button")
        idle(opened, fresh)
        press(page, ".point")
        press(page, "form[action='/compare/choose'] button")
        idle(opened, fresh)
        press(page, "nav.rail a[href='/release']")
        tab_to(page, "#approver")
        page.keyboard.type("Ada Example")
        press(page, "form[action='/release/sign'] button")
        idle(opened, fresh)
        assert RELEASED in page.inner_text("main")
        assert opened.complaints == []


def test_without_a_script_a_task_is_followed_to_its_end(browser, fresh):
    with window(browser, fresh, scripts=False) as opened:
        go(opened, fresh, "/data")
        opened.page.click("text=Open the embedded example")
        go(opened, fresh, "/columns")
        opened.page.click("text=Count it")
        fresh.wait()
        go(opened, fresh, "/columns")
        assert "pairs told apart" in opened.page.inner_text("main")


def test_a_comparison_is_canceled_and_a_killed_worker_is_told(browser, fresh):
    fresh.send("/data/example")
    with window(browser, fresh) as opened:
        go(opened, fresh, "/compare")
        opened.page.click("form[action='/compare/run'] button")
        opened.page.wait_for_selector("#task[data-state=running]")
        fit_for_everybody(browser, opened)
        opened.page.click("form[action='/task/cancel'] button")
        idle(opened, fresh)
        go(opened, fresh, "/compare")
        assert "canceled" in opened.page.inner_text("main")
        fit_for_everybody(browser, opened)
        go(opened, fresh, "/compare")
        opened.page.click("form[action='/compare/run'] button")
        fresh.space.tasks.current._process.kill()
        fresh.wait()
        opened.page.wait_for_selector("text=ended with -9")
        fit_for_everybody(browser, opened)


def test_the_second_of_two_tabs_is_told_that_the_policy_changed(browser, fresh):
    fresh.send("/data/example")
    with window(browser, fresh) as one, window(browser, fresh, scripts=False) as two:
        for opened in (one, two):
            go(opened, fresh, "/protection")
        one.page.fill("#set-0-k", "7")
        one.page.press("#set-0-k", "Tab")
        one.page.wait_for_selector("text=Saved.")
        two.page.fill("#set-0-k", "9")
        two.page.click("#requirement-0 form[action='/protection/save'] button")
        assert "changed in another tab" in two.page.inner_text("main")
        assert two.page.input_value("#set-0-k") == "7"


def test_fields_that_change_one_after_the_other_are_all_saved(browser, fresh):
    fresh.send("/data/example")
    with window(browser, fresh) as opened:
        page = opened.page
        go(opened, fresh, "/compare")
        page.click("text=Algorithms")
        for name in ("mondrian", "k-member", "harvest"):
            page.check(f"#algorithm-{name}")
        page.fill("#values-0", "5, 10")
        page.fill("#accept-ncp", "0.6")
        # No click on Save: what was typed is compared.
        page.click("form[action='/compare/run'] button")
        page.wait_for_selector("#task")
        fresh.space.tasks.end()
        asked = fresh.space.require_policy()
        assert set(asked.compare.algorithms) == {"mondrian", "k-member", "harvest"}
        assert asked.compare.set == {"require.0.k": (5, 10)}
        assert asked.accept == {"ncp": 0.6}
        assert opened.complaints == []


def test_a_restart_in_the_middle_goes_on_where_it_stopped(browser, tmp_path):
    home = tmp_path / "home"
    with running_studio(home) as first:
        first.enter()
        first.send("/data/example")
        first.send("/protection/save", place=0, **{"set-k": "6"})
    with running_studio(home) as again, window(browser, again) as opened:
        go(opened, again, "/")
        assert opened.page.inner_text("h1") == "Columns"
        assert again.space.require_policy().require[0].settings["k"] == 6
        assert again.space.history.can_undo == "requirement k-anonymity"
