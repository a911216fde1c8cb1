"""The report's own charts as plain figures; the template `charts.html.jinja` draws them.

A chart repeats what the table below it says; no information is in color alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.report.facts import ColumnFacts, SizeBin
from sfumato.report.number_text import amount, percent

WIDTH = 720
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 28, 46
PLOT_HEIGHT = 220
BAR_HEIGHT, BAR_GAP = 20, 12
LABEL_WIDTH, VALUE_WIDTH = 180, 64
LETTER_WIDTH = 7.5


@dataclass(frozen=True)
class ChartText:
    """A text in a chart."""

    text: str
    x: str
    y: str
    anchor: str = ""
    """The point of the text that lies at x: "middle", "end", or its start."""
    style: str = ""


@dataclass(frozen=True)
class GridLine:
    """A line of the grid with its number."""

    x1: str
    x2: str
    y1: str
    y2: str
    label: ChartText


@dataclass(frozen=True)
class ChartBar:
    """A bar: its outline as an SVG path, its tooltip and its texts."""

    outline: str
    hover: str
    labels: tuple[ChartText, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A chart, ready to be drawn."""

    name: str
    title: str
    description: str
    height: float
    lines: Sequence[GridLine]
    bars: Sequence[ChartBar]
    labels: Sequence[ChartText] = ()
    width: int = WIDTH


def group_size_chart(bins: Sequence[SizeBin]) -> Chart:
    """Bars: how many groups there are of each size."""
    tallest = max(each["groups"] for each in bins)
    ticks = _ticks(tallest)
    scale = PLOT_HEIGHT / ticks[-1]
    step = (WIDTH - LEFT - RIGHT) / len(bins)
    base = TOP + PLOT_HEIGHT
    middle = LEFT + (WIDTH - LEFT - RIGHT) / 2
    return Chart(
        name="group-sizes",
        title="Group sizes",
        description=f"Bar chart of {len(bins)} size ranges, from {bins[0]['low']} to "
        f"{bins[-1]['high']} rows; the tallest bar counts {amount(tallest)} groups. "
        "The table below has every number.",
        height=base + BOTTOM,
        lines=[_grid_line(tick, base - tick * scale) for tick in ticks],
        bars=[
            _size_bar(each, LEFT + i * step, step, base, scale)
            for i, each in enumerate(bins)
        ],
        labels=[
            *_size_labels(bins, step, base),
            ChartText("rows in a group", _at(middle), _at(base + 40), "middle", "axis"),
            ChartText("groups", _at(LEFT - 8), _at(14), "end", "axis"),
        ],
    )


def loss_chart(columns: Sequence[ColumnFacts]) -> Chart:
    """Bars: how much each quasi-identifier lost."""
    length = WIDTH - LABEL_WIDTH - VALUE_WIDTH
    height = len(columns) * (BAR_HEIGHT + BAR_GAP) + 34
    return Chart(
        name="column-loss",
        title="Loss per column",
        description=f"Bar chart of the average penalty of {len(columns)} columns, from 0 "
        "to 100 percent. The table below has every number.",
        height=height,
        lines=[
            _share_line(share, length, height - 26) for share in (0, 0.25, 0.5, 0.75, 1)
        ],
        bars=[
            _loss_bar(column, i * (BAR_HEIGHT + BAR_GAP) + 6, length)
            for i, column in enumerate(columns)
        ],
    )


def size_label(each: SizeBin) -> str:
    """ "5" or "10–14"."""
    low, high = each["low"], each["high"]
    return amount(low) if low == high else f"{amount(low)}–{amount(high)}"


def _at(place: float) -> str:
    return f"{place:.1f}"


def _size_bar(
    each: SizeBin, x: float, step: float, base: float, scale: float
) -> ChartBar:
    gap = min(4.0, step * 0.15)
    return ChartBar(
        outline=_rounded_up(x + gap / 2, base, step - gap, each["groups"] * scale),
        hover=f"{size_label(each)} rows: {amount(each['groups'])} groups",
    )


def _rounded_up(x: float, base: float, width: float, height: float) -> str:
    """Draw a vertical bar with a rounded end."""
    corner = min(3.0, height, width / 2)
    return (
        f"M{x:.1f} {base:.1f}v{-(height - corner):.1f}"
        f"q0 {-corner:.1f} {corner:.1f} {-corner:.1f}h{width - 2 * corner:.1f}"
        f"q{corner:.1f} 0 {corner:.1f} {corner:.1f}v{height - corner:.1f}z"
    )


def _rounded_right(x: float, y: float, width: float, height: float) -> str:
    """Draw a horizontal bar that begins at x, with a rounded end."""
    corner = min(3.0, width, height / 2)
    return (
        f"M{x:.1f} {y:.1f}h{width - corner:.1f}"
        f"q{corner:.1f} 0 {corner:.1f} {corner:.1f}v{height - 2 * corner:.1f}"
        f"q0 {corner:.1f} {-corner:.1f} {corner:.1f}h{-(width - corner):.1f}z"
    )


def _size_labels(bins: Sequence[SizeBin], step: float, base: float) -> list[ChartText]:
    longest = max(len(size_label(each)) for each in bins) * LETTER_WIDTH + 8
    every = max(1, -int(-longest // step))
    return [
        ChartText(
            size_label(each), _at(LEFT + (i + 0.5) * step), _at(base + 18), "middle"
        )
        for i, each in enumerate(bins)
        if i % every == 0
    ]


def _grid_line(tick: int, y: float) -> GridLine:
    label = ChartText(amount(tick), _at(LEFT - 8), _at(y + 4), "end")
    return GridLine(_at(LEFT), _at(WIDTH - RIGHT), _at(y), _at(y), label)


def _share_line(share: float, length: float, bottom: float) -> GridLine:
    x = _at(LABEL_WIDTH + share * length)
    label = ChartText(f"{share:.0%}", x, _at(bottom + 18), "middle")
    return GridLine(x, x, "0", _at(bottom), label)


def _loss_bar(column: ColumnFacts, y: float, length: float) -> ChartBar:
    width = min(max(column["ncp"], 0.0), 1.0) * length
    middle = _at(y + BAR_HEIGHT / 2 + 4)
    name, value = _short(column["name"]), percent(column["ncp"])
    return ChartBar(
        outline=_rounded_right(LABEL_WIDTH, y, width, BAR_HEIGHT),
        hover=f"{column['name']}: {value}",
        labels=(
            ChartText(name, _at(LABEL_WIDTH - 10), middle, "end"),
            ChartText(value, _at(LABEL_WIDTH + width + 6), middle, style="value"),
        ),
    )


def _short(name: str) -> str:
    longest = int((LABEL_WIDTH - 14) / LETTER_WIDTH)
    return name if len(name) <= longest else name[: longest - 1] + "…"


def _ticks(highest: int) -> list[int]:
    """At most six whole ticks from 0 to at least `highest`."""
    step = 1
    factors = (2, 2.5, 2)
    turn = 0
    while step * 5 < highest:
        step = int(step * factors[turn % 3])
        turn += 1
    count = -(-highest // step)
    return [step * i for i in range(count + 1)]
