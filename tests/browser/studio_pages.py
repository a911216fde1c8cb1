"""A studio in Chromium: one window with the studio's cookie, walked by mouse or keys."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.browser.chromium import DESKTOP, Browser, Opened
from tests.running_studio import RunningStudio

PATIENCE = 240_000
"""Milliseconds that a task may take on a busy machine."""
MOST_TABS = 400
NARROW = (320, 800)


@contextmanager
def window(
    browser: Browser,
    studio: RunningStudio,
    *,
    size: tuple[int, int] = DESKTOP,
    dark: bool = False,
    scripts: bool = True,
) -> Iterator[Opened]:
    """A window that the studio knows, as the first one that it opened."""
    if not studio.cookie:
        studio.enter()
    name, _, value = studio.cookie.partition("=")
    context = browser.chromium.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if dark else "light",
        java_script_enabled=scripts,
    )
    context.add_cookies([{"name": name, "value": value, "url": studio.access.origin}])
    try:
        opened = Opened(context.new_page())
        opened.page.set_default_timeout(PATIENCE)
        opened.watch()
        yield opened
    finally:
        context.close()


def go(opened: Opened, studio: RunningStudio, path: str) -> None:
    """Open a page of the studio."""
    opened.page.goto(f"{studio.access.origin}{path}")


def idle(opened: Opened, studio: RunningStudio) -> None:
    """Wait until the running task has ended and the page shows it."""
    studio.wait()
    opened.page.wait_for_selector("#task[data-state=running]", state="detached")


def tab_to(page: Any, selector: str) -> None:
    """Press Tab until an element has the focus."""
    for _ in range(MOST_TABS):
        if page.evaluate(
            "selector => document.activeElement.matches(selector)", selector
        ):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"The keyboard does not reach {selector}.")


def press(page: Any, selector: str) -> None:
    """Use a button or a link with the keyboard alone."""
    tab_to(page, selector)
    with page.expect_navigation():
        page.keyboard.press("Enter")


def fit_for_everybody(browser: Browser, opened: Opened) -> None:
    """Axe finds nothing, light or dark; the page fits 320 pixels and 200% zoom."""
    page = opened.page
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert browser.violations(opened) == [], (page.url, scheme)
    page.emulate_media(color_scheme="light")
    for width, height in (NARROW, (DESKTOP[0] // 2, DESKTOP[1] // 2)):
        page.set_viewport_size({"width": width, "height": height})
        found = page.evaluate("document.documentElement.scrollWidth")
        assert found <= width, (page.url, width)
    page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
    main = page.evaluate("document.querySelector('main').offsetWidth")
    assert main >= DESKTOP[0] / 2, page.url
