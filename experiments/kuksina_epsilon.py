"""Figures 8.15 and 8.16 of Kuksina 2023, and the depth of the tree.

NCP of DP-anonym over k, ε and depth; ε is that of the whole tree or, as the thesis
counts it, that of each level. Then the whole tree costs depth × ε.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import pyarrow as pa

from experiments.kuksina_studies import (
    CLASSIC,
    STUDIES,
    Study,
    peer,
    private,
    released,
)
from experiments.results import (
    Finding,
    Line,
    Panel,
    Point,
    Result,
    Scale,
    Verdict,
    averaged,
    below,
    exact,
    judged,
)

DEPTH = 12
SPREAD = "Bands: 95 % interval of the mean over runs."
LARGE = STUDIES[:2]


def run(scale: Scale, name: str) -> Result:
    """One of the figures, or the effect of depth."""
    found: Mapping[str, Callable[[Scale, str], Result]] = {
        "kuksina-figure-8.15": against_k,
        "kuksina-figure-8.16": against_epsilon,
        "kuksina-depth": against_depth,
    }
    return found[name](scale, name)


def loss(
    study: Study,
    source: pa.Table,
    k: int,
    epsilon: float,
    depth: int,
    *,
    per_level: bool,
    hierarchies: bool = True,
) -> float:
    """NCP of one run."""
    asked = private(epsilon, depth, per_level=per_level, hierarchies=hierarchies)
    return float(released(study, source, asked, k).utility["ncp"])


def against_k(scale: Scale, name: str) -> Result:
    """Figure 8.15: NCP against k at ε = 0.1 and 1."""
    ks = scale.of((2, 10, 100), (5, 50))
    runs, rows = scale.of((2, 5000), (2, 800))
    panels, sizes = [], []
    for study in LARGE:
        source = study.source(rows)
        sizes.append(f"{study.name}, {source.num_rows:,} rows")
        lines = tuple(
            Line(
                f"ε = {e:g} {word}", tuple(_repeated(study, source, ks, e, level, runs))
            )
            for level, word in ((False, "in all"), (True, "a level"))
            for e in (0.1, 1.0)
        )
        panels.append(
            Panel(title=study.name, x="k", y="NCP, mean per cell", lines=lines)
        )
    return Result(
        name=name,
        title="Kuksina 2023, figure 8.15: NCP against k for the ends of ε",
        source=f"{'; '.join(sizes)}; depth {DEPTH}, {runs} runs.",
        spread=SPREAD,
        panels=tuple(panels),
        findings=(_ends(panels),),
    )


def _repeated(
    study: Study,
    source: pa.Table,
    ks: Sequence[int],
    epsilon: float,
    per_level: bool,
    runs: int,
) -> Iterator[Point]:
    for k in ks:
        values = [
            loss(study, source, k, epsilon, DEPTH, per_level=per_level)
            for _ in range(runs)
        ]
        yield averaged(k, values)


def _ends(panels: Sequence[Panel]) -> Finding:
    grows = [line.points[-1].y > line.points[0].y for p in panels for line in p.lines]
    lower, told = [], []
    for panel in panels:
        for word in ("in all", "a level"):
            low, high = panel.line(f"ε = 0.1 {word}"), panel.line(f"ε = 1 {word}")
            pairs = list(zip(high.points, low.points, strict=True))
            lower += [h.y < l.y for h, l in pairs]
            apart = sum(below(h, l) for h, l in pairs)
            told.append(
                f"{panel.title}, ε {word}: {low.points[0].y:.2f} → "
                f"{high.points[0].y:.2f} at "
                f"k = {low.points[0].x:g}, apart beyond intervals at {apart} of "
                f"{len(pairs)} k"
            )
    return Finding(
        "kuksina figure 8.15",
        judged([all(grows), sum(lower) >= 0.9 * len(lower)]),
        f"Grows with k in {sum(grows)} of {len(grows)} curves; lower at ε = 1 in "
        f"{sum(lower)} of {len(lower)} pairs. {'; '.join(told)}.",
    )


def against_epsilon(scale: Scale, name: str) -> Result:
    """Figure 8.16: NCP, averaged over k, against ε; beside the peers."""
    epsilons = scale.of((0.1, 0.3, 1.0), (0.1, 1.0))
    ks, rows = scale.of(((2, 100), 5000), ((5, 50), 800))
    runs = scale.of(2, 1)
    panels, sizes = [], []
    for study in LARGE:
        source = study.source(rows)
        sizes.append(f"{study.name}, {source.num_rows:,} rows")
        peers = {
            n: _mean_peer(study, source, n, ks)
            for n in ("datafly", CLASSIC, "top-down")
        }
        lines = [
            Line(
                f"ε {word}",
                tuple(
                    averaged(e, list(_over_k(study, source, ks, e, level, runs)))
                    for e in epsilons
                ),
            )
            for level, word in ((False, "in all"), (True, "a level"))
        ]
        lines += [
            Line(n, tuple(exact(e, v) for e in epsilons)) for n, v in peers.items()
        ]
        panels.append(
            Panel(
                title=study.name,
                x="ε",
                y="NCP, mean over k",
                lines=tuple(lines),
            )
        )
    return Result(
        name=name,
        title="Kuksina 2023, figure 8.16: NCP against ε, mean over k",
        source=f"{'; '.join(sizes)}; k = {', '.join(map(str, ks))}; depth {DEPTH}.",
        spread=f"Bands: 95 % interval of the mean over {runs} runs, each a mean over k.",
        panels=tuple(panels),
        findings=tuple(_epsilon_findings(panels)),
    )


def _over_k(
    study: Study,
    source: pa.Table,
    ks: Sequence[int],
    epsilon: float,
    per_level: bool,
    runs: int,
) -> Iterator[float]:
    for _ in range(runs):
        values = [
            loss(study, source, k, epsilon, DEPTH, per_level=per_level) for k in ks
        ]
        yield sum(values) / len(values)


def _mean_peer(study: Study, source: pa.Table, name: str, ks: Sequence[int]) -> float:
    values = [float(released(study, source, peer(name), k).utility["ncp"]) for k in ks]
    return sum(values) / len(values)


def _epsilon_findings(panels: Sequence[Panel]) -> Iterator[Finding]:
    ends = {
        (panel.title, word): (
            panel.line(f"ε {word}").points[0].y,
            panel.line(f"ε {word}").points[-1].y,
        )
        for panel in panels
        for word in ("in all", "a level")
    }
    told = "; ".join(
        f"{title}, ε {word}: {a:.3f} → {b:.3f}"
        for (title, word), (a, b) in ends.items()
    )
    yield Finding(
        "kuksina figure 8.16",
        judged([b < a for a, b in ends.values()]),
        f"NCP from the lowest to the highest ε. {told}.",
    )
    against = {
        (panel.title, name): panel.line(name).points[0].y
        for panel in panels
        for name in ("datafly", CLASSIC, "top-down")
    }
    best = {panel.title: panel.line("ε a level").points[-1].y for panel in panels}
    peers = ", ".join(f"{n} {v:.3f} ({t})" for (t, n), v in against.items())
    wins = [best[t] < v for (t, _), v in against.items()]
    yield Finding(
        "kuksina abstract, utility",
        judged(wins),
        f"At its largest ε, a level, dp-anonym has NCP "
        f"{', '.join(f'{v:.3f} ({t})' for t, v in best.items())}; peers: {peers}.",
    )
    several = [
        against[panel.title, "datafly"] / panel.line("ε a level").points[-1].y >= 2
        for panel in panels
    ]
    ratios = ", ".join(
        f"{against[p.title, 'datafly'] / p.line('ε a level').points[-1].y:.1f} ({p.title})"
        for p in panels
    )
    yield Finding(
        "kuksina conclusion, Datafly",
        judged(several),
        f"Datafly's NCP is {ratios} times that of dp-anonym at its largest ε a level.",
    )


def against_depth(scale: Scale, name: str) -> Result:
    """NCP over depth, for ε of the whole tree and of each level; Adult, k = 10."""
    depths = scale.of((4, 7, 10, 12, 14), (4, 8))
    runs, rows = scale.of((2, 10_000), (2, 800))
    study, k = STUDIES[0], 10
    source = study.source(rows)
    cases = {
        "ε = 0.5 in all": (0.5, False, True),
        "ε = 0.5 a level": (0.5, True, True),
        "ε = 0.5 a level, no hierarchies": (0.5, True, False),
        "ε = 10 a level": (10.0, True, True),
    }
    lines = [
        Line(
            title,
            tuple(
                averaged(
                    d,
                    [
                        loss(study, source, k, e, d, per_level=level, hierarchies=trees)
                        for _ in range(runs)
                    ],
                )
                for d in depths
            ),
        )
        for title, (e, level, trees) in cases.items()
    ]
    for other in ("datafly", CLASSIC, "top-down"):
        value = float(released(study, source, peer(other), k).utility["ncp"])
        lines.append(Line(other, tuple(exact(d, value) for d in depths)))
    panel = Panel(
        title=f"Adult, k = {k}", x="depth", y="NCP, mean per cell", lines=tuple(lines)
    )
    return Result(
        name=name,
        title="Kuksina 2023: how much of DP-anonym's loss is depth, and how much is noise",
        source=f"Adult, {source.num_rows:,} rows; {runs} runs; no sampling.",
        spread=SPREAD,
        panels=(panel,),
        findings=tuple(_depth_findings(panel)),
        notes=(
            "Depth 14 has 16,384 cells, more than the table has rows here: deeper trees "
            "cut nothing more that k = 10 leaves, so that this is the recursion without "
            "a bound. A tree of depth d costs d times the ε of a level: at depth 14, ε = "
            "0.5 a level is ε = 7.",
        ),
    )


def _depth_findings(panel: Panel) -> Iterator[Finding]:
    deep = {line.name: line.points[-1] for line in panel.lines}
    depth = panel.lines[0].points[-1].x
    told = ", ".join(f"{name} {p.y:.3f}" for name, p in deep.items())
    yield Finding(
        "kuksina conclusion, peers",
        judged([deep["ε = 0.5 a level"].y <= 1.25 * deep[CLASSIC].y]),
        f"NCP at depth {depth:g}: {told}. Even with hardly any noise (ε = 10 a level) the "
        "tree loses more, because it chooses attributes and cuts from declared domains and "
        "counts alone and may not look whether a cell can be cut.",
    )
    yield Finding(
        "kuksina abstract, guarantee",
        Verdict.FAILS,
        "Each level spends ε of selection + ε of counts again, so that a tree of depth d "
        f"costs d times the printed figure (ε = 0.5 printed is {0.5 * depth:g} at depth "
        f"{depth:g}), and only the cuts are covered: sizes and sensitive values of the "
        "cells "
        "come straight from the data. `sfumato` charges the true cost and says what it "
        "covers.",
    )
    free = deep["ε = 0.5 a level, no hierarchies"]
    yield Finding(
        "kuksina conclusion, hierarchies",
        Verdict.HOLDS,
        f"Both run; without hierarchies NCP is {free.y:.3f} instead of "
        f"{deep['ε = 0.5 a level'].y:.3f}.",
    )
