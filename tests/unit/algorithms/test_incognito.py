import numpy as np
import pytest

from sfumato.algorithms.full_domain.incognito import Incognito
from sfumato.errors import InfeasibleError, RefusedError, SearchError
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.l_diversity import LDiversity
from sfumato.models.t_closeness import TCloseness
from tests.unit.algorithms.lattice_cases import (
    all_nodes,
    close,
    entropy_at_least,
    find,
    random_request,
    size_at_least,
)


def minimal_by_definition(request, k, keeps):
    findings = [find(request, node, k, keeps) for node in all_nodes(request)]
    within = {f.node for f in findings if f.suppressed <= request.removable and f.sizes}
    return {x for x in within if not any(_below(y, x) for y in within)}


def _below(lower, upper):
    pairs = zip(lower, upper, strict=True)
    return lower != upper and all(a <= b for a, b in pairs)


def minimal_found(request):
    try:
        solution = Incognito().search(request)
    except (InfeasibleError, SearchError):
        return set()
    listed = [solution.facts, *solution.alternatives]
    return {tuple(each["node"].values()) for each in listed}


@pytest.mark.parametrize("removable", [0, 4, 25])
def test_finds_exactly_the_minimal_nodes_under_k_anonymity(removable):
    random = np.random.default_rng(21)
    for _ in range(20):
        request = random_request(
            random, [KAnonymity(k=3)], columns=4, rows=25, removable=removable
        )
        expected = minimal_by_definition(request, 3, size_at_least(3))
        assert minimal_found(request) == expected


@pytest.mark.parametrize("removable", [0, 6])
def test_finds_exactly_the_minimal_nodes_under_entropy_diversity(removable):
    random = np.random.default_rng(22)
    models = [KAnonymity(k=2), LDiversity(l=2, kind="entropy")]
    for _ in range(20):
        request = random_request(random, models, rows=25, removable=removable)
        expected = minimal_by_definition(request, 2, entropy_at_least(2, 2))
        assert minimal_found(request) == expected


@pytest.mark.parametrize("removable", [0, 6])
def test_finds_exactly_the_minimal_nodes_under_t_closeness(removable):
    random = np.random.default_rng(23)
    models = [KAnonymity(k=2), TCloseness(t=0.3, distance="equal")]
    for _ in range(20):
        request = random_request(random, models, rows=25, removable=removable)
        steps = request.sensitive["s"].axis.levels[:1].tolist()
        keeps = close(2, 0.3, steps, None)
        assert minimal_found(request) == minimal_by_definition(request, 2, keeps)


def test_publishes_the_best_and_lists_the_others_in_order():
    random = np.random.default_rng(24)
    request = random_request(random, [KAnonymity(k=3)], columns=4, rows=40)
    solution = Incognito().search(request)
    losses = [solution.facts["ncp"], *(a["ncp"] for a in solution.alternatives)]
    assert losses == sorted(losses)
    assert solution.facts["minimal_nodes"] == len(losses)


def test_a_lattice_above_the_limit_is_refused_with_its_size():
    random = np.random.default_rng(25)
    request = random_request(random, [KAnonymity(k=3)], columns=4)
    with pytest.raises(RefusedError, match=r"has \d+ nodes; node_limit is 3"):
        Incognito(node_limit=3).search(request)
