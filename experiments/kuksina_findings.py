"""What figures 8.11 to 8.14 of Kuksina 2023 say about the claims made of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from experiments.kuksina_studies import (
    BASIC,
    CLASSIC,
    IN_ALL,
    PER_LEVEL,
    TEXT,
)
from experiments.results import Finding, Line, Panel, Verdict, judged

SIMILAR = 1.25
"""Figures within this factor are called similar."""
STEADY = 1.1
"""Figures that differ by at most this factor are called constant."""
LEAP = 0.1
"""A step of k by 1 that raises a figure by this share is called a leap."""
LEADING = (CLASSIC, "top-down")
READINGS = (IN_ALL, PER_LEVEL, TEXT)


def findings(figure: str, panels: Sequence[Panel]) -> Iterator[Finding]:
    """The findings of one figure; four panels a study."""
    if figure == "8.11":
        yield _datafly(panels)
    elif figure == "8.12":
        yield _similar("kuksina figure 8.12", "Adult", panels)
        yield _compatible(panels)
    elif figure == "8.13":
        yield _ahead(panels[2])
    else:
        yield _small_tables(panels)


def _common(left: Line, right: Line) -> list[tuple[float, float]]:
    """The values of both at every x that both have."""
    values = {p.x: p.y for p in right.points}
    return [(p.y, values[p.x]) for p in left.points if p.x in values]


def _against(panel: Panel, name: str, rival: str) -> list[float]:
    """How many times a peer's figure a series has, over k."""
    pairs = _common(panel.line(name), panel.line(rival))
    return [mine / max(theirs, 1e-9) for mine, theirs in pairs]


def _datafly(panels: Sequence[Panel]) -> Finding:
    highest = [
        all(
            mine >= theirs
            for line in panel.lines
            for mine, theirs in _common(panel.line("datafly"), line)
        )
        for panel in panels[:3]
    ]
    size, average, loss = (panel.line("datafly").points for panel in panels[:3])
    constant = [
        max(p.y for p in points) <= STEADY * min(p.y for p in points)
        for points in (size, loss)
    ]
    return Finding(
        "kuksina figure 8.11",
        judged([*highest, *constant]),
        f"Highest at every k by {sum(highest)} of 3 measures. From k = {loss[0].x:g} to "
        f"{loss[-1].x:g}, DM goes from {size[0].y:.3g} to {size[-1].y:.3g}, NCP from "
        f"{loss[0].y:.2f} to {loss[-1].y:.2f}, C_AVG from {average[0].y:.0f} to "
        f"{average[-1].y:.0f}.",
    )


def _told(panel: Panel) -> str:
    """The range over k of each reading, in times classic Mondrian's and top-down's."""
    parts = []
    for name in READINGS:
        ranges = [_against(panel, name, rival) for rival in LEADING]
        shown = " and ".join(f"{min(r):.1f}–{max(r):.1f}" for r in ranges)
        parts.append(f"{name} {shown}")
    return "; ".join(parts)


def _similar(claim: str, where: str, panels: Sequence[Panel]) -> Finding:
    """Within a quarter of classic Mondrian and top-down, by all three measures."""
    met = [
        max(_against(panel, name, rival)) <= SIMILAR
        for panel in panels[:3]
        for name in READINGS
        for rival in LEADING
    ]
    better = all(
        mine < theirs
        for mine, theirs in _common(panels[2].line(TEXT), panels[2].line("top-down"))
    )
    return Finding(
        claim,
        judged([*met, better]),
        f"How many times the figure of classic Mondrian, and of top-down, from the lowest "
        f"to the highest over k, on {where}. DM: {_told(panels[0])}. C_AVG: "
        f"{_told(panels[1])}. NCP: {_told(panels[2])}.",
    )


def _compatible(panels: Sequence[Panel]) -> Finding:
    """By which measures the readings are within a quarter of the two peers, over k."""
    near = {
        panel.title.partition(": ")[2]: [
            times <= SIMILAR
            for name in READINGS
            for rival in LEADING
            for times in _against(panel, name, rival)
        ]
        for panel in panels[:3]
    }
    told = ", ".join(f"{sum(met)} of {len(met)} by {m}" for m, met in near.items())
    return Finding(
        "kuksina conclusion, peers",
        judged([met for each in near.values() for met in each]),
        f"Within a quarter of the figure of classic Mondrian or top-down: {told} (three "
        "readings of DP-anonym, two peers, each k). What depth and noise have to do with "
        "it: `kuksina-depth`.",
    )


def in_words(printed: Sequence[bool], exchanged: Sequence[bool]) -> Verdict:
    """The verdict as printed; in part at best if it needs two words exchanged."""
    return judged(printed) if all(printed) else judged([False, *printed, *exchanged])


def _ahead(loss: Panel) -> Finding:
    ahead = {
        name: [
            mine < theirs
            for other in LEADING
            for mine, theirs in _common(loss.line(name), loss.line(other))
        ]
        for name in READINGS
    }
    pairs = _common(loss.line(CLASSIC), loss.line(BASIC))
    classic = [a < b for a, b in pairs]
    told = ", ".join(
        f"{name} at {sum(won)} of {len(won)}" for name, won in ahead.items()
    )
    return Finding(
        "kuksina figure 8.13",
        in_words(
            [*(all(won) for won in ahead.values()), all(classic)], [not any(classic)]
        ),
        f"NCP below classic Mondrian's and top-down's (pairs of k and peer): {told}. "
        f"Classic Mondrian (with hierarchies) is below basic at {sum(classic)} of "
        f"{len(classic)} k; with the two words exchanged, as the library uses them, at "
        f"{len(classic) - sum(classic)}. How many times the NCP of the two peers, from the "
        f"lowest to the highest over k: {_told(loss)}.",
    )


def _small_tables(panels: Sequence[Panel]) -> Finding:
    losses = (panels[2], panels[6])
    met = [
        times <= SIMILAR
        for loss in losses
        for name in READINGS
        for rival in LEADING
        for times in _against(loss, name, rival)
    ]
    told = " ".join(
        f"{loss.title.partition(':')[0]}: {_told(loss)}." for loss in losses
    )
    return Finding(
        "kuksina figure 8.14",
        judged(met),
        f"At most {SIMILAR} times the NCP of classic Mondrian or top-down at {sum(met)} of "
        f"{len(met)} combinations of table, k, reading and peer. How many times the NCP of "
        f"classic Mondrian, and of top-down, from the lowest to the highest over k. {told}",
    )
