"""Where the points of a comparison lie; the template draws them, without a script.

A chart repeats what the table beside it says. Its points are links to the rows of that
table, so that a keyboard reaches every one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sfumato.report.number_text import amount, percent

WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 24, 16, 56
DIAL_HEIGHT = 320
SHAPES = (
    "M0-7A7 7 0 1 1 0 7A7 7 0 1 1 0-7z",
    "M-6-6H6V6H-6z",
    "M0-8.5L8.5 0L0 8.5L-8.5 0z",
    "M0-8L8 6H-8z",
    "M0 8L8-6H-8z",
    "M-2.5-8H2.5V-2.5H8V2.5H2.5V8H-2.5V2.5H-8V-2.5H-2.5z",
)
"""One shape for each algorithm: color alone says nothing."""
MARGIN = 0.06
"""How far an axis goes on beyond its values."""


@dataclass(frozen=True)
class Scale:
    """A way from values to places along an axis."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...] = ()

    def at(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)


@dataclass(frozen=True)
class ScatterPoint:
    """A candidate in the chart."""

    number: int
    x: float
    y: float
    style: int
    outline: str
    label: str
    front: bool
    accepted: bool
    weaker: bool
    """Whether it asks for less than the policy."""


@dataclass(frozen=True, kw_only=True)
class ScatterChart:
    """The chart of a comparison, ready to be drawn."""

    x_title: str
    y_title: str
    x_ticks: Sequence[tuple[float, str]]
    y_ticks: Sequence[tuple[float, str]]
    points: Sequence[ScatterPoint]
    front: str
    shades: Sequence[tuple[float, float, float, float]] = ()
    """Where limits forbid: x, y, width, height."""
    shapes: Mapping[str, str] = field(default_factory=dict)
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM


