"""Figures 8.15 and 8.16 of Kuksina 2023: NCP of DP-anonym against k and ε.

ε is that of the whole tree; or, as the thesis counts it, that of each level, and the whole
tree costs depth × ε; or that of each cell in the thesis's text, which is not private.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import pyarrow as pa

from experiments.kuksina_releases import as_written, measured_over
from experiments.kuksina_studies import (
    CLASSIC,
    DEPTH,
    DETERMINISTIC,
    STUDIES,
    Study,
    peer,
    private,
)
from experiments.kuksina_utility import rows_of, sourced
from experiments.results import (
    Finding,
    Line,
    Panel,
    Result,
    Scale,
    below,
    judged,
    ranged,
)

SPREAD = "Bands: lowest and highest run; lines: medians."
COUNTED = (
    "ε is that of the whole tree, of each level, or of the thesis's text (not private)."
)
LARGE = STUDIES[:2]
ENDS = (0.1, 1.0)
WORDS = ("in total", "per level", "in the text")
"""What ε is counted for."""
PEERS = ("datafly", CLASSIC, "top-down")


def run(scale: Scale, name: str) -> Result:
    """One of the two figures."""
    if name == "kuksina-figure-8.15":
        return against_k(scale, name)
    return against_epsilon(scale, name)


Sizes = tuple[tuple[int, ...], int, int | None]


def _sizes(scale: Scale) -> Sizes:
    """k, runs and rows: the same in both figures, which share their runs."""
    full: Sizes = ((2, 10, 30, 100), 5, None)
    return scale.of(full, ((5, 50), 1, 400))


@cache
def losses(
    place: int, epsilon: float, word: str, scale: Scale
) -> tuple[Mapping[int, float], ...]:
    """NCP by k, of so many runs."""
    ks, runs, rows = _sizes(scale)
    study, source = STUDIES[place], sourced(place, rows)
    asked = private(epsilon, DEPTH, per_level=word == "per level")
    if word == "in the text":
        asked = as_written(epsilon)
    made = [measured_over(study, source, asked, ks) for _ in range(runs)]
    return tuple({k: found["ncp"] for k, found in each.items()} for each in made)


def against_k(scale: Scale, name: str) -> Result:
    """Figure 8.15: NCP against k at ε = 0.1 and 1."""
    _, runs, rows = _sizes(scale)
    panels: list[Panel] = []
    sizes = []
    for place, study in enumerate(LARGE):
        sizes.append(rows_of(study, sourced(place, rows), rows))
        panels += [
            Panel(
                title=f"{study.name}, ε {word}",
                x="k",
                y="NCP, mean per cell",
                lines=tuple(_over_runs(place, e, word, scale) for e in ENDS),
                log_x=True,
            )
            for word in WORDS
        ]
    return Result(
        name=name,
        title="Kuksina 2023, figure 8.15: NCP against k for the ends of ε",
        source=f"{'; '.join(sizes)}; depth {DEPTH}, {runs} runs. {COUNTED}",
        spread=SPREAD,
        panels=tuple(panels),
        findings=(_ends(panels),),
    )


def _over_runs(place: int, epsilon: float, word: str, scale: Scale) -> Line:
    made = losses(place, epsilon, word, scale)
    points = tuple(ranged(k, [by_k[k] for by_k in made]) for k in made[0])
    return Line(f"ε = {epsilon:g}", points)


def _ends(panels: Sequence[Panel]) -> Finding:
    grows = [line.points[-1].y > line.points[0].y for p in panels for line in p.lines]
    lower, told = [], []
    for panel in panels:
        low, high = panel.lines
        pairs = list(zip(high.points, low.points, strict=True))
        lower.append(all(h.y < l.y for h, l in pairs))
        apart = sum(below(h, l) for h, l in pairs)
        told.append(
            f"{panel.title}: {low.points[0].y:.3f} → {high.points[0].y:.3f} at k = "
            f"{low.points[0].x:g}, {low.points[-1].y:.3f} → {high.points[-1].y:.3f} at "
            f"k = {low.points[-1].x:g}, ranges of the runs apart at {apart} of "
            f"{len(pairs)} k"
        )
    return Finding(
        "kuksina figure 8.15",
        judged([all(grows), *lower]),
        f"NCP grows with k in {sum(grows)} of {len(grows)} curves, and is lower at ε = 1 "
        f"at every k in {sum(lower)} of {len(lower)} pairs of curves (ε = 0.1 → 1). "
        f"{'; '.join(told)}.",
    )


def against_epsilon(scale: Scale, name: str) -> Result:
    """Figure 8.16: NCP, averaged over k, against ε; beside the peers."""
    epsilons = scale.of((0.1, 0.3, 1.0), (0.1, 1.0))
    ks, runs, rows = _sizes(scale)
    panels, sizes = [], []
    for place, study in enumerate(LARGE):
        source = sourced(place, rows)
        sizes.append(rows_of(study, source, rows))
        lines = [
            Line(
                f"ε {word}",
                tuple(ranged(e, _over_k(place, e, word, scale)) for e in epsilons),
            )
            for word in WORDS
        ]
        lines += [
            Line(n, tuple(ranged(e, values) for e in epsilons))
            for n in PEERS
            for values in [_mean_peer(study, source, n, ks, runs)]
        ]
        panels.append(
            Panel(
                title=study.name,
                x="ε",
                y="NCP, mean over k",
                lines=tuple(lines),
                log_x=True,
                log_y=True,
            )
        )
    return Result(
        name=name,
        title="Kuksina 2023, figure 8.16: NCP against ε, mean over k",
        source=f"{'; '.join(sizes)}; k = {', '.join(map(str, ks))}; depth "
        f"{DEPTH}. {COUNTED}",
        spread=f"Bands: lowest and highest of {runs} runs, each a mean over k.",
        panels=tuple(panels),
        findings=tuple(_epsilon_findings(panels)),
    )


def _over_k(place: int, epsilon: float, word: str, scale: Scale) -> list[float]:
    """For each run, its mean over k."""
    made = losses(place, epsilon, word, scale)
    return [sum(by_k.values()) / len(by_k) for by_k in made]


def _mean_peer(
    study: Study, source: pa.Table, name: str, ks: Sequence[int], runs: int
) -> list[float]:
    """For each run, its mean over k."""
    made = [
        measured_over(study, source, peer(name), ks)
        for _ in range(1 if name in DETERMINISTIC else runs)
    ]
    return [sum(found["ncp"] for found in by.values()) / len(by) for by in made]


def _epsilon_findings(panels: Sequence[Panel]) -> Iterator[Finding]:
    yield _improves(panels)
    best = {
        (panel.title, word): panel.line(f"ε {word}").points[-1].y
        for panel in panels
        for word in WORDS
    }
    rivals = {
        (panel.title, name): panel.line(name).points[0].y
        for panel in panels
        for name in PEERS
    }
    yield _more_utility(best, rivals)
    yield _times_datafly(best, rivals)


def _improves(panels: Sequence[Panel]) -> Finding:
    falls, told = [], []
    for panel in panels:
        for word in WORDS:
            line = panel.line(f"ε {word}")
            falls.append(line.points[-1].y < line.points[0].y)
            told.append(
                f"{panel.title}, ε {word}: {line.points[0].y:.3f} → "
                f"{line.points[-1].y:.3f}"
            )
    middle = panels[1].line("ε in the text")
    near = [p for p in middle.points if p.x >= 0.3]
    flat = abs(near[0].y - near[-1].y) < 0.05 * near[0].y
    return Finding(
        "kuksina figure 8.16",
        judged([*falls, flat]),
        f"NCP from the lowest to the highest ε. {'; '.join(told)}. From ε = "
        f"{near[0].x:g} on the text's changes on California housing by "
        f"{near[-1].y / near[0].y - 1:+.1%}.",
    )


Values = Mapping[tuple[str, str], float]


def _more_utility(best: Values, rivals: Values) -> Finding:
    wins = [
        mine < v
        for (t, _), mine in best.items()
        for (u, _), v in rivals.items()
        if t == u
    ]
    mine = ", ".join(f"{v:.3f} ({t}, ε {w})" for (t, w), v in best.items())
    peers = ", ".join(f"{n} {v:.3f} ({t})" for (t, n), v in rivals.items())
    return Finding(
        "kuksina abstract, utility",
        judged(wins),
        f"At ε = 1 DP-anonym has NCP {mine}; peers: {peers}.",
    )


def _times_datafly(best: Values, rivals: Values) -> Finding:
    ratios = {key: rivals[key[0], "datafly"] / value for key, value in best.items()}
    told = ", ".join(f"{r:.1f} ({t}, ε {w})" for (t, w), r in ratios.items())
    return Finding(
        "kuksina conclusion, Datafly",
        judged([ratio >= 2 for ratio in ratios.values()]),
        f"Datafly's NCP is {told} times that of DP-anonym at ε = 1.",
    )
