"""Figures 6, 7, 10, 13 and 14 of Loukides and Shao 2008: UM, DM and protection over k."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from experiments.results import (
    Finding,
    Line,
    Panel,
    Point,
    Result,
    Scale,
    Verdict,
    judged,
    ranged,
)
from experiments.tgc_sources import (
    NO_LIMIT,
    SEEDS,
    Measured,
    adult,
    algorithms,
    drawn,
    largest,
    left_over,
    measured,
    normal,
    part,
    repeated,
)

NEAR = 1.15
"""Within this factor, two figures are called comparable."""
APART = 1.05
"""Beyond this factor, one of two protections is called poorer."""
MEASURES = {
    "utility": "UM: Q-diversity summed, mean over groups",
    "discernibility": "discernibility (DM)",
    "protection": "protection: S-diversity, mean over groups",
}
CUT = ", subspaces cut"


def run(scale: Scale, name: str) -> Result:
    """Adult, or the normal table."""
    table = normal() if name == "tgc-figure-13" else adult()
    ks = scale.of((5, 10, 50), (5, 25))
    size: tuple[int | None, tuple[int, ...]] = (None, SEEDS)
    rows, seeds = scale.of(size, (1000, SEEDS[:1]))
    asked = algorithms()
    asked |= {
        f"{n}{CUT}": a
        for n, a in algorithms(split_limit=NO_LIMIT).items()
        if "TGC" in n
    }
    found = {
        who: {k: [measured(a, part(table, rows, k, s)) for s in seeds] for k in ks}
        for who, a in asked.items()
    }
    panels = tuple(
        Panel(
            title=title.partition(":")[0],
            x="k",
            y=title,
            lines=tuple(
                Line(who, tuple(_point(k, by_k[k], measure) for k in ks))
                for who, by_k in found.items()
            ),
            log_y=measure == "discernibility",
        )
        for measure, title in MEASURES.items()
    )
    figures = "13 and 14" if table.name == "normal" else "6, 7 and 10"
    return Result(
        name=name,
        title=f"Loukides and Shao 2008, figures {figures}: quality against k",
        source=f"{drawn(table, rows)}; r = 1; lower is better.",
        spread=repeated(seeds),
        panels=panels,
        findings=tuple(_findings(table.name, panels, _why(found))),
    )


def _why(found: Mapping[str, Mapping[int, Sequence[Measured]]]) -> str:
    """What becomes of rows that no cluster keeps, where subspaces are cut and where not."""
    told = []
    for who, by_k in found.items():
        if who.startswith("TGC"):
            ends = [by_k[k] for k in (min(by_k), max(by_k))]
            rest = "/".join(f"{left_over(runs):.0%}" for runs in ends)
            share = "/".join(f"{largest(runs):.0%}" for runs in ends)
            told.append(f"{who} {rest} and {share}")
    return (
        "Rows of rejected clusters, which join the nearest group, and rows of the largest "
        f"group, as shares of the table: {'; '.join(told)}."
    )


def _point(k: int, runs: Sequence[Measured], measure: str) -> Point:
    return ranged(k, [float(getattr(each, measure)) for each in runs])


def _best(panel: Panel, name: str, x: float) -> float:
    """The lower one of both readings of δ′."""
    return min(panel.line(name).at(x).y, panel.line(f"{name}{CUT}").at(x).y)


def _told(panel: Panel) -> str:
    first, last = panel.lines[0].points[0].x, panel.lines[0].points[-1].x
    values = ", ".join(
        f"{line.name} {line.points[0].y:.3g}/{line.points[-1].y:.3g}"
        for line in panel.lines
    )
    return f"k = {first:g}/{last:g}: {values}."


def _findings(table: str, panels: Sequence[Panel], why: str) -> Iterator[Finding]:
    utility, size, protection = panels
    xs = [p.x for p in utility.lines[0].points]
    rivals = {n: utility.line(n) for n in ("Mondrian", "K-Members", "K-Members-p")}
    if table == "normal":
        near = [
            _best(utility, n, x) <= NEAR * rivals["K-Members"].at(x).y
            for n in ("TGCU", "TGCB")
            for x in xs
        ]
        yield Finding("tgc figure 13", judged(near), f"UM at {_told(utility)} {why}")
        yield Finding("tgc figure 14", _protects(protection, xs), _told(protection))
        return
    ahead = [_best(utility, "TGCB", x) < rivals["Mondrian"].at(x).y for x in xs]
    near = [_best(utility, "TGCB", x) <= NEAR * rivals["K-Members"].at(x).y for x in xs]
    poor = [
        min(_best(utility, "TGCP", x), rivals["K-Members-p"].at(x).y)
        > rivals["Mondrian"].at(x).y
        for x in xs
    ]
    parts = [all(ahead), all(near), all(poor)]
    yield Finding(
        "tgc figure 6",
        judged(parts),
        f"TGCB (the better of both readings of δ′) ahead of Mondrian at {sum(ahead)} of "
        f"{len(xs)} k, within 15 % of K-Members at {sum(near)}; TGCP and K-Members-p worst "
        f"at {sum(poor)}. UM at {_told(utility)}",
    )
    low = [
        _best(size, n, x) <= 2 * size.line("Mondrian").at(x).y
        for n in ("TGCU", "TGCB", "TGCP")
        for x in xs
    ]
    yield Finding("tgc figure 7", judged(low), f"DM at {_told(size)} {why}")
    yield Finding("tgc figure 10", _protects(protection, xs), _told(protection))
    yield _beats(utility, protection, xs)


def _beats(utility: Panel, protection: Panel, xs: Sequence[float]) -> Finding:
    """How often TGCU and TGCP beat those that optimize what they optimize."""
    pairs = (
        (utility, "TGCU", "Mondrian"),
        (utility, "TGCU", "K-Members"),
        (protection, "TGCP", "K-Members-p"),
    )
    won = {
        f"{mine} beats {rival} by {panel.title}": sum(
            _best(panel, mine, x) < panel.line(rival).at(x).y for x in xs
        )
        for panel, mine, rival in pairs
    }
    told = ", ".join(f"{who} at {count}" for who, count in won.items())
    return Finding(
        "tgc conclusion, own measures",
        judged([count > len(xs) / 2 for count in won.values()]),
        f"With the better of two readings of δ′, of {len(xs)} k: {told}. Both measures are "
        "means over groups, whatever their size.",
    )


def _protects(panel: Panel, xs: Sequence[float]) -> Verdict:
    """TGCP comparable to K-Members-p, TGCB near, the other three above both."""
    good = [
        _best(panel, n, x) <= NEAR * panel.line("K-Members-p").at(x).y
        for n in ("TGCP", "TGCB")
        for x in xs
    ]
    poor = [
        panel.line(n).at(x).y > APART * _best(panel, "TGCP", x)
        for n in ("Mondrian", "K-Members", "TGCU")
        for x in xs
    ]
    return judged([all(good), all(poor)])
