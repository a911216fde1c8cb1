"""Why basic Mondrian leaps: two ways to cut along hierarchies, on all of Adult.

Kuksina 2023, figure 8.12, sees basic Mondrian leap at k = 25, 52 and 80 and lose more
than classic. The library used there calls the one with hierarchies basic, and cuts a cell
into all children of a node at once: one small child forbids the whole cut. Sfumato's
`mondrian` cuts in two between children.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from experiments.kuksina_findings import LEAP, in_words
from experiments.kuksina_studies import (
    BASIC,
    CLASSIC,
    STUDIES,
    Study,
    peer,
    policy,
    released,
)
from experiments.results import Finding, Line, Panel, Point, Result, Scale, exact
from sfumato.data.grouping import Grouping
from sfumato.hierarchies.axis import CodedAxis
from sfumato.pipeline.code_table import coded_table, quasi_axes

Ints = npt.NDArray[np.int64]
MULTIWAY = "with hierarchies, all children at once"
NAMES = {BASIC: "without hierarchies", CLASSIC: "with hierarchies, in two"}
PRINTED = (25, 52, 80)
STEPS = (
    *(5, 10, 15, 20, 22, 24, 25, 26, 28, 30, 35, 36, 37, 38, 39, 40, 45),
    *(50, 51, 52, 53, 55, 60, 65, 70, 75, 79, 80, 81, 85, 90, 100),
)


def cells(quasi: Sequence[CodedAxis], k: int) -> Iterator[Ints]:
    """Cut each cell on its widest node whose children all have k rows or none."""
    waiting = [np.arange(len(quasi[0].codes))]
    while waiting:
        rows = waiting.pop()
        parts = next(_cuts(quasi, rows, k), None)
        if parts is None:
            yield rows
        else:
            waiting += parts


def _cuts(quasi: Sequence[CodedAxis], rows: Ints, k: int) -> Iterator[list[Ints]]:
    """The cuts that leave k rows in every part, on the widest node first."""
    nodes = []
    for place, coded in enumerate(quasi):
        codes = coded.codes[rows]
        levels = coded.axis.levels
        cover = int(np.argmax(levels[:, codes.min()] == levels[:, codes.max()]))
        width = float(coded.axis.node_ncp[levels[cover, codes[0]]])
        if cover:
            nodes.append((width, -place, levels[cover - 1, codes]))
    for _, _, children in sorted(nodes, key=lambda node: node[:2], reverse=True):
        order = np.argsort(children, kind="stable")
        edges = np.flatnonzero(np.diff(children[order])) + 1
        parts = np.split(rows[order], edges)
        if min(map(len, parts)) >= k:
            yield parts


def discernibility(quasi: Sequence[CodedAxis], k: int) -> tuple[float, float]:
    """DM and NCP of the multiway cuts."""
    group_of = np.zeros(len(quasi[0].codes), dtype=np.int32)
    for number, rows in enumerate(cells(quasi, k)):
        group_of[rows] = number
    grouping = Grouping.renumbered(group_of)
    sizes = grouping.sizes().astype(np.float64)
    loss = 0.0
    for coded in quasi:
        low = np.full(grouping.count, coded.axis.size, dtype=np.int64)
        high = np.full(grouping.count, -1, dtype=np.int64)
        np.minimum.at(low, grouping.group_of, coded.codes)
        np.maximum.at(high, grouping.group_of, coded.codes)
        loss += float(coded.axis.node_ncp[coded.axis.covering(low, high)] @ sizes)
    return float((sizes**2).sum()), loss / len(quasi) / len(group_of)


def run(scale: Scale, name: str) -> Result:
    """DM and NCP against k for three Mondrians."""
    ks = scale.of(STEPS, (10, 24, 25))
    study = STUDIES[0]
    source = study.source(scale.of(None, 2000))
    found = {
        NAMES[BASIC]: _ours(study, source, BASIC, ks),
        NAMES[CLASSIC]: _ours(study, source, CLASSIC, ks),
        MULTIWAY: _multiway(study, source, ks),
    }
    panels = tuple(
        Panel(
            title=title,
            x="k",
            y=title,
            lines=tuple(Line(who, points[place]) for who, points in found.items()),
            log_y=not place,
        )
        for place, title in enumerate(("discernibility (DM)", "NCP, mean per cell"))
    )
    return Result(
        name=name,
        title="Kuksina 2023, figure 8.12: where Mondrian leaps",
        source=f"Adult, {source.num_rows:,} rows.",
        spread="No spread: all three are deterministic.",
        panels=panels,
        findings=(_finding(panels),),
    )


Points = tuple[tuple[Point, ...], tuple[Point, ...]]


def _ours(study: Study, source: pa.Table, name: str, ks: Sequence[int]) -> Points:
    made = {k: released(study, source, peer(name), k).utility for k in ks}
    return (
        tuple(exact(k, float(each["discernibility"])) for k, each in made.items()),
        tuple(exact(k, float(each["ncp"])) for k, each in made.items()),
    )


def _multiway(study: Study, source: pa.Table, ks: Sequence[int]) -> Points:
    asked = policy(study, peer(CLASSIC), 2)
    quasi = quasi_axes(asked, coded_table(asked, source), None)
    made = {k: discernibility(quasi, k) for k in ks}
    return (
        tuple(exact(k, dm) for k, (dm, _) in made.items()),
        tuple(exact(k, loss) for k, (_, loss) in made.items()),
    )


def leaps(line: Line) -> dict[int, float]:
    """The k at which a figure is a tenth above the k before, at most 2 below it."""
    return {
        int(b.x): b.y / a.y - 1
        for a, b in pairwise(line.points)
        if b.x - a.x <= 2 and b.y > (1 + LEAP) * a.y
    }


def _finding(panels: Sequence[Panel]) -> Finding:
    size, loss = panels
    found = {line.name: leaps(line) for line in size.lines}
    told = "; ".join(
        f"{who}: " + (", ".join(f"{k} ({v:+.0%})" for k, v in at.items()) or "nowhere")
        for who, at in found.items()
    )
    without, in_two, at_once = loss.lines
    worse = {
        who: sum(b.y > a.y for a, b in zip(without.points, line.points, strict=True))
        for who, line in (("in two", in_two), ("all at once", at_once))
    }
    count = len(without.points)
    printed = [set(PRINTED) <= set(found[NAMES[BASIC]]), worse["in two"] == 0]
    exchanged = [set(PRINTED) <= set(found[MULTIWAY]), worse["all at once"] == count]
    return Finding(
        "kuksina figure 8.12, basic Mondrian",
        in_words(printed, exchanged),
        "By the thesis's words basic Mondrian is the one without hierarchies; it loses "
        f"least at {min(worse.values())} of {count} k. With the words exchanged, as the "
        f"library uses them, basic loses more at {worse['in two']} k (cut in two) and at "
        f"{worse['all at once']} k (all children at once, as the library cuts). k at which "
        f"DM leaps by a tenth or more: {told}.",
    )
