"""The report's own charts: plain SVG, each with a title and a description.

A chart repeats what a table beside it says; nothing is told by color alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.report.facts import ColumnFacts, SizeBin
from sfumato.report.markup import Child, Html, tag
from sfumato.report.number_text import amount, percent

WIDTH = 720
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 28, 46
PLOT_HEIGHT = 220
BAR_HEIGHT, BAR_GAP = 20, 12
LABEL_WIDTH, VALUE_WIDTH = 180, 64
LETTER_WIDTH = 7.5


def group_size_chart(bins: Sequence[SizeBin]) -> Html:
    """Bars: how many groups there are of each size."""
    tallest = max(each["groups"] for each in bins)
    ticks = _ticks(tallest)
    scale = PLOT_HEIGHT / ticks[-1]
    step = (WIDTH - LEFT - RIGHT) / len(bins)
    base = TOP + PLOT_HEIGHT
    return _figure(
        "group-sizes",
        "Group sizes",
        f"Bar chart of {len(bins)} size ranges, from {bins[0]['low']} to "
        f"{bins[-1]['high']} rows; the tallest bar counts {amount(tallest)} groups. "
        "The table below has every number.",
        base + BOTTOM,
        [_grid_line(tick, base - tick * scale) for tick in ticks],
        [
            _size_bar(each, LEFT + i * step, step, base, scale)
            for i, each in enumerate(bins)
        ],
        _size_labels(bins, step, base),
        tag(
            "text",
            "rows in a group",
            class_="axis",
            x=LEFT + (WIDTH - LEFT - RIGHT) / 2,
            y=base + 40,
            text_anchor="middle",
        ),
        tag("text", "groups", class_="axis", x=LEFT - 8, y=14, text_anchor="end"),
    )


def loss_chart(columns: Sequence[ColumnFacts]) -> Html:
    """Bars: how much each quasi-identifier lost."""
    length = WIDTH - LABEL_WIDTH - VALUE_WIDTH
    height = len(columns) * (BAR_HEIGHT + BAR_GAP) + 34
    return _figure(
        "column-loss",
        "Loss per column",
        f"Bar chart of the average penalty of {len(columns)} columns, from 0 to 100 "
        "percent. The table below has every number.",
        height,
        [_share_line(share, length, height - 26) for share in (0, 0.25, 0.5, 0.75, 1)],
        [
            _loss_bar(column, i * (BAR_HEIGHT + BAR_GAP) + 6, length)
            for i, column in enumerate(columns)
        ],
    )


def size_label(each: SizeBin) -> str:
    """ "5" or "10–14"."""
    low, high = each["low"], each["high"]
    return amount(low) if low == high else f"{amount(low)}–{amount(high)}"


def _figure(
    name: str, title: str, description: str, height: float, *parts: Child
) -> Html:
    return tag(
        "svg",
        tag("title", title, id=f"{name}-title"),
        tag("desc", description, id=f"{name}-desc"),
        *parts,
        viewBox=f"0 0 {WIDTH} {height:g}",
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
    )


def _size_bar(each: SizeBin, x: float, step: float, base: float, scale: float) -> Html:
    height = each["groups"] * scale
    gap = min(4.0, step * 0.15)
    hover = f"{size_label(each)} rows: {amount(each['groups'])} groups"
    return tag(
        "g",
        tag("title", hover),
        tag(
            "path",
            class_="bar",
            d=_rounded_up(x + gap / 2, base, step - gap, height),
        ),
    )


def _rounded_up(x: float, base: float, width: float, height: float) -> str:
    """A bar that stands on its base and is rounded at its end."""
    corner = min(3.0, height, width / 2)
    return (
        f"M{x:.1f} {base:.1f}v{-(height - corner):.1f}"
        f"q0 {-corner:.1f} {corner:.1f} {-corner:.1f}h{width - 2 * corner:.1f}"
        f"q{corner:.1f} 0 {corner:.1f} {corner:.1f}v{height - corner:.1f}z"
    )


def _size_labels(bins: Sequence[SizeBin], step: float, base: float) -> list[Html]:
    longest = max(len(size_label(each)) for each in bins) * LETTER_WIDTH + 8
    every = max(1, -int(-longest // step))
    return [
        tag(
            "text",
            size_label(each),
            x=f"{LEFT + (i + 0.5) * step:.1f}",
            y=base + 18,
            text_anchor="middle",
        )
        for i, each in enumerate(bins)
        if i % every == 0
    ]


def _grid_line(tick: int, y: float) -> Html:
    return tag(
        "g",
        tag(
            "line",
            class_="grid",
            x1=LEFT,
            x2=WIDTH - RIGHT,
            y1=f"{y:.1f}",
            y2=f"{y:.1f}",
        ),
        tag("text", amount(tick), x=LEFT - 8, y=f"{y + 4:.1f}", text_anchor="end"),
    )


def _share_line(share: float, length: float, bottom: float) -> Html:
    x = f"{LABEL_WIDTH + share * length:.1f}"
    return tag(
        "g",
        tag("line", class_="grid", x1=x, x2=x, y1=0, y2=bottom),
        tag("text", f"{share:.0%}", x=x, y=bottom + 18, text_anchor="middle"),
    )


def _loss_bar(column: ColumnFacts, y: float, length: float) -> Html:
    loss = min(max(column["ncp"], 0.0), 1.0)
    middle = y + BAR_HEIGHT / 2 + 4
    return tag(
        "g",
        tag("title", f"{column['name']}: {percent(column['ncp'])}"),
        tag(
            "text",
            _short(column["name"]),
            x=LABEL_WIDTH - 10,
            y=middle,
            text_anchor="end",
        ),
        tag(
            "rect",
            class_="bar",
            x=LABEL_WIDTH,
            y=y,
            width=f"{loss * length:.1f}",
            height=BAR_HEIGHT,
            rx=3,
        ),
        tag(
            "text",
            percent(column["ncp"]),
            class_="value",
            x=f"{LABEL_WIDTH + loss * length + 6:.1f}",
            y=middle,
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
