"""Draws a result as one SVG: a panel per pair of axes, spread as bands or whiskers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain
from math import ceil, floor, log10
from textwrap import wrap

from experiments.results import Line, Panel, Point, Result

WIDTH, ALONE, HEIGHT = 400, 600, 300
"""Of a panel beside another, of one alone, and of both."""
LEFT, RIGHT, TOP, BOTTOM = 70, 32, 34, 46
LETTER = 6.2
"""About how wide a letter is."""
LEGEND_LINE = 16
LEGEND_COLUMNS = 4
"""At most, however short the names are."""
FEW = 9
"""Up to so many places along x, the axis names those where something was measured."""
LOG_FACTORS = ((1,), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 8))
"""Powers of ten times these are named on a log axis; more of them on a short one."""
COLORS = (
    *("#0b5cad", "#c44601", "#2e7d32", "#7b1fa2", "#00838f"),
    *("#ad1457", "#5d4037", "#455a64", "#9e7700", "#37474f"),
)
MARKS = ("", "6 3", "2 3", "8 3 2 3", "1 2")
"""Dashes, so that no line is known by its color alone."""


@dataclass(frozen=True)
class Scaling:
    """Where values lie on an axis of so many pixels."""

    low: float
    high: float
    pixels: float
    log: bool
    whole: bool = False
    """Whether only whole numbers lie on the axis."""

    def at(self, value: float) -> float:
        """The pixel of a value."""
        low, high = self._place(self.low), self._place(self.high)
        share = (self._place(value) - low) / ((high - low) or 1.0)
        return min(max(share, -0.02), 1.02) * self.pixels

    def _place(self, value: float) -> float:
        return log10(max(value, 1e-12)) if self.log else value

    def ticks(self) -> list[float]:
        """Round numbers along the axis."""
        if self.log:
            choices = [self._tens(factors) for factors in LOG_FACTORS]
            return next((t for t in choices if len(t) > 3), choices[-1])
        step = _round_step((self.high - self.low) / 8)
        step = max(step, 1.0) if self.whole else step
        first = ceil(self.low / step - 1e-9)
        count = floor((self.high - self.low) / step + 1e-9) + 2
        found = [(first + i) * step for i in range(count)]
        return [t for t in found if t <= self.high + 1e-9 * step]

    def _tens(self, factors: Sequence[float]) -> list[float]:
        """Powers of ten on the axis, times each factor."""
        powers = range(floor(log10(self.low)), ceil(log10(self.high)) + 1)
        found = [10.0**power * factor for power in powers for factor in factors]
        return [t for t in found if self.low / 1.0001 <= t <= self.high * 1.0001]


def _round_step(rough: float) -> float:
    power = 10.0 ** floor(log10(rough)) if rough > 0 else 1.0
    return next((f * power for f in (1, 2, 5, 10) if f * power >= rough), 10 * power)


def svg(result: Result) -> str:
    """The figure of a result."""
    columns = min(len(result.panels), 2)
    wide = WIDTH if columns > 1 else ALONE
    width, shared = columns * wide, _shared(result.panels)
    heights = _row_heights(result.panels, columns, 0 if shared else wide)
    notes = [*_wrapped(result.source, width), *_wrapped(result.spread, width)]
    end = 26 + sum(heights)
    height = end + 10 + 15 * len(notes)
    body = chain.from_iterable(
        _placed(
            _panel(panel, wide, legend=not shared),
            i % columns * wide,
            26 + sum(heights[: i // columns]),
        )
        for i, panel in enumerate(result.panels)
    )
    if shared:
        height += LEGEND_LINE * _legend_rows(result.panels[0], width)
        body = chain(body, _placed(_legend(result.panels[0], width), 0, end))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" font-family="sans-serif" '
            'font-size="11" role="img">',
            f"<title>{escape(result.title)}</title>",
            f'<rect width="{width}" height="{height}" fill="#fff"/>',
            _text(12, 18, result.title, size=14, anchor="start"),
            *body,
            *(
                _text(12, height - 9 - 15 * i, note, anchor="start", color="#444")
                for i, note in enumerate(reversed(notes))
            ),
            "</svg>\n",
        ]
    )


def _wrapped(text: str, width: float) -> list[str]:
    """Lines of a text that never part a letter from its value."""
    return wrap(
        text.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"),
        int((width - 24) / LETTER),
    )


def _shared(panels: Sequence[Panel]) -> bool:
    """Whether all of several panels have the same series, and need one legend only."""
    names = {tuple(line.name for line in panel.lines) for panel in panels}
    return len(panels) > 1 and len(names) == 1


def _row_heights(panels: Sequence[Panel], columns: int, wide: int) -> list[int]:
    """The height of each row of panels, with legends where these have a width."""
    return [
        HEIGHT
        + LEGEND_LINE * max(_legend_rows(p, wide) for p in panels[i : i + columns])
        for i in range(0, len(panels), columns)
    ]


def _legend_rows(panel: Panel, wide: int) -> int:
    return ceil(len(panel.lines) / _legend_columns(panel, wide)) if wide else 0


def _legend_columns(panel: Panel, wide: int) -> int:
    """As many as the longest name leaves room for."""
    longest = max(len(line.name) for line in panel.lines)
    room = int((wide - 30) / (longest * LETTER + 40))
    return max(min(room, LEGEND_COLUMNS, len(panel.lines)), 1)


def _placed(parts: Iterator[str], left: float, top: float) -> Iterator[str]:
    yield f'<g transform="translate({left:g},{top:g})">'
    yield from parts
    yield "</g>"


def _panel(panel: Panel, wide: int, *, legend: bool) -> Iterator[str]:
    across, up = _scalings(panel, wide)
    room = len(panel.title) * LETTER * 12 / 11 < wide - 20
    middle = (LEFT + wide - RIGHT) / 2 if room else wide / 2
    yield _text(middle, 20, panel.title, size=12 if room else 10)
    yield f'<g transform="translate({LEFT},{TOP})">'
    yield from _grid(panel, across, up)
    for place, line in enumerate(panel.lines):
        yield from _series(panel, line, place, across, up)
    yield "</g>"
    if legend:
        yield from _placed(_legend(panel, wide), 0, HEIGHT)


def _scalings(panel: Panel, wide: int) -> tuple[Scaling, Scaling]:
    points = [point for line in panel.lines for point in line.points]
    lows, highs = [p.low for p in points], [p.high for p in points]
    low, high = min(lows), max(highs)
    if panel.log_y:
        low = max(low, min(p.y for p in points if p.y > 0) / 2)
        low, high = low / 1.1, high * 1.1
    else:
        room = (high - low or abs(high) or 1.0) * 0.06
        low = 0.0 if 0 <= low < 0.4 * high else low - room
        high += room
    xs = [p.x for p in points]
    first, last = min(xs), max(xs)
    if panel.x_names:
        first, last = -0.5, len(panel.x_names) - 0.5
    elif first == last:
        first, last = first - 0.5, last + 0.5
    width, height = wide - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    whole = all(float(x).is_integer() for x in xs)
    across = Scaling(first, last, width, panel.log_x, whole)
    return across, Scaling(low, high, height, panel.log_y)


def _grid(panel: Panel, across: Scaling, up: Scaling) -> Iterator[str]:
    width, height = across.pixels, up.pixels
    for tick in up.ticks():
        y = height - up.at(tick)
        yield f'<path d="M0 {y:.1f}H{width:.1f}" stroke="#ddd"/>'
        yield _text(-6, y + 4, _number(tick, 1e6), anchor="end")
    end = float("-inf")
    for x, name in _places(panel, across):
        half = len(name) * LETTER / 2
        yield f'<path d="M{across.at(x):.1f} {height:.1f}v4" stroke="#444"/>'
        if panel.x_names or across.at(x) - half > end + 4:
            yield _text(across.at(x), height + 16, name, size=_name_size(panel))
            end = across.at(x) + half
    yield f'<path d="M0 0V{height:.1f}H{width:.1f}" stroke="#444" fill="none"/>'
    yield _text(width / 2, height + 36, panel.x)
    yield (
        f'<text transform="translate(-58,{height / 2:.0f}) rotate(-90)" '
        f'text-anchor="middle" fill="#222">{escape(panel.y)}</text>'
    )


def _places(panel: Panel, across: Scaling) -> list[tuple[float, str]]:
    """What the x axis names: where something was measured, if that can be read."""
    if panel.x_names:
        return [(float(i), name) for i, name in enumerate(panel.x_names)]
    xs = sorted({p.x for line in panel.lines for p in line.points})
    short = all(x == float(f"{x:.6g}") for x in xs)
    shown = xs if short and len(xs) <= FEW else across.ticks()
    return [(x, _number(x)) for x in shown]


def _name_size(panel: Panel) -> int:
    return 8 if sum(map(len, panel.x_names)) > 55 else 11


def _series(
    panel: Panel, line: Line, place: int, across: Scaling, up: Scaling
) -> Iterator[str]:
    color = COLORS[place % len(COLORS)]
    shift = (place - (len(panel.lines) - 1) / 2) * 7 if panel.x_names else 0.0

    def spot(x: float, y: float) -> str:
        return f"{across.at(x) + shift:.1f},{up.pixels - up.at(y):.1f}"

    spread = [p for p in line.points if p.high > p.low]
    if panel.x_names:
        for p in spread:
            ends = f"M{spot(p.x, p.low)}L{spot(p.x, p.high)}"
            yield f'<path d="{ends}" stroke="{color}" stroke-width="1.5"/>'
    else:
        if spread:
            yield _band(line.points, spot, color)
        if line.joined:
            joined = " ".join(spot(p.x, p.y) for p in line.points)
            dash = MARKS[place % len(MARKS)]
            yield (
                f'<polyline points="{joined}" fill="none" stroke="{color}" '
                f'stroke-width="1.8" stroke-dasharray="{dash}"/>'
            )
    for p in line.points:
        x, y = spot(p.x, p.y).split(",")
        yield f'<circle cx="{x}" cy="{y}" r="2.6" fill="{color}"/>'


def _band(points: Sequence[Point], spot: object, color: str) -> str:
    assert callable(spot)
    there = [spot(p.x, p.high) for p in points]
    back = [spot(p.x, p.low) for p in reversed(points)]
    return (
        f'<polygon points="{" ".join([*there, *back])}" fill="{color}" opacity="0.16"/>'
    )


def _legend(panel: Panel, wide: int) -> Iterator[str]:
    columns = _legend_columns(panel, wide)
    for place, line in enumerate(panel.lines):
        x = LEFT - 40 + place % columns * (wide - LEFT + 30) / columns
        y = 6 + place // columns * LEGEND_LINE
        color, dash = COLORS[place % len(COLORS)], MARKS[place % len(MARKS)]
        if line.joined and not panel.x_names:
            yield (
                f'<path d="M{x:g} {y:g}h22" stroke="{color}" stroke-width="2" '
                f'stroke-dasharray="{dash}"/>'
            )
        yield f'<circle cx="{x + 11:g}" cy="{y:g}" r="2.6" fill="{color}"/>'
        yield _text(x + 27, y + 4, line.name, anchor="start")


def _text(
    x: float,
    y: float,
    text: str,
    *,
    anchor: str = "middle",
    size: int = 11,
    color: str = "#222",
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
        f'fill="{color}">{escape(text)}</text>'
    )


def _number(value: float, large: float = 1e7) -> str:
    """A number as a tick shows it; from `large` on as a power of ten."""
    if value and (abs(value) >= large or abs(value) < 1e-3):
        return (
            f"{value:.0e}".replace("e+0", "e").replace("e-0", "e−").replace("e+", "e")
        )
    return f"{value:,.10g}"
