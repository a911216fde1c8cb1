import numpy as np
import pytest

from sfumato.algorithms.base import Request
from sfumato.algorithms.partition.bottom_up import BottomUp
from sfumato.algorithms.partition.top_down import TopDown
from sfumato.data.schema import Kind
from sfumato.data.seeds import Seed
from sfumato.errors import RefusedError
from sfumato.hierarchies.axis import Axis, CodedAxis, Shape
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.k_map import KMap
from sfumato.models.l_diversity import LDiversity
from tests.unit.algorithms.lattice_cases import random_request, tree_axis

BOTH = pytest.mark.parametrize("algorithm", [TopDown(), BottomUp()], ids=["top", "up"])


def line(name, numbers, weight=1.0):
    """A free axis and codes for these numbers."""
    values, codes = np.unique(numbers, return_inverse=True)
    size = len(values)
    levels = np.array([np.arange(size), np.full(size, size)], dtype=np.int32)
    axis = Axis(
        name=name,
        kind=Kind.INTEGER,
        shape=Shape.FREE,
        labels=tuple(str(value) for value in values),
        levels=levels,
        node_labels=(*(str(value) for value in values), "*"),
        node_ncp=np.append(np.zeros(size), 1.0),
        node_loss=np.append(np.zeros(size), 1.0),
        positions=values.astype(np.float64),
        weight=weight,
    )
    return CodedAxis(axis, codes.astype(np.int32))


def flat(name, values):
    """A flat axis and codes for these categories."""
    labels, codes = np.unique(values, return_inverse=True)
    size = len(labels)
    axis = Axis(
        name=name,
        kind=Kind.CATEGORY,
        shape=Shape.FLAT,
        labels=tuple(labels),
        levels=np.array([np.arange(size), np.full(size, size)], dtype=np.int32),
        node_labels=(*labels, "*"),
        node_ncp=np.append(np.zeros(size), 1.0),
        node_loss=np.append(np.zeros(size), 1.0),
    )
    return CodedAxis(axis, codes.astype(np.int32))


def parts(algorithm, request):
    """The groups as sorted lists of rows."""
    group_of = algorithm.solve(request).grouping.group_of
    groups = [np.flatnonzero(group_of == g).tolist() for g in range(group_of.max() + 1)]
    return sorted(groups)


def asked(*quasi, k=2, seed=1, **more):
    return Request(
        quasi=quasi, models=(KAnonymity(k=k),), seed=Seed.guessable(seed), **more
    )


@BOTH
@pytest.mark.parametrize("seed", range(4))
def test_clear_clusters_are_found(algorithm, seed):
    request = asked(
        line("x", [1, 2, 3, 51, 52, 53, 98, 99, 100]),
        line("y", [1, 2, 3, 1, 2, 3, 98, 99, 100]),
        k=3,
        seed=seed,
    )
    assert parts(algorithm, request) == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]


@pytest.mark.parametrize("seed", range(4))
def test_a_half_below_k_borrows_its_nearest_rows(seed):
    # The two distant rows are 0 and 100; all but 100 are nearer to 0. The lone row
    # borrows 40, the nearest of the others.
    request = asked(line("x", [0, 1, 2, 40, 100]), seed=seed)
    assert [3, 4] in parts(TopDown(), request)


def test_a_group_stays_whole_if_the_lender_would_break_a_rule():
    request = asked(line("x", [0, 1, 100]))
    assert parts(TopDown(), request) == [[0, 1, 2]]


@BOTH
def test_rows_are_neither_lost_nor_doubled_when_borrowing_fails(algorithm):
    random = np.random.default_rng(40)
    for _ in range(20):
        request = random_request(random, [LDiversity(l=3)], rows=40, values=4)
        grouping = algorithm.solve(request).grouping
        codes = request.sensitive["s"].codes
        for group in range(grouping.count):
            assert len(set(codes[grouping.group_of == group].tolist())) >= 3
        assert grouping.sizes().sum() == 40


@BOTH
def test_the_heavier_column_is_kept_apart(algorithm):
    values = [0, 0, 100, 100]
    other = [0, 100, 0, 100]
    heavy = asked(line("x", values, weight=3.0), line("y", other))
    assert parts(algorithm, heavy) == [[0, 1], [2, 3]]
    light = asked(line("x", values), line("y", other, weight=3.0))
    assert parts(algorithm, light) == [[0, 2], [1, 3]]


@BOTH
def test_sets_of_categories_count_their_values(algorithm):
    request = asked(flat("c", list("aabbbccd")), line("x", [1, 1, 5, 5, 5, 9, 9, 9]))
    assert parts(algorithm, request) == [[0, 1], [2, 3, 4], [5, 6, 7]]


@BOTH
def test_rows_that_are_alike_may_be_parted_to_meet_k_but_need_not(algorithm):
    request = asked(line("x", [1] * 7), k=2)
    assert parts(algorithm, request) == [[0, 1, 2, 3, 4, 5, 6]]


@BOTH
def test_every_group_is_diverse(algorithm):
    random = np.random.default_rng(41)
    models = [KAnonymity(k=2), LDiversity(l=2, kind="entropy")]
    split = 0
    for _ in range(20):
        request = random_request(random, models, rows=60, values=3)
        # `solve` proves every group again from the model's own definition.
        split += algorithm.solve(request).grouping.count > 1
    assert split > 15


def test_a_small_group_merges_with_the_neighbor_that_costs_least():
    # Row 2 alone costs 0.2 with rows 0 and 1 and 0.4 with rows 3 and 4.
    request = asked(line("x", [0, 0, 20, 60, 60, 100, 100]))
    assert parts(BottomUp(), request) == [[0, 1, 2], [3, 4], [5, 6]]


def test_a_merged_group_of_twice_the_minimum_is_split_again():
    # The row at 50 joins the three at 40; the four then part into pairs.
    request = asked(line("x", [0, 0, 39, 40, 41, 50]), k=2)
    assert parts(BottomUp(), request) == [[0, 1], [2, 3], [4, 5]]


@BOTH
def test_a_population_behind_overlapping_groups_is_refused(algorithm):
    coded = line("x", [1, 2, 3, 4])
    request = Request(
        quasi=(coded,),
        models=(KMap(k=2, population="people.csv"),),
        population=(coded.codes,),
    )
    with pytest.raises(RefusedError, match="cannot count the population"):
        algorithm.check(request)


def test_a_tree_with_deep_nodes_is_split_along_them():
    paths = [[f"{a}{b}", a, "*"] for a in "pqr" for b in "12"]
    axis = tree_axis("t", paths)
    request = asked(CodedAxis(axis, np.arange(6, dtype=np.int32)), k=2)
    assert parts(TopDown(), request) == [[0, 1], [2, 3], [4, 5]]
