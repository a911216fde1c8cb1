"""Kernels of `harvest` and of the lower bound against definitions over rows."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.algorithms.best.harvest import Harvest, gather, prepare_harvest
from sfumato.algorithms.common.parallel_ranges import Clock
from sfumato.algorithms.refinement.refine import loss_of
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.l_diversity import LDiversity
from sfumato.models.t_closeness import TCloseness
from tests.unit.algorithms.lattice_cases import (
    all_nodes,
    close,
    distinct_at_least,
    groups_at,
    losses_of,
    random_request,
    size_at_least,
)


def keeps_of(request, name):
    codes, levels = request.sensitive["s"].codes, request.sensitive["s"].axis.levels
    return {
        "k": size_at_least(3),
        "k and l": distinct_at_least(3, 2),
        "k and t": close(3, 0.4, levels[:1].tolist(), codes.tolist()),
    }[name]


MODELS = {
    "k": [KAnonymity(k=3)],
    "k and l": [KAnonymity(k=3), LDiversity(l=2)],
    "k and t": [KAnonymity(k=3), TCloseness(t=0.4, distance="equal")],
}


@pytest.mark.parametrize("name", MODELS)
def test_boxes_released_and_rows_placed_meet_the_rules_and_lose_no_row(name):
    random = np.random.default_rng(41)
    several = 0
    for _ in range(25):
        rows = int(random.integers(6, 50))
        request = random_request(random, MODELS[name], columns=3, rows=rows, values=3)
        keeps, codes = keeps_of(request, name), request.sensitive["s"].codes.tolist()
        if not keeps(codes, codes):
            continue
        task = prepare_harvest(request)
        tables = task.sorted_nodes(np.ones(len(request.quasi)))
        parts, facts = gather(request, task, tables, Clock())
        taken = np.zeros(len(task.amounts), dtype=np.int64)
        np.add.at(taken, parts[:, 1], parts[:, 2])
        assert taken.tolist() == task.amounts.tolist()
        group_of = task.group(parts).group_of
        for group in range(int(group_of.max()) + 1):
            members = np.flatnonzero(group_of == group)
            assert keeps([codes[row] for row in members], codes)
        several += group_of.max() > 0
        assert 0 <= facts["rows_left_over"] <= rows
    assert several > 5


def test_harvest_loses_no_more_than_the_best_node_without_suppression():
    """Each group may have a node of its own, so that one for all is no better."""
    random = np.random.default_rng(42)
    compared = 0
    for _ in range(20):
        request = random_request(random, [KAnonymity(k=3)], columns=2, rows=40)
        whole = [
            losses_of(request, node, groups, 3)["ncp"]
            for node in all_nodes(request)
            if min(map(len, groups := groups_at(request, node))) >= 3
        ]
        if whole:
            found = Harvest(orders=1).solve(request).grouping
            compared += 1
            assert loss_of(request, found) <= min(whole) + 1e-9
    assert compared > 10