def style_of(place: int) -> tuple[int, str]:
    """The color and the shape of the algorithm at a place."""
    shape = SHAPES[(place + place // len(SHAPES)) % len(SHAPES)]
    return place % len(SHAPES), shape


def scatter_chart(record: Mapping[str, Any]) -> ScatterChart | None:
    """Candidates by loss (to the right) and risk (up); None if none has both."""
    risk, utility = record["risk"], record["utility"]
    known = [
        each
        for each in record["candidates"]
        if None not in (_value(each, risk), _value(each, utility))
    ]
    if not known:
        return None
    limits = record["accept"]
    x = _scale([*_values(known, utility, limits)], LEFT, WIDTH - RIGHT)
    y = _scale([*_values(known, risk, limits)], HEIGHT - BOTTOM, TOP)
    algorithms = list(dict.fromkeys(e["algorithm"] for e in record["candidates"]))
    styles = {name: style_of(place) for place, name in enumerate(algorithms)}
    titles = {name: each["title"] for name, each in record["figures"].items()}
    points = [_point(e, record, (x, y), styles[e["algorithm"]]) for e in known]
    return ScatterChart(
        x_title=titles[utility],
        y_title=titles[risk],
        x_ticks=[(x.at(tick), _text(record, utility, tick)) for tick in x.ticks],
        y_ticks=[(y.at(tick), _text(record, risk, tick)) for tick in y.ticks],
        points=points,
        front=_front([p for p in points if p.front]),
        shades=_shades(record, x, y),
        shapes={name: shape for name, (_, shape) in styles.items()},
    )


def _value(each: Mapping[str, Any], name: str) -> float | None:
    found: float | None = each.get("figures", {}).get(name)
    return found


def _values(
    known: Sequence[Mapping[str, Any]], name: str, limits: Mapping[str, float]
) -> list[float]:
    found = [float(each["figures"][name]) for each in known]
    return [*found, *([limits[name]] if name in limits else [])]


def _scale(values: Sequence[float], start: float, end: float) -> Scale:
    """A linear scale over values, with at most seven round ticks; 0 if it is near."""
    low, high = min(values), max(values)
    if 0 <= low <= 0.5 * high:
        low = 0.0
    span = (high - low) or abs(high) or 1.0
    low, high = low - (MARGIN * span if low else 0.0), high + MARGIN * span
    return Scale(low, high, start, end, tuple(_ticks(low, high)))


def _ticks(low: float, high: float) -> list[float]:
    step = 10.0 ** math.floor(math.log10((high - low) / 2))
    step = next(
        s for s in (step, 2 * step, 5 * step, 10 * step) if (high - low) / s < 7
    )
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(place * step, 12) for place in range(first, last + 1)]


def _text(record: Mapping[str, Any], name: str, value: float) -> str:
    if not record["figures"][name]["share"]:
        return amount(value)
    return f"{100 * value:.4g}%"


def _point(
    each: Mapping[str, Any],
    record: Mapping[str, Any],
    scales: tuple[Scale, Scale],
    style: tuple[int, str],
) -> ScatterPoint:
    risk, utility = each["figures"][record["risk"]], each["figures"][record["utility"]]
    x, y = scales
    said = [
        f"{record['figures'][name]['title']} {_figure(record, name, value)}"
        for name, value in ((record["risk"], risk), (record["utility"], utility))
    ]
    below = each.get("below_text")
    place = ", on the front" if each["on_front"] else f", {below}" if below else ""
    return ScatterPoint(
        number=each["number"],
        x=round(x.at(utility), 1),
        y=round(y.at(risk), 1),
        style=style[0],
        outline=style[1],
        label=f"Candidate {each['number']}, {each['name']}: {'; '.join(said)}{place}",
        front=each["on_front"],
        accepted=each["accepted"],
        weaker=bool(below),
    )


def _figure(record: Mapping[str, Any], name: str, value: float) -> str:
    return percent(value) if record["figures"][name]["share"] else amount(value)


def _front(points: Sequence[ScatterPoint]) -> str:
    """The front as a line through its points, from left to right."""
    ordered = sorted(points, key=lambda each: (each.x, -each.y))
    return "M" + "L".join(f"{each.x:.1f} {each.y:.1f}" for each in ordered)


def _shades(
    record: Mapping[str, Any], x: Scale, y: Scale
) -> list[tuple[float, float, float, float]]:
    """The areas beyond the limits of the two axes."""
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    shades: list[tuple[float, float, float, float]] = []
    for name, scale, upright in (
        (record["utility"], x, True),
        (record["risk"], y, False),
    ):
        if name not in record["accept"]:
            continue
        place = scale.at(record["accept"][name])
        low, high = sorted((scale.start, scale.end))
        more = record["figures"][name]["more_is_better"]
        # Along x the worse side is to the right; along y, whose places go down, above.
        beyond = (place, high) if upright != more else (low, place)
        size = round(max(beyond[1] - beyond[0], 0.0), 1)
        if upright:
            shades.append((round(beyond[0], 1), TOP, size, bottom - TOP))
        else:
            shades.append((LEFT, round(beyond[0], 1), right - LEFT, size))
    return shades


@dataclass(frozen=True)
class DialLine:
    """One figure over the weight of utility, with an axis of its own."""

    name: str
    path: str
    points: Sequence[tuple[float, float, str]]
    """Places with their texts."""
    ticks: Sequence[tuple[float, str]]


@dataclass(frozen=True, kw_only=True)
class DialChart:
    """Two lines over the weight of utility: what is lost, and what is exposed."""

    name: str
    x_ticks: Sequence[tuple[float, str]]
    loss: DialLine
    """Its axis is on the left."""
    exposure: DialLine
    """Its axis is on the right."""
    presets: Sequence[tuple[float, str]]
    width: int = WIDTH
    height: int = DIAL_HEIGHT
    left: int = LEFT
    right: int = WIDTH - LEFT
    top: int = TOP + 16
    bottom: int = DIAL_HEIGHT - BOTTOM


def dial_chart(sweep: Mapping[str, Any], place: int) -> DialChart:
    """Draw a sweep as figure 18 of Loukides and Shao 2008 does."""
    points = sweep["points"]
    x = Scale(0.0, 1.0, LEFT + 16, WIDTH - LEFT - 16)
    return DialChart(
        name=f"dial-{place}",
        x_ticks=[(x.at(w / 10), f"{w / 10:g}") for w in range(0, 11, 2)],
        loss=_line("q_diversity", points, x),
        exposure=_line("s_diversity", points, x),
        presets=[
            (x.at(p["utility_weight"]), p["preset"]) for p in points if "preset" in p
        ],
    )


def _line(name: str, points: Sequence[Mapping[str, Any]], x: Scale) -> DialLine:
    y = _scale([p[name] for p in points], DIAL_HEIGHT - BOTTOM, TOP + 16)
    places = [
        (
            round(x.at(p["utility_weight"]), 1),
            round(y.at(p[name]), 1),
            f"utility_weight {p['utility_weight']:g}: {name} {p[name]:.4f}",
        )
        for p in points
    ]
    return DialLine(
        name=name,
        path="M" + "L".join(f"{a} {b}" for a, b, _ in places),
        points=places,
        ticks=[(y.at(tick), amount(tick)) for tick in y.ticks],
    )
