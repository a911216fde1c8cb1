from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from sfumato.algorithms.base import Request
from sfumato.algorithms.clustering.clustering_task import prepare
from sfumato.algorithms.clustering.k_member import KMember
from sfumato.algorithms.clustering.k_member_p import KMemberP
from sfumato.algorithms.clustering.mdav import Mdav
from sfumato.algorithms.clustering.oka import Oka
from sfumato.algorithms.clustering.tgc import Tgc, quality
from sfumato.data.grouping import Grouping
from sfumato.data.schema import Kind, Role
from sfumato.data.seeds import Seed
from sfumato.errors import PolicyError
from sfumato.hierarchies.axis import Shape
from sfumato.kernels.clustering import nearest_unit as nearest
from sfumato.kernels.clustering.group_growth import pre_partition
from sfumato.kernels.clustering.nearest_unit import column_kinds
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.l_diversity import LDiversity
from sfumato.testing.awkward_tables import Awkward, awkward_table, request_for

CLUSTERING = [KMember(), KMember(seed="furthest"), KMemberP(), Oka(), Tgc(), Mdav()]
each_algorithm = pytest.mark.parametrize(
    "algorithm", CLUSTERING, ids=lambda a: f"{a.name}-{getattr(a, 'seed', '')}"
)


def drawn_request(
    number: int, *, k: int = 3, ages: int = 30, towns: int = 6, **options
) -> Request:
    """A random table with a number, a tree and a flat category, many rows alike."""
    draw = np.random.default_rng(number)
    rows = int(draw.integers(k, 200))
    cells = {
        "age": draw.integers(0, ages, rows).tolist(),
        "year": (2000 + draw.integers(0, 40, rows)).tolist(),
        "town": [f"t{i}" for i in draw.integers(0, towns, rows)],
        "illness": [f"i{i}" for i in draw.integers(0, 5, rows)],
    }
    quasi = dict.fromkeys(("age", "year", "town"), Role.QUASI)
    table = Awkward(
        "drawn",
        pa.table(cells),
        {**quasi, "illness": Role.SENSITIVE},
        {
            "age": Kind.INTEGER,
            "year": Kind.INTEGER,
            "town": Kind.CATEGORY,
            "illness": Kind.CATEGORY,
        },
        hierarchies={"year": {"intervals": [5, 20]}},
    )
    return request_for(table, options.pop("models", [KAnonymity(k=k)]), **options)


def loss(request: Request, members: list[tuple[int, ...]]) -> float:
    """The loss of one row of a group, axis by axis, from the definition."""
    total = 0.0
    for j, coded in enumerate(request.quasi):
        axis, codes = coded.axis, {point[j] for point in members}
        low, high = np.array([min(codes)]), np.array([max(codes)])
        if len(codes) == 1:
            continue
        if axis.shape is Shape.FLAT:
            total += len(codes) * (axis.weight / axis.size)
        elif axis.shape is Shape.TREE:
            total += axis.weight * float(axis.node_ncp[axis.covering(low, high)[0]])
        else:
            length = axis.positions[high[0]] - axis.positions[low[0]]
            total += length * (axis.weight / axis.span)
    return total


def brute_force(request: Request, *, k: int, furthest: bool) -> list[list[tuple]]:
    """k-member, row by row, over all rows each time; ties by the order of codes."""
    points = np.column_stack([coded.codes for coded in request.quasi])
    left = sorted(map(tuple, points.tolist()))
    distinct = sorted(set(left))
    drawn = request.seed.child("seeds").permutation(len(distinct))
    last, groups = distinct[drawn[0]], []
    while len(left) >= k:
        seed = left[0]
        if furthest:
            seed = min(left, key=lambda row: -loss(request, [last, row]))
        group = [seed]
        left.remove(seed)
        while len(group) < k:
            last = min(left, key=lambda row: loss(request, [*group, row]))
            group.append(last)
            left.remove(last)
        last = group[-1]
        groups.append(group)
    for row in left:
        growth = [
            loss(request, [*g, row]) * (len(g) + 1) - loss(request, g) * len(g)
            for g in groups
        ]
        groups[int(np.argmin(growth))].append(row)
    return sorted(sorted(group) for group in groups)


def bags(request: Request, grouping: Grouping) -> list[list[tuple]]:
    points = np.column_stack([coded.codes for coded in request.quasi]).tolist()
    found: list[list[tuple]] = [[] for _ in range(grouping.count)]
    for group, point in zip(grouping.group_of.tolist(), points, strict=True):
        found[group].append(tuple(point))
    return sorted(sorted(group) for group in found)


