"""Chromium without a network, which remembers what a page asks for and complains of."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.conftest import ROOT, absent

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
AXE = ROOT / "build" / "browser" / "node_modules" / "axe-core" / "axe.min.js"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
MISSING = "Pages cannot be opened: {} is missing. Hint: make browser"
DESKTOP, PHONE = (1280, 900), (390, 844)


@dataclass
class Opened:
    """An open page, what it asked for and what it complained about."""

    page: Any
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def watch(self) -> None:
        """Note every request, every error of a script and every complaint."""
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._heard)

    def _heard(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)


@dataclass(frozen=True)
class Browser:
    """Chromium, without a network."""

    chromium: Any
    axe: str

    @contextmanager
    def open(
        self,
        place: Path | str,
        *,
        size: tuple[int, int] = DESKTOP,
        dark: bool = False,
        scripts: bool = True,
    ) -> Iterator[Opened]:
        """Open a file, or an address on this machine, in a context of its own."""
        context = self.chromium.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme="dark" if dark else "light",
            java_script_enabled=scripts,
            offline=isinstance(place, Path),
        )
        try:
            opened = Opened(context.new_page())
            opened.watch()
            opened.page.goto(place.as_uri() if isinstance(place, Path) else place)
            yield opened
        finally:
            context.close()

    def violations(self, opened: Opened) -> list[str]:
        """What axe-core finds wrong on a page: rule, what is asked, and where."""
        opened.page.evaluate(self.axe)
        found = opened.page.evaluate("axe.run(document)")
        return [
            f"{each['id']}: {each['help']}: {[n['target'] for n in each['nodes'][:5]]}"
            for each in found["violations"]
        ]


@contextmanager
def started() -> Iterator[Browser]:
    """Start the browser; skip the test without one, or fail it under CI."""
    named = os.environ.get("SFUMATO_CHROMIUM")
    found = named or next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        absent(MISSING.format("Chromium"))
    if not AXE.is_file():
        absent(MISSING.format("axe-core"))
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        absent(MISSING.format("the package 'playwright'"))
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=found, args=list(FLAGS))
        yield Browser(chromium, AXE.read_text(encoding="utf-8"))
        chromium.close()
