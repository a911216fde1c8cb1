"""Draw the pictures of the documentation from the directory where the tutorial ran.

Usage: python -m tools.pictures RAN PICTURES; `make pictures` does both. The picture of the
report is a screenshot, for which it needs Chromium (`make browser`).
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

import pyarrow.parquet as pq

COLUMNS = ("birth_date", "sex", "zip", "diagnosis")
BEFORE = ("name", *COLUMNS)
ROWS, MOST = 5, 22
LINE, LETTER, GAP, MARGIN = 24, 7.3, 18, 20
WIDTH = 980
STYLE = """
  text { font: 12px ui-monospace, Menlo, Consolas, monospace; fill: #1b2a30; }
  .title { font: bold 14px system-ui, sans-serif; }
  .note { font: 13px system-ui, sans-serif; }
  .head { font-weight: bold; fill: #0b5c6b; }
  .good { fill: #1a6b2f; }
"""
Rows = Sequence[Sequence[str]]


def one_group(ran: Path) -> tuple[Rows, Rows]:
    """The rows of one published group: as the source has them, and as published."""
    before = _rows(ran / "patients.csv", BEFORE)
    after = _rows(ran / "published" / "data.csv", COLUMNS)
    places = _places(ran / "published" / "private" / "rows.parquet")
    small = [group for group in places.values() if len(group) == ROWS]
    chosen = min(small, key=lambda group: _stars(after[group[0][0]]))
    return [before[s] for _, s in chosen], [after[p] for p, _ in chosen]


def _places(record: Path) -> dict[int, list[tuple[int, int]]]:
    """The published and source rows of each group."""
    found: dict[int, list[tuple[int, int]]] = {}
    for row in pq.read_table(record).to_pylist():
        place = row["published_row"], row["source_row"]
        found.setdefault(row["group"], []).append(place)
    return found


def _stars(row: Sequence[str]) -> tuple[int, Sequence[str]]:
    return sum(cell.count("*") for cell in row[:3]), row


def _rows(path: Path, columns: Sequence[str]) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return [[row[c][:MOST] for c in columns] for row in csv.DictReader(file)]


def verdicts(ran: Path) -> Iterator[str]:
    """What the manifest says about each requirement."""
    manifest = json.loads((ran / "published" / "manifest.json").read_text("utf-8"))
    for each in manifest["requirements"]:
        name = each["model"][0]
        asked, found = each["parameters"][name], each["measured"]
        yield f"✓ {each['model']}: {name} = {asked:g} asked, {name} = {found:g} measured"
    yield f"{manifest['utility']['ncp']:.0%} of the detail lost"


def picture(before: Rows, after: Rows, said: Sequence[str]) -> str:
    """The three panels as SVG: before, after, what is proven."""
    left = _panel(MARGIN, "Before: five patients", BEFORE, before)
    right = _panel(540, "After: five rows that look alike", COLUMNS, after)
    top = 70 + LINE * (ROWS + 1)
    notes = [
        _text(
            MARGIN,
            top + LINE * (n + 1),
            line,
            "note good" if line[0] == "✓" else "note",
        )
        for n, line in enumerate(said)
    ]
    title = _text(MARGIN, top, "Report: proven from the published file", "title")
    height = top + LINE * (len(said) + 1)
    label = "A table before and after, and what is proven about it"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'role="img" aria-label="{label}">\n<style>{STYLE}</style>\n'
        f'<rect width="{WIDTH}" height="{height}" rx="10" fill="#f3f7f8"/>\n'
        + "\n".join([*left, *right, title, *notes])
        + "\n</svg>\n"
    )


def _panel(x: float, title: str, head: Sequence[str], rows: Rows) -> Iterator[str]:
    yield _text(x, 32, title, "title")
    widths = [max(map(len, cells)) for cells in zip(head, *rows, strict=True)]
    for column, width in enumerate(widths):
        yield _text(x, 32 + LINE, head[column], "head")
        for number, row in enumerate(rows):
            yield _text(x, 32 + LINE * (number + 2), row[column], "cell")
        x += width * LETTER + GAP


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" class="{kind}">{escape(text)}</text>'


def photograph(page: Path, target: Path) -> None:
    """A screenshot of the head of a page."""
    from tests.browser.chromium import started

    with started() as browser, browser.open(page, size=(980, 700)) as opened:
        opened.page.screenshot(path=target)


def main(ran: str, pictures: str) -> None:
    """Write both pictures."""
    source, target = Path(ran), Path(pictures)
    target.mkdir(parents=True, exist_ok=True)
    drawn = picture(*one_group(source), list(verdicts(source)))
    (target / "before-after.svg").write_text(drawn, encoding="utf-8")
    photograph((source / "published" / "report.html").resolve(), target / "report.png")


if __name__ == "__main__":
    main(*sys.argv[1:])