@pytest.mark.parametrize("seed", ["first", "furthest"])
@pytest.mark.parametrize("number", range(6))
def test_k_member_is_the_exact_greedy(number, seed):
    request = drawn_request(number)
    found = KMember(seed=seed).solve(request).grouping
    expected = brute_force(request, k=3, furthest=seed == "furthest")
    assert bags(request, found) == expected


@pytest.mark.parametrize("seed", ["first", "furthest"])
@pytest.mark.parametrize("codes", [nearest.CODES, 0], ids=["tables", "no tables"])
def test_many_codes_leave_the_greedy_exact(codes, seed, monkeypatch):
    monkeypatch.setattr(nearest, "CODES", codes)
    request = drawn_request(4, ages=300, towns=150)
    found = KMember(seed=seed).solve(request).grouping
    expected = brute_force(request, k=3, furthest=seed == "furthest")
    assert bags(request, found) == expected


@each_algorithm
def test_every_group_has_k_rows(algorithm):
    request = drawn_request(11, k=7)
    assert algorithm.solve(request).grouping.sizes().min() >= 7


@each_algorithm
def test_every_group_has_l_values(algorithm):
    models = [KAnonymity(k=4), LDiversity(l=3)]
    request = drawn_request(12, k=4, models=models)
    groups = algorithm.solve(request).grouping.group_of
    values = request.sensitive["illness"].codes
    found = [len(set(values[groups == g].tolist())) for g in set(groups.tolist())]
    assert min(found) >= 3


@each_algorithm
def test_the_rows_of_a_person_stay_together(algorithm):
    request = request_for(awkward_table("several-rows-per-subject"), [KAnonymity(k=3)])
    groups = algorithm.solve(request).grouping.group_of
    pairs = set(zip(request.subject.tolist(), groups.tolist(), strict=True))
    assert len(pairs) == len(set(request.subject.tolist()))


def test_k_member_p_parts_what_k_member_joins():
    request = drawn_request(3)
    plain = quality(request, KMember().solve(request).grouping, reach=1.0)
    protecting = quality(
        request, KMemberP(reach=0.5).solve(request).grouping, reach=1.0
    )
    assert protecting[1] < plain[1]
    assert protecting[0] > plain[0]


def table_2() -> Request:
    """Table 2 of Loukides and Shao."""
    cells = {
        "Age": [10, 15, 15, 20, 20, 25, 25, 30],
        "Height": [170, 175] * 4,
        "Postcode": [30, 32] * 4,
        "Sal": [20, 20, 65, 65] * 2,
    }
    roles = {**dict.fromkeys(cells, Role.QUASI), "Sal": Role.SENSITIVE}
    table = Awkward(
        "table 2", pa.table(cells), roles, dict.fromkeys(cells, Kind.INTEGER)
    )
    return request_for(table, [KAnonymity(k=2)])


TABLE_3 = [[0, 1], [2, 3], [4, 5], [6, 7]]
TABLE_4 = [[0, 2], [1, 3], [4, 6], [5, 7]]


def members(grouping: Grouping) -> list[list[int]]:
    return sorted(
        np.flatnonzero(grouping.group_of == g).tolist() for g in range(grouping.count)
    )


def test_clustering_turns_table_2_into_table_4():
    assert members(KMember().solve(table_2()).grouping) == TABLE_4


def test_partitioning_turns_table_2_into_table_3():
    request = table_2()
    task = prepare(request, Tgc().plan(request))
    _, sizes = column_kinds(task.units, task.contributions.sizes)
    order, parts = pre_partition(task.units, sizes, task.contributions, 2, 1.0)
    rows = [task.rows[order[a:b]] for a, b in pairwise(parts)]
    assert sorted(sorted(part.tolist()) for part in rows) == TABLE_3


def test_unprotected_halves_are_not_cut_apart():
    request = table_2()
    task = prepare(request, Tgc().plan(request))
    _, sizes = column_kinds(task.units, task.contributions.sizes)
    _, parts = pre_partition(task.units, sizes, task.contributions, 2, 0.99)
    assert np.diff(parts).tolist() == [4, 4]


def test_q_and_s_diversity_of_table_3_and_4_are_those_of_the_definitions():
    request = table_2()
    third, fourth = np.arange(8) // 2, np.array([0, 1, 0, 1, 2, 3, 2, 3])
    # Ages span 5 of 20; height and postcode all of their range, or nothing.
    expected = [(2.25, 1.0), (0.25, 0.5)]
    found = [
        quality(request, Grouping(labels.astype(np.int32), 4), reach=1.0)
        for labels in (third, fourth)
    ]
    assert np.allclose(found, expected)


