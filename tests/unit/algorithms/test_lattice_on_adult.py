"""Figures measured on Adult: ARX's own optima and ours."""

import csv
import gzip
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from sfumato.algorithms.base import Request
from sfumato.algorithms.full_domain.distinct_tuples import Coding
from sfumato.algorithms.full_domain.incognito import Incognito
from sfumato.algorithms.full_domain.lattice import Lattice
from sfumato.algorithms.full_domain.local_optimal import LocalOptimal
from sfumato.algorithms.full_domain.optimal import Optimal
from sfumato.data.coding import code_column
from sfumato.data.schema import Kind
from sfumato.hierarchies.build import build
from sfumato.models.average_risk import AverageRisk
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.l_diversity import LDiversity
from sfumato.models.t_closeness import TCloseness
from sfumato.models.uniqueness import Uniqueness

COLUMNS = (
    *("sex", "age", "race", "marital-status", "education", "native-country"),
    *("workclass", "occupation", "salary-class"),
)
ROWS = 30_162


@pytest.fixture(scope="module")
def adult(shared_data):
    """The nine columns with their hierarchies, in the order of COLUMNS."""
    directory = shared_data / "adult"
    with gzip.open(directory / "adult_clean_30162.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))
    coded = {}
    for name in COLUMNS:
        kind = Kind.INTEGER if name == "age" else Kind.CATEGORY
        cells = pa.chunked_array([[row[name] for row in rows]])
        column = code_column(name, cells, kind=kind)
        spec = {"file": f"{name}.csv", "trust": True}
        coded[name] = build(column, spec, base=directory / "hierarchies")
    return coded


def asked(adult, k, share, *, columns=COLUMNS, models=(), sensitive=()):
    return Request(
        quasi=tuple(adult[name] for name in columns),
        models=(KAnonymity(k=k), *models),
        sensitive={name: adult[name] for name in sensitive},
        removable=int(share * ROWS),
    )


def node_of(facts):
    return tuple(facts["node"].values())


@pytest.mark.parametrize(
    ("k", "arx"),
    [(2, 0.2030), (5, 0.2908), (10, 0.3475), (25, 0.4246), (50, 0.4782), (100, 0.5400)],
)
def test_the_optimum_at_five_percent_is_at_least_as_good_as_that_of_arx(adult, k, arx):
    facts = Optimal().solve(asked(adult, k, 0.05)).facts
    assert facts["proven"]
    assert facts["ncp"] <= arx + 0.00005


def test_the_optimum_of_generalized_loss_is_the_node_of_arx(adult):
    facts = Optimal(metric="generalized_loss").solve(asked(adult, 5, 0.05)).facts
    assert node_of(facts) == (0, 3, 0, 0, 2, 1, 1, 2, 0)
    assert facts["rows_suppressed"] == 1346
    assert facts["generalized_loss"] == pytest.approx(0.26963466279, abs=1e-10)


def test_with_any_number_of_rows_suppressed_the_optimum_loses_less_than_that_of_arx(
    adult,
):
    facts = Optimal().solve(asked(adult, 5, 1.0)).facts
    assert facts["ncp"] <= 0.2486 + 0.00005


def test_the_optimum_of_discernibility_is_that_of_arx(adult):
    request = asked(adult, 5, 0.05)
    facts = Optimal(metric="discernibility").solve(request).facts
    assert facts["discernibility"] == 7_220_555
    assert facts["proven"]


EIGHT = tuple(name for name in COLUMNS if name != "occupation")


@pytest.mark.parametrize(
    ("model", "loss", "suppressed"),
    [
        (LDiversity(l=3), 0.1799, 1400),
        (LDiversity(l=3, kind="entropy"), 0.2256, 1174),
        (LDiversity(l=3, kind="recursive", c=4.0), 0.2198, 1408),
        (TCloseness(t=0.2, distance="equal", reference="source"), 0.8397, 235),
        (TCloseness(t=0.2, distance="hierarchical", reference="source"), 0.6749, 1384),
    ],
    ids=["distinct", "entropy", "recursive", "equal", "hierarchical"],
)
def test_optima_under_diversity_and_closeness_are_those_measured(
    adult, model, loss, suppressed
):
    request = asked(
        adult, 5, 0.05, columns=EIGHT, models=(model,), sensitive=("occupation",)
    )
    facts = Optimal(metric="generalized_loss").solve(request).facts
    assert facts["generalized_loss"] == pytest.approx(loss, abs=0.00005)
    assert facts["rows_suppressed"] == suppressed


@pytest.mark.parametrize(
    ("model", "loss", "k", "by_rule"),
    [
        (AverageRisk(at_most=0.01), 0.4345, 100, 0.7042),
        (Uniqueness(at_most=0.01), 0.3069, 2, 0.6127),
    ],
    ids=["average-risk", "uniqueness"],
)
def test_optima_under_table_wide_models_lose_less_than_under_rules_on_groups(
    adult, model, loss, k, by_rule
):
    """Groups of k rows would suffice."""
    wide = Optimal().solve(asked(adult, 1, 0.0, models=[model])).facts
    strict = Optimal().solve(asked(adult, k, 0.0)).facts
    assert wide["proven"]
    assert wide["ncp"] == pytest.approx(loss, abs=1e-4)
    assert strict["ncp"] == pytest.approx(by_rule, abs=1e-4)


@pytest.mark.parametrize("share", [0.0, 0.05])
def test_incognito_finds_the_minimal_nodes_of_five_columns(adult, share):
    request = asked(adult, 5, share, columns=COLUMNS[:5])
    lattice = Lattice.of(Coding.of(request), metric="ncp")
    within = {
        node
        for node in product(*(range(h) for h in lattice.heights))
        if _suppressed(request, node, 5) <= request.removable
    }
    minimal = {
        x
        for x in within
        if not any(
            x != y and all(b <= a for a, b in zip(x, y, strict=True)) for y in within
        )
    }
    solution = Incognito().solve(request)
    listed = [solution.facts, *solution.alternatives]
    assert {node_of(each) for each in listed} == minimal


def _suppressed(request, node, k):
    key = np.zeros(request.rows, dtype=np.int64)
    for coded, level in zip(request.quasi, node, strict=True):
        key = key * 1000 + coded.axis.levels[level, coded.codes]
    _, sizes = np.unique(key, return_counts=True)
    return int(sizes[sizes < k].sum())


def test_local_recoding_loses_no_more_than_that_of_arx(adult):
    request = asked(adult, 5, 0.0)
    grouping = LocalOptimal().solve(request).grouping
    loss = 0.0
    for j, coded in enumerate(request.quasi):
        levels = grouping.levels[grouping.group_of, j]
        loss += coded.axis.node_ncp[coded.axis.levels[levels, coded.codes]].mean()
    assert grouping.kept.all()
    assert loss / len(request.quasi) <= 0.0672
