"""Take pictures of a page: `python -m tests.browser PAGE DIRECTORY`.

Light and dark, on a desktop and on a phone, and as printed on paper.
"""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path

from tests.browser.chromium import DESKTOP, PHONE, started

SIZES = {"desktop": DESKTOP, "phone": PHONE}


def main(page: str, directory: str) -> None:
    """Write the pictures of a page to a directory."""
    place, target = Path(page).resolve(), Path(directory)
    target.mkdir(parents=True, exist_ok=True)
    with started() as browser:
        for (name, size), dark in product(SIZES.items(), (False, True)):
            picture = target / f"{name}-{'dark' if dark else 'light'}.png"
            with browser.open(place, size=size, dark=dark) as opened:
                opened.page.screenshot(path=picture, full_page=True)
        with browser.open(place) as opened:
            opened.page.pdf(path=target / "print.pdf", format="A4")


if __name__ == "__main__":
    main(*sys.argv[1:])