def test_tgc_reports_the_thresholds_it_found():
    facts = Tgc().solve(drawn_request(5)).facts
    assert 0 < facts["delta"] < 1
    assert 0 < facts["split_limit"] <= 1
    assert facts["sample_runs"] == 2 + 4 + 8 + 16


def test_tgc_by_protection_alone_does_not_reject_every_cluster():
    """On the sample any small δ ends in one group of all rows, as a large one does."""
    solution = Tgc(preset="TGCP", split_limit=9.0).solve(drawn_request(7, k=5))
    assert solution.facts["delta"] > 0.5
    assert solution.grouping.count > 1


def test_tgc_trades_utility_against_protection():
    request = drawn_request(7, k=5)
    figures = {
        preset: quality(
            request,
            Tgc(preset=preset, size=200).solve(request).grouping,
            reach=1.0,
        )
        for preset in ("TGCU", "TGCP")
    }
    assert figures["TGCU"][0] < figures["TGCP"][0]
    assert figures["TGCP"][1] < figures["TGCU"][1]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"utility_weight": 1.5}, "utility_weight"),
        ({"delta": -0.1}, "delta"),
        ({"size": 0}, "size"),
        ({"preset": "TGCX"}, "preset"),
    ],
)
def test_tgc_refuses_settings_that_mean_nothing(options, named):
    with pytest.raises(PolicyError, match=f"'{named}' is"):
        Tgc(**options)


def mdav_by_definition(points: np.ndarray, k: int) -> list[list[int]]:
    """MDAV over standardized numbers, from the paper's steps."""
    scaled = (points - points.mean(axis=0)) / points.std(axis=0)
    left, groups = list(range(len(points))), []

    def apart(row: int, center: np.ndarray) -> float:
        return float(((scaled[row] - center) ** 2).sum())

    def take(around: int) -> None:
        ranked = sorted(
            left, key=lambda row: (row != around, apart(row, scaled[around]))
        )
        groups.append(ranked[:k])
        left[:] = [row for row in left if row not in groups[-1]]

    while len(left) >= 2 * k:
        center = scaled[left].mean(axis=0)
        pair = len(left) >= 3 * k
        first = max(left, key=lambda row: apart(row, center))
        take(first)
        if pair:
            take(max(left, key=lambda row: apart(row, scaled[first])))
    return sorted(sorted(group) for group in [*groups, left] if group)


def test_mdav_is_the_published_procedure():
    draw = np.random.default_rng(4)
    cells = {"a": draw.normal(size=61).round(6), "b": draw.normal(size=61).round(6)}
    kinds = dict.fromkeys(cells, Kind.DECIMAL)
    table = Awkward("numbers", pa.table(cells), dict.fromkeys(cells, Role.QUASI), kinds)
    found = Mdav().solve(request_for(table, [KAnonymity(k=4)])).grouping
    points = np.column_stack([cells["a"], cells["b"]])
    assert members(found) == mdav_by_definition(points, 4)


def test_a_column_without_a_known_number_adds_no_error_to_mdav():
    known = pa.array(["1", "2", "5", "9"])
    cells = {"a": pa.array([None] * 4, pa.string()), "b": known}
    kinds = dict.fromkeys(cells, Kind.INTEGER)
    table = Awkward("gaps", pa.table(cells), dict.fromkeys(cells, Role.QUASI), kinds)
    facts = Mdav().solve(request_for(table, [KAnonymity(k=2)])).facts
    # Groups 1, 2 and 5, 9 of variance 9.6875: squared errors 0.5 and 8 of 38.75.
    assert facts["sst"] == pytest.approx(4.0)
    assert facts["sse"] == pytest.approx(8.5 / 9.6875)


def test_another_seed_gives_oka_other_centers():
    request = drawn_request(9)
    other = replace(request, seed=Seed.guessable(77))
    first, second = (Oka().solve(each).grouping for each in (request, other))
    assert bags(request, first) != bags(request, second)


def test_tables_have_room_for_sensitive_values_that_no_row_has():
    request = drawn_request(3)
    illness = request.sensitive["illness"]
    kept = request.only(np.flatnonzero(illness.codes < illness.axis.size - 1))
    task = prepare(kept, Tgc().plan(kept))
    _, sizes = column_kinds(task.units, task.contributions.sizes)
    assert sizes[-1] == illness.axis.size
