from dataclasses import replace

import numpy as np
import pytest

from sfumato.algorithms.base import Request
from sfumato.algorithms.full_domain import lattice as lattices
from sfumato.algorithms.full_domain.distinct_tuples import Coding
from sfumato.algorithms.full_domain.lattice import Lattice
from sfumato.algorithms.full_domain.level_losses import METRICS
from sfumato.algorithms.full_domain.optimal import Optimal
from sfumato.errors import InfeasibleError, PolicyError, RefusedError, SearchError
from sfumato.hierarchies.axis import CodedAxis
from sfumato.models.alpha_k import AlphaK
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.l_diversity import LDiversity
from sfumato.models.t_closeness import TCloseness
from tests.unit.algorithms.lattice_cases import (
    all_nodes,
    best_by_definition,
    close,
    distinct_at_least,
    entropy_at_least,
    find,
    random_request,
    recursive,
    share_at_most,
    size_at_least,
    tree_axis,
)

LIMITS = (0.0, 0.2, 1.0)


def optimum(request, metric, **options):
    """The node found, as a tuple, and the facts; or the error."""
    facts = Optimal(metric=metric, **options).search(request).facts
    return tuple(facts["node"].values()), facts


def agree(request, keeps, k, metric):
    """Compare the search with all nodes, by definition; whether there is a node."""
    findings = [find(request, node, k, keeps) for node in all_nodes(request)]
    within = [f for f in findings if f.suppressed <= request.removable and f.sizes]
    if not within:
        # Where single rows left out might do, nothing is ruled out.
        refused = (InfeasibleError, SearchError)
        with pytest.raises(refused, match="full-domain generalization"):
            Optimal(metric=metric).search(request)
        return False
    best = best_by_definition(within, metric)
    node, facts = optimum(request, metric)
    assert node == best.node
    assert facts["rows_suppressed"] == best.suppressed
    assert facts["groups"] == len(best.sizes)
    assert facts["proven"]
    assert facts[metric] == pytest.approx(best.losses[metric], abs=1e-12)
    return True


def tables(models, seed, count):
    """Random requests with each suppression limit."""
    random = np.random.default_rng(seed)
    for case in range(count):
        columns, rows = int(random.integers(1, 5)), int(random.integers(8, 40))
        limit = LIMITS[case % len(LIMITS)]
        yield random_request(
            random, models, columns=columns, rows=rows, removable=int(limit * rows)
        )


@pytest.mark.parametrize("metric", METRICS)
def test_the_optimum_under_k_anonymity_equals_enumeration(metric):
    found = [
        agree(request, size_at_least(3), 3, metric)
        for request in tables([KAnonymity(k=3)], seed=1, count=45)
    ]
    assert sum(found) > 30


@pytest.mark.parametrize("metric", METRICS)
def test_the_optimum_under_distinct_diversity_equals_enumeration(metric):
    models = [KAnonymity(k=2), LDiversity(l=2)]
    found = [
        agree(request, distinct_at_least(2, 2), 2, metric)
        for request in tables(models, seed=2, count=30)
    ]
    assert sum(found) > 15


@pytest.mark.parametrize("metric", METRICS)
def test_the_optimum_under_entropy_diversity_equals_enumeration(metric):
    models = [KAnonymity(k=2), LDiversity(l=2, kind="entropy")]
    found = [
        agree(request, entropy_at_least(2, 2), 2, metric)
        for request in tables(models, seed=3, count=30)
    ]
    assert sum(found) > 10


def test_the_optimum_under_recursive_diversity_equals_enumeration():
    models = [KAnonymity(k=2), LDiversity(l=2, kind="recursive", c=2.0)]
    found = [
        agree(request, recursive(2, 2.0, 2), 2, "ncp")
        for request in tables(models, seed=4, count=45)
    ]
    assert sum(found) > 15


def test_the_optimum_under_limited_shares_equals_enumeration():
    found = [
        agree(request, share_at_most(2, 0.6), 2, "ncp")
        for request in tables([AlphaK(alpha=0.6, k=2)], seed=5, count=45)
    ]
    assert sum(found) > 15


@pytest.mark.parametrize("reference", ["source", "published"])
@pytest.mark.parametrize("distance", ["equal", "hierarchical"])
def test_the_optimum_under_t_closeness_equals_enumeration(distance, reference):
    model = TCloseness(t=0.25, distance=distance, reference=reference)
    found = []
    for request in tables([KAnonymity(k=2), model], seed=6, count=45):
        levels = request.sensitive["s"].axis.levels
        steps = levels[:1] if distance == "equal" else levels[:-1]
        source = request.sensitive["s"].codes.tolist()
        keeps = close(
            2, 0.25, steps.tolist(), source if reference == "source" else None
        )
        found.append(agree(request, keeps, 2, "ncp"))
    assert sum(found) > 30


