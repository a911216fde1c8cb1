"""A request as distinct tuples, with the values of each view and sorted rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import Request
from sfumato.algorithms.lattice import Lattice
from sfumato.data.rules import SUBJECT, Rule, RuleKind, View
from sfumato.kernels.chunks import build_chunks, tuples_of_rows
from sfumato.kernels.nodes import Rules, Runs
from sfumato.kernels.rules import rule_table

INHERITED = frozenset({RuleKind.SIZE, RuleKind.DISTINCT})

Codes = npt.NDArray[np.int32]


def build_lattice(
    request: Request, *, metric: str, rows: npt.NDArray[np.int64] | None = None
) -> Lattice:
    """Lay a request, or some of its rows, out for search over its lattice."""
    request = request if rows is None else request.only(rows)
    codes = [coded.codes for coded in request.quasi]
    levels = [coded.axis.levels for coded in request.quasi]
    extra = 0
    if request.population is not None:
        codes = [
            np.append(c, p) for c, p in zip(codes, request.population, strict=True)
        ]
        extra = len(request.population[0])
    chunks, layout = build_chunks(codes, levels, population=extra)
    views, values = view_codes(request)
    tuples = tuples_of_rows(layout, request.rows) if len(views) else np.zeros(0, int)
    return Lattice(
        request=request,
        metric=metric,
        chunks=chunks,
        layout=layout,
        runs=build_runs(tuples, values, len(chunks.counts)),
        rules=sorted_rules(request, views),
        heights=np.array([table.shape[0] for table in levels], dtype=np.int64),
        rows=request.rows,
    )


def build_runs(
    tuples: npt.NDArray[np.int64], values: Sequence[Codes], count: int
) -> Runs:
    """Count each value of each view in each tuple."""
    parts = [_run(tuples, codes, count) for codes in values]
    sizes = np.array([int(c.max(initial=-1)) + 1 for c in values], dtype=np.int64)
    offsets = np.cumsum([0, *(len(codes) for _, codes, _ in parts)])
    starts = [s + o for (s, _, _), o in zip(parts, offsets, strict=False)]
    return Runs(
        starts=np.array(starts, dtype=np.int64).reshape(len(parts), count + 1),
        codes=_joined(codes for _, codes, _ in parts),
        counts=_joined(counts for _, _, counts in parts),
        sizes=sizes,
    )


def _joined(parts: Iterable[npt.NDArray[np.integer]]) -> Codes:
    none = np.zeros(0, dtype=np.int32)
    return np.concatenate([none, *parts]).astype(np.int32)


def _run(
    tuples: npt.NDArray[np.int64], codes: Codes, count: int
) -> tuple[npt.NDArray[np.int64], Codes, Codes]:
    """Where each tuple's values start, the values and how often they occur."""
    size = int(codes.max(initial=-1)) + 1
    key = np.sort(tuples * size + codes)
    new = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1])))
    pairs = key[new]
    starts = np.searchsorted(pairs, np.arange(count + 1) * size)
    counts = np.diff(np.append(new, len(key)))
    return starts, (pairs % size).astype(np.int32), counts.astype(np.int32)


def sorted_rules(request: Request, views: Sequence[View]) -> Rules:
    """Sort rules by what a failing group means for the nodes below."""
    inherited: list[Rule] = []
    convex: list[Rule] = []
    other: list[Rule] = []
    names = tuple(request.sensitive)
    for model in request.models:
        for rule in model.rules(names, subjects=request.subject is not None):
            if rule.kind in INHERITED:
                inherited.append(rule)
            elif model.monotone_generalization:
                convex.append(rule)
            else:
                other.append(rule)
    return Rules(
        inherited=rule_table(inherited, views),
        convex=rule_table(convex, views),
        other=rule_table(other, views),
        slack=np.zeros(len(convex)),
        plain=all(r.kind == RuleKind.SIZE for r in (*inherited, *convex, *other)),
    )


def view_codes(request: Request) -> tuple[list[View], list[Codes]]:
    names = tuple(request.sensitive)
    rules = [
        r
        for m in request.models
        for r in m.rules(names, subjects=request.subject is not None)
    ]
    views = sorted({r.view for r in rules if r.view is not None})
    return views, [
        request.subject if v == SUBJECT else request.sensitive[v.column].codes
        for v in views
    ]
