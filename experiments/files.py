"""Writes a result as CSV, Markdown and SVG, and what the page needs to remember."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from experiments.drawing import svg
from experiments.results import Listing, Panel, Result

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "experiments" / "out"
PAGES = ROOT / "docs" / "reproduction"


def write(result: Result, directory: Path) -> None:
    """The table as CSV and Markdown, and the figure as SVG."""
    directory.mkdir(parents=True, exist_ok=True)
    for place, listing in enumerate(_listings(result)):
        ending = f"-{place + 1}" if place else ""
        path = directory / f"{result.name}{ending}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([listing.header, *listing.rows])
    text = "\n".join(markdown(result))
    (directory / f"{result.name}.md").write_text(text, encoding="utf-8")
    if result.panels:
        (directory / f"{result.name}.svg").write_text(svg(result), encoding="utf-8")


def remember(result: Result) -> None:
    """Keep page, figure and findings, for the page of all claims."""
    PAGES.mkdir(parents=True, exist_ok=True)
    text = "\n".join(markdown(result))
    (PAGES / f"{result.name}.md").write_text(text, encoding="utf-8")
    if result.panels:
        (PAGES / f"{result.name}.svg").write_text(svg(result), encoding="utf-8")
    found = {f.claim: {"verdict": f.verdict, "ours": f.ours} for f in result.findings}
    text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    (PAGES / f"{result.name}.json").write_text(text, encoding="utf-8")


def _listings(result: Result) -> Iterator[Listing]:
    """All points as one long table, then the other tables."""
    if result.panels:
        header = ("panel", "series", "x", "value", "low", "high")
        rows = tuple(
            (
                panel.title,
                line.name,
                _x(panel, p.x),
                repr(p.y),
                repr(p.low),
                repr(p.high),
            )
            for panel in result.panels
            for line in panel.lines
            for p in line.points
        )
        yield Listing("points", header, rows)
    yield from result.listings


def _x(panel: Panel, x: float) -> str:
    return panel.x_names[int(x)] if panel.x_names else f"{x:g}"


def markdown(result: Result) -> Iterator[str]:
    """The result as a page of its own."""
    yield f"# {result.title}\n"
    yield f"`python -m experiments {result.name}`. {result.source} {result.spread}\n"
    for finding in result.findings:
        yield f"**{finding.claim}: {finding.verdict}.** {finding.ours}\n"
    for note in result.notes:
        yield f"{note}\n"
    if result.panels:
        yield f"![{result.title}]({result.name}.svg)\n"
    for panel in result.panels:
        yield from _table(_panel_listing(panel))
    for listing in result.listings:
        yield from _table(listing)


def _panel_listing(panel: Panel) -> Listing:
    xs = sorted({p.x for line in panel.lines for p in line.points})
    rows = tuple(
        (
            _x(panel, x),
            *(
                next((str(p) for p in line.points if p.x == x), "–")
                for line in panel.lines
            ),
        )
        for x in xs
    )
    header = (panel.x, *(line.name for line in panel.lines))
    return Listing(f"{panel.title}: {panel.y}", header, rows)


def _table(listing: Listing) -> Iterator[str]:
    yield f"## {listing.title}\n"
    yield _row(listing.header)
    yield "|" + "---|" * len(listing.header)
    yield from map(_row, listing.rows)
    yield ""


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