def test_bounds_check_fewer_nodes_than_there_are():
    random = np.random.default_rng(7)
    request = random_request(
        random, [KAnonymity(k=5)], columns=6, rows=400, removable=20
    )
    _, facts = optimum(request, "ncp")
    assert facts["nodes_checked"] < facts["nodes"] / 3


def test_a_tie_goes_to_the_lowest_levels():
    # Level 1 of either column changes nothing, so four nodes lose nothing.
    axis = tree_axis("a", [["x", "x", "*"], ["y", "y", "*"]])
    codes = np.array([0, 0, 1, 1], dtype=np.int32)
    request = Request(
        quasi=(CodedAxis(axis, codes), CodedAxis(replace(axis, name="b"), codes)),
        models=(KAnonymity(k=2),),
    )
    assert optimum(request, "ncp")[0] == (0, 0)


def test_a_loss_that_falls_with_the_level_is_still_proven():
    random = np.random.default_rng(8)
    for _ in range(30):
        request = random_request(random, [KAnonymity(k=3)], rows=25, removable=8)
        quasi = []
        for coded in request.quasi:
            costs = random.random(len(coded.axis.node_ncp))
            quasi.append(CodedAxis(replace(coded.axis, node_ncp=costs), coded.codes))
        agree(replace(request, quasi=tuple(quasi)), size_at_least(3), 3, "ncp")


def test_tuples_beyond_one_word_are_searched_as_well():
    random = np.random.default_rng(9)
    axis = tree_axis("wide", [[str(i), "*"] for i in range(5000)])
    codes = random.integers(0, 5000, size=(6, 40)).astype(np.int32)
    codes[:, 20:] = codes[:, :20]
    request = Request(
        quasi=tuple(CodedAxis(replace(axis, name=f"w{j}"), codes[j]) for j in range(6)),
        models=(KAnonymity(k=2),),
    )
    node, facts = optimum(request, "ncp")
    assert node == (0,) * 6
    assert facts["groups"] == 20


def test_a_budget_that_runs_out_leaves_a_bound_instead_of_a_proof():
    random = np.random.default_rng(13)
    request = random_request(
        random, [KAnonymity(k=25)], columns=8, rows=600, removable=60
    )
    _, proven = optimum(request, "ncp")
    _, stopped = optimum(request, "ncp", node_limit=10, max_checks=20)
    assert proven["nodes_checked"] > 60
    assert not stopped["proven"]
    assert stopped["bound"] < proven["ncp"] <= stopped["ncp"]


def test_a_search_that_finds_nothing_in_time_says_how_far_it_came():
    # All rows together break the rule; leaving out one group would mend it.
    axis = tree_axis("a", [["x", "*"], ["y", "*"]])
    codes = np.array([0] * 10 + [1] * 6, dtype=np.int32)
    values = np.array([0] * 5 + [1] * 5 + [0] * 6, dtype=np.int32)
    request = Request(
        quasi=(CodedAxis(axis, codes),),
        models=(AlphaK(alpha=0.5, k=2),),
        sensitive={"s": CodedAxis(tree_axis("s", [["u", "*"], ["v", "*"]]), values)},
        removable=6,
    )
    with pytest.raises(SearchError, match="1 of 2 nodes were checked") as error:
        Optimal(node_limit=1, max_checks=1).search(request)
    assert "Raise node_limit, max_checks or seconds" in str(error.value)
    assert optimum(request, "ncp")[1]["rows_suppressed"] == 6


def test_a_lattice_too_large_for_the_machine_is_refused_with_its_size(monkeypatch):
    monkeypatch.setattr(lattices, "available_memory", lambda: 64_000)
    request = random_request(
        np.random.default_rng(12), [KAnonymity(k=2)], columns=12, rows=30
    )
    size = Lattice.of(Coding.of(request), metric="ncp").size
    with pytest.raises(
        RefusedError, match=f"has {size:,} nodes; there is memory for 500"
    ):
        Optimal().search(request)


def test_rows_that_no_level_can_hide_are_named_by_their_number():
    axis = tree_axis("a", [["x", "*"], ["y", "*"]])
    request = Request(
        quasi=(CodedAxis(axis, np.array([0, 0, 1], dtype=np.int32)),),
        models=(KAnonymity(k=4),),
    )
    with pytest.raises(InfeasibleError, match=r"has a group that meets"):
        Optimal().search(request)


@pytest.mark.parametrize(
    ("option", "value"),
    [("metric", "cost"), ("node_limit", 0), ("max_checks", 1.5), ("seconds", -1.0)],
)
def test_options_out_of_range_are_named(option, value):
    with pytest.raises(PolicyError, match=f"optimal: '{option}' is"):
        Optimal(**{option: value})


def test_a_lattice_too_large_to_be_counted_is_refused():
    with pytest.raises(
        RefusedError, match=r"has more than 1(,000){6} nodes; there is mem"
    ):
        lattices.require_room(3**20_000)
