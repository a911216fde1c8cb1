"""Kernels of full-domain generalization against definitions that visit rows one by one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

from sfumato.algorithms.base import Request
from sfumato.algorithms.full_domain.distinct_tuples import Coding
from sfumato.algorithms.full_domain.incognito import minimal_nodes
from sfumato.algorithms.full_domain.lattice import Lattice
from sfumato.algorithms.full_domain.level_losses import METRICS
from sfumato.algorithms.full_domain.optimal import start_search, sweep_order
from sfumato.kernels.full_domain import lattice_search as sweep
from sfumato.kernels.full_domain import node_judging as kernel
from sfumato.kernels.full_domain.node_rollup import NodeWorkspace
from sfumato.models.alpha_k import AlphaK
from sfumato.models.beta_likeness import BetaLikeness
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.l_diversity import LDiversity
from sfumato.models.t_closeness import TCloseness
from tests.unit.algorithms.lattice_cases import (
    Keeps,
    all_nodes,
    close,
    distinct_at_least,
    entropy_at_least,
    find,
    groups_at,
    random_request,
    recursive,
    share_at_most,
    size_at_least,
)

K = 2
Node = tuple[int, ...]


def likeness(k: int, beta: float, source: Sequence[int]) -> Keeps:
    """k-anonymity and basic β-likeness to the source."""
    there = Counter(source)

    def keeps(codes: Sequence[int], _everyone: Sequence[int]) -> bool:
        here = Counter(codes)
        gains = [
            (n / len(codes)) / (there[code] / len(source)) - 1
            for code, n in here.items()
        ]
        return len(codes) >= k and max(gains) <= beta + 1e-9

    return keeps


def rule_of(name: str, request: Request, k: int = K) -> Keeps:
    """The definition behind each entry of `MODELS`."""
    source = request.sensitive["s"].codes.tolist()
    levels = request.sensitive["s"].axis.levels
    return {
        "size": size_at_least(k),
        "distinct": distinct_at_least(k, 2),
        "entropy": entropy_at_least(k, 2),
        "recursive": recursive(k, 2.0, 2),
        "share": share_at_most(k, 0.6),
        "equal": close(k, 0.25, levels[:1].tolist(), source),
        "tree": close(k, 0.25, levels[:-1].tolist(), source),
        "likeness": likeness(k, 0.8, source),
    }[name]


MODELS: dict[str, list[Any]] = {
    "size": [],
    "distinct": [LDiversity(l=2)],
    "entropy": [LDiversity(l=2, kind="entropy")],
    "recursive": [LDiversity(l=2, kind="recursive", c=2.0)],
    "share": [AlphaK(alpha=0.6, k=K)],
    "equal": [TCloseness(t=0.25, distance="equal", reference="source")],
    "tree": [TCloseness(t=0.25, distance="hierarchical", reference="source")],
    "likeness": [BetaLikeness(beta=0.8, reference="source")],
}
every_rule = pytest.mark.parametrize("name", MODELS)


def tables(
    name: str, *, count: int, seed: int, removable: int = 0, k: int = K
) -> Iterator[Request]:
    random = np.random.default_rng(seed)
    for _ in range(count):
        yield random_request(
            random,
            [KAnonymity(k=k), *MODELS[name]],
            columns=int(random.integers(1, 5)),
            rows=int(random.integers(4, 30)),
            removable=removable,
        )


def judged(lattice: Lattice, node: Node, *, weighed: bool) -> NodeWorkspace:
    """What the kernel finds at a node, with no limit on rows suppressed."""
    weights = lattice.weights if weighed else np.zeros(0)
    levels = np.array(node, dtype=np.int64)
    chunks, work, judging = lattice.kernel_arguments
    minimum = lattice.rules.minimum
    kernel.judge(chunks, weights, levels, minimum, lattice.rows, work, judging)
    return work


def counts_at(lattice: Lattice, node: Node) -> list[int]:
    return [int(count) for count in judged(lattice, node, weighed=False).counts]


def below(node: Node) -> Iterator[Node]:
    """The node itself and every node below it."""
    return product(*(range(level + 1) for level in node))


@every_rule
def test_cells_are_the_rows_that_are_shown_alike(name: str) -> None:
    for request in tables(name, count=8, seed=11):
        lattice = Lattice.of(Coding.of(request), metric="ncp")
        for node in all_nodes(request):
            cells = judged(lattice, node, weighed=False).cell[lattice.tuples].tolist()
            shown: dict[int, list[int]] = {}
            for row, cell in enumerate(cells):
                shown.setdefault(cell, []).append(row)
            assert sorted(shown.values()) == sorted(groups_at(request, node))


@every_rule
def test_counts_of_a_node_equal_their_definition(name: str) -> None:
    for request in tables(name, count=10, seed=12):
        lattice = Lattice.of(Coding.of(request), metric="ncp")
        keeps = rule_of(name, request)
        for node in all_nodes(request):
            counts = counts_at(lattice, node)
            found = find(request, node, K, keeps)
            sizes = [len(group) for group in groups_at(request, node)]
            assert counts[kernel.SUPPRESSED] == found.suppressed
            assert counts[kernel.GROUPS] == len(found.sizes)
            assert counts[kernel.SQUARES] == sum(size**2 for size in found.sizes)
            assert counts[kernel.FLOOR] == sum(size * max(size, K) for size in sizes)
            assert counts[kernel.LARGE] == sum(size >= K for size in sizes)
            assert counts[kernel.SMALL_ROWS] == sum(s for s in sizes if s < K)


@every_rule
def test_the_penalty_is_what_suppression_adds_to_the_loss(name: str) -> None:
    for request in tables(name, count=8, seed=13):
        lattice = Lattice.of(Coding.of(request), metric="ncp")
        keeps = rule_of(name, request)
        everybody = size_at_least(0)
        for node in all_nodes(request):
            sums = judged(lattice, node, weighed=True).sums
            with_all = find(request, node, K, everybody).losses["ncp"]
            loss = find(request, node, K, keeps).losses["ncp"]
            assert sums[kernel.PENALTY] == pytest.approx(loss - with_all, abs=1e-9)


@every_rule
def test_no_node_below_loses_fewer_rows_or_less(name: str) -> None:
    pruned = 0
    for request in tables(name, count=8, seed=14):
        lattice = Lattice.of(Coding.of(request), metric="ncp")
        found = {}
        for node in all_nodes(request):
            work = judged(lattice, node, weighed=True)
            found[node] = work.counts.tolist(), work.sums.tolist()
        for node, (counts, sums) in found.items():
            assert 0 <= counts[kernel.LOST] <= counts[kernel.SUPPRESSED]
            pruned += counts[kernel.LOST] > 0
            for lower in below(node):
                assert counts[kernel.LOST] <= found[lower][0][kernel.SUPPRESSED]
                least = sums[kernel.LOST_PENALTY] - 1e-9
                assert least <= found[lower][1][kernel.PENALTY]
    assert pruned > 0


def fewest_by_trial(codes: Sequence[int], keeps: Keeps) -> int:
    """The fewest rows that must go, over all ways of leaving rows out."""
    counts = Counter(codes)
    fewest = len(codes)
    for kept in product(*(range(count + 1) for count in counts.values())):
        rows = [c for c, n in zip(counts, kept, strict=True) for _ in range(n)]
        if rows and keeps(rows, []):
            fewest = min(fewest, len(codes) - len(rows))
    return fewest


@pytest.mark.parametrize("name", [n for n in MODELS if n not in ("size", "distinct")])
def test_the_bound_on_removals_never_exceeds_the_fewest(name: str) -> None:
    above_one = 0
    random = np.random.default_rng(15)
    for _ in range(150):
        rows = int(random.integers(2, 15))
        models = [KAnonymity(k=1), *MODELS[name]]
        request = random_request(random, models, columns=1, rows=rows, values=3)
        lattice = Lattice.of(Coding.of(request), metric="ncp")
        keeps = rule_of(name, request, k=1)
        for node in all_nodes(request):
            groups = groups_at(request, node)
            codes = request.sensitive["s"].codes
            trials = [
                fewest_by_trial([int(codes[row]) for row in group], keeps)
                for group in groups
            ]
            lost = counts_at(lattice, node)[kernel.LOST]
            assert lost <= sum(trials)
            assert lost >= sum(trial > 0 for trial in trials)
            above_one += lost > len(groups)
    assert above_one > 0


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("name", ["size", "distinct", "entropy", "tree"])
def test_bounds_never_exceed_the_loss_and_dead_nodes_never_qualify(
    name: str, metric: str
) -> None:
    skipped = 0
    # Where rows may go, closeness drifts with them and is judged elsewhere.
    removable = 0 if name == "tree" else 3
    for request in tables(name, count=10, seed=16, removable=removable):
        lattice = Lattice.of(Coding.of(request), metric=metric)
        limit = request.removable
        problem = lattice.problem(limit=limit)
        search = start_search(lattice, problem)
        order = sweep_order(lattice, lattice.over_nodes(lattice.base))
        assert sweep.visit(
            order, len(order), False, problem, search, *lattice.kernel_arguments
        )
        keeps = rule_of(name, request)
        lowest = math.inf
        for number in range(lattice.size):
            found = find(request, lattice.node(number), K, keeps)
            within = found.suppressed <= limit and found.sizes
            if within:
                bound = float(search.low[number] + search.rise[number])
                assert bound <= found.losses[metric] + 1e-9
                assert search.status[number] != sweep.DEAD
                lowest = min(lowest, found.losses[metric])
            elif np.isfinite(search.value[number]):
                pytest.fail("a node beyond the limit has a loss")
            skipped += search.status[number] != sweep.DONE
        assert float(search.best[0]) == pytest.approx(lowest, abs=1e-9)
    assert skipped > 0


@every_rule
def test_minimal_nodes_are_those_with_none_within_the_limit_below(name: str) -> None:
    for request in tables(name, count=10, seed=17):
        lattice = Lattice.of(Coding.of(request), metric="ncp")
        keeps = rule_of(name, request)
        within = {
            node
            for node in all_nodes(request)
            if (found := find(request, node, K, keeps)).sizes
            and found.suppressed <= request.removable
        }
        minimal = {node for node in within if not within & (set(below(node)) - {node})}
        numbers, _ = minimal_nodes(lattice)
        assert {lattice.node(int(number)) for number in numbers} == minimal


@pytest.mark.parametrize("name", ["distinct", "entropy", "share"])
def test_dropped_groups_are_those_that_break_the_rules(name: str) -> None:
    for request in tables(name, count=8, seed=18):
        coding = Coding.of(request)
        lattice, keeps = Lattice.of(coding, metric="ncp"), rule_of(name, request)
        chunks, work, judging = lattice.kernel_arguments
        assert judging is not None
        codes = request.sensitive["s"].codes
        for node in all_nodes(request):
            group_of = np.zeros(len(chunks.counts), dtype=np.int64)
            levels = np.array(node, dtype=np.int64)
            table = coding.compiled.table
            dropped = kernel.drop_groups(
                chunks, table, group_of, levels, work, judging.room
            )
            failing = [
                rows
                for rows in groups_at(request, node)
                if not keeps([int(codes[row]) for row in rows], [])
            ]
            gone = {row for rows in failing for row in rows}
            assert dropped == len(failing)
            assert set(np.flatnonzero(group_of[lattice.tuples] < 0).tolist()) == gone
            again = kernel.drop_groups(
                chunks, table, group_of, levels, work, judging.room
            )
            assert again == 0
