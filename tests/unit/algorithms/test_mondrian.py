"""Mondrian on cases worked by hand, against its plain form, and its promises."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.algorithms.base import Request
from sfumato.algorithms.partition import mondrian
from sfumato.algorithms.partition.mondrian import Mondrian
from sfumato.errors import InfeasibleError, PolicyError
from sfumato.hierarchies.axis import CodedAxis
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.k_map import KMap
from sfumato.models.l_diversity import LDiversity
from sfumato.models.range_disclosure import RangeDisclosure
from sfumato.models.t_closeness import TCloseness
from tests.unit.algorithms.mondrian_cases import (
    ask,
    flat_axis,
    free_axis,
    gain_cuts,
    partition,
    rows_of,
    total_loss,
    tree_axis,
    widest_cuts,
)

NAN = float("nan")
TREE = tree_axis([0, 0, 1, 1, 1, 2], [0, 0, 0, 0, 0, 1])


def grouped(request: Request, **options: Any) -> set[frozenset[int]]:
    """The groups of rows that a search finds."""
    members = defaultdict(set)
    for row, group in enumerate(Mondrian(**options).search(request).grouping.group_of):
        members[int(group)].add(row)
    return {frozenset(m) for group, m in members.items() if group >= 0}


def sizes(request: Request, **options: Any) -> list[int]:
    return sorted(len(group) for group in grouped(request, **options))


# By hand


@pytest.mark.parametrize("cut", ["gain", "widest"])
def test_ties_on_the_median_do_not_lose_the_cut(cut: str) -> None:
    ages = free_axis([30, 41])
    request = ask([ages], [(0,), (0,), (0,), (0,), (1,), (1,)], k=2)
    assert grouped(request, cut=cut) == {frozenset({0, 1, 2, 3}), frozenset({4, 5})}


def test_gain_parts_what_the_median_leaves_together() -> None:
    # Six low numbers and two far ones: the median cuts 4 | 4, gain cuts 6 | 2.
    line = free_axis([0, 1, 2, 3, 4, 5, 90, 100])
    request = ask([line], [(i,) for i in range(8)], k=2)
    low, far = frozenset(range(6)), frozenset({6, 7})
    found = grouped(request, cut="gain")
    assert far in found
    assert low == frozenset().union(*(found - {far}))
    assert far in grouped(request, cut="widest")
    request = ask([line], [(i,) for i in range(8)], k=3)
    assert total_loss(request, solved(request, "gain")) < total_loss(
        request, [0, 0, 0, 0, 1, 1, 1, 1]
    )


def solved(request: Request, cut: str = "gain", **options: Any) -> list[int]:
    solution = Mondrian(cut=cut, **options).search(request)
    return [int(group) for group in solution.grouping.group_of]


def test_gain_takes_a_better_cut_than_the_widest_axis_has() -> None:
    # Both axes are as wide: the first is cut, though only the second has clear halves.
    axes = [free_axis([0, 3, 7, 10]), free_axis([0, 1, 8, 9])]
    rows = [(0, 0), (3, 1), (1, 1), (2, 0), (0, 2), (3, 3), (1, 3), (2, 2)]
    request = ask(axes, rows, k=4)
    gain, widest = solved(request, "gain"), solved(request, "widest")
    assert total_loss(request, gain) == pytest.approx(8 * (1 + 1 / 9))
    assert total_loss(request, widest) == pytest.approx(8 * (0.3 + 1))
    assert grouped(request) == {frozenset(range(4)), frozenset(range(4, 8))}


def test_widest_lines_flat_values_up_by_frequency() -> None:
    # Value 2 is the most frequent: it is parted from the two others.
    rows = [(0,), (1,), (2,), (2,), (2,), (1,)]
    assert grouped(ask([flat_axis(3)], rows, k=3), cut="widest") == {
        frozenset({2, 3, 4}),
        frozenset({0, 1, 5}),
    }


def test_gain_parts_one_flat_value_from_the_rest() -> None:
    # Only {1} against the rest parts the line of axis 1 as well.
    axes = [flat_axis(3), free_axis([0, 100])]
    rows = [(0, 0), (0, 0), (0, 0), (1, 1), (1, 1), (2, 0), (2, 0)]
    assert grouped(ask(axes, rows, k=2)) == {
        frozenset({0, 1, 2}),
        frozenset({3, 4}),
        frozenset({5, 6}),
    }


def test_a_tree_is_cut_between_the_children_of_the_groups_node() -> None:
    # Leaves 0 1 | 2 3 4 | 5; the last is alone under its own child of the root.
    rows = [(0,), (1,), (2,), (3,), (4,), (5,), (5,)]
    assert grouped(ask([TREE], rows, k=2), cut="widest") == {
        frozenset({0, 1}),
        frozenset({2, 3, 4}),
        frozenset({5, 6}),
    }


def test_gain_parts_a_node_from_the_rest_at_any_level() -> None:
    # Leaves 2 3 4 lie between 0 1 and 5: no cut of the line alone frees them.
    axes = [TREE, free_axis([0, 100])]
    rows = [(0, 0), (1, 0), (2, 1), (3, 1), (5, 0), (5, 0)]
    assert frozenset({2, 3}) in grouped(ask(axes, rows, k=2))


@pytest.mark.parametrize("cut", ["gain", "widest"])
def test_missing_values_are_parted_from_numbers(cut: str) -> None:
    line = free_axis([1, 2, 3, NAN])
    rows = [(0,), (1,), (2,), (3,), (3,)]
    assert grouped(ask([line], rows, k=2), cut=cut) == {
        frozenset({0, 1, 2}),
        frozenset({3, 4}),
    }


def test_a_group_that_mixes_missing_and_numbers_costs_everything() -> None:
    # One missing row cannot be parted: it goes where it spoils the fewest rows.
    line = free_axis([0, 50, 100, NAN])
    rows = [(0,), (0,), (0,), (1,), (1,), (2,), (3,)]
    request = ask([line], rows, k=2)
    assert total_loss(request, solved(request)) == pytest.approx(2.0)


def test_strict_leaves_equal_rows_together_and_relaxed_parts_them() -> None:
    rows = [(0,), (1,), (1,), (1,), (1,), (2,)]
    request = ask([free_axis([0, 1, 2])], rows, k=3)
    assert sizes(request, cut="widest") == [6]
    assert sizes(request, cut="widest", mode="relaxed") == [3, 3]
    assert sizes(request, mode="relaxed") == [3, 3]


def test_identical_rows_are_one_group_in_either_mode() -> None:
    request = ask([free_axis([5]), flat_axis(1)], [(0, 0)] * 9, k=2)
    for mode in ("strict", "relaxed"):
        assert sizes(request, mode=mode) == [9]


def test_without_a_gain_the_most_even_cut_is_taken() -> None:
    axes = [free_axis([0, 1, 2, 3], weight=0.0)]
    request = ask(axes, [(0,), (1,), (2,), (3,)], k=1)
    assert sizes(request) == [1, 1, 1, 1]
    assert sizes(ask(axes, [(0,), (1,), (2,), (3,)], k=2)) == [2, 2]


def test_likeness_lines_up_values_that_go_with_the_same_rows() -> None:
    # Values 0 and 3 go with low numbers, 1 and 2 with high ones.
    axes = [flat_axis(4), free_axis([0, 1, 99, 100])]
    rows = [(0, 0), (3, 1), (1, 2), (2, 3), (0, 1), (3, 0), (1, 3), (2, 2)]
    found = grouped(ask(axes, rows, k=4), cut="widest", flat_order="likeness")
    assert found == {frozenset({0, 1, 4, 5}), frozenset({2, 3, 6, 7})}


# Options and refusals


@pytest.mark.parametrize("option", ["mode", "cut", "flat_order"])
def test_a_wrong_option_is_refused_by_name_with_what_is_allowed(option: str) -> None:
    with pytest.raises(PolicyError, match=f"'{option}' is 'other'") as refusal:
        Mondrian(**{option: "other"})
    assert ", ".join(mondrian.OPTIONS[option]) in str(refusal.value.hint)


def test_a_table_that_is_no_group_is_infeasible() -> None:
    with pytest.raises(InfeasibleError, match="The 2 rows of the table, as one group"):
        Mondrian().search(ask([flat_axis(2)], [(0,), (1,)], k=3))


def test_an_empty_table_has_no_groups() -> None:
    solution = Mondrian().search(ask([flat_axis(2)], [], k=3))
    assert solution.grouping.count == 0


# Rules


def test_a_cut_that_leaves_too_few_values_is_not_made() -> None:
    # Cutting 2 | 4 would gain most, but leaves the first two with one disease.
    line = free_axis([0, 1, 90, 91, 92, 93])
    diseases = CodedAxis(flat_axis(2), np.array([0, 0, 1, 0, 1, 0], dtype=np.int32))
    models = (KAnonymity(k=2), LDiversity(l=2))
    request = ask(
        [line],
        [(i,) for i in range(6)],
        k=2,
        models=models,
        sensitive={"disease": diseases},
    )
    assert frozenset({0, 1}) in grouped(ask([line], [(i,) for i in range(6)], k=2))
    for group in grouped(request):
        assert len({int(diseases.codes[i]) for i in group}) == 2


def test_a_sensitive_column_of_many_values_is_judged() -> None:
    many = 3000
    line = free_axis(list(range(many)))
    values = CodedAxis(flat_axis(many), np.arange(many, dtype=np.int32))
    request = ask(
        [line],
        [(i,) for i in range(many)],
        k=2,
        models=(LDiversity(l=3),),
        sensitive={"s": values},
    )
    assert min(sizes(request, cut="widest")) >= 3


def test_k_counts_persons_where_a_subject_is_declared() -> None:
    line = free_axis([0, 1, 2, 3])
    persons = np.array([0, 0, 1, 1, 2, 2, 3, 3], dtype=np.int32)
    rows = [(0,), (0,), (1,), (1,), (2,), (2,), (3,), (3,)]
    request = ask([line], rows, k=2, subject=persons)
    assert sizes(request) == [4, 4]


def population_k(k: int) -> KMap:
    return KMap(k=k, population="people.csv")


def test_a_group_counts_the_people_inside_its_published_box_alone() -> None:
    # Three people per side of any cut, but those between the boxes match neither.
    line = free_axis([0, 1, 4, 5, 6, 9, 10])
    people = (np.array([0, 1, 2, 3, 4, 5, 6, 3, 3], dtype=np.int32),)
    rows = [(0,), (1,), (5,), (6,)]
    for k, expected in ((2, [2, 2]), (3, [4])):
        request = ask([line], rows, k=k, models=(population_k(k),), population=people)
        assert sizes(request) == expected
        assert sizes(request, cut="widest") == expected


def test_rows_left_out_do_not_break_a_model_that_looks_at_all_rows() -> None:
    line = free_axis([0, 1, 2, 3, 100])
    values = CodedAxis(flat_axis(2), np.array([0, 1] * 5, dtype=np.int32))
    rows = [(i // 2,) for i in range(10)]
    models = (KAnonymity(k=2), TCloseness(t=0.01))
    request = ask(
        [line], rows, k=2, models=models, sensitive={"s": values}, removable=1
    )
    grouping = Mondrian().search(request).grouping
    assert all(model.verify(request.groups(grouping)).holds for model in models)


def test_rows_left_out_do_not_narrow_the_range_that_others_are_judged_by() -> None:
    # Without the outlier's value the first two rows' values are nearly the whole
    # of their branch, and so alike.
    values = CodedAxis(
        tree_axis([0, 0, 0, 1]), np.array([0, 1, 3, 0, 2], dtype=np.int32)
    )
    models = (KAnonymity(k=2), RangeDisclosure(r=0.4, at_most=0.5))
    request = ask(
        [free_axis([0, 10, 100])],
        [(0,), (0,), (1,), (1,), (2,)],
        k=2,
        models=models,
        sensitive={"s": values},
        removable=1,
    )
    grouping = Mondrian().search(request).grouping
    assert all(model.verify(request.groups(grouping)).holds for model in models)
    assert grouping.count == 2


# Leaving rows out


def test_an_outlier_is_left_out_where_that_lowers_the_loss() -> None:
    line = free_axis([0, 1, 2, 3, 100])
    rows = [(0,), (1,), (2,), (3,), (4,)]
    request = ask([line], rows, k=4, removable=1)
    assert solved(request) == [0, 0, 0, 0, -1]
    assert solved(ask([line], rows, k=4)) == [0, 0, 0, 0, 0]


def test_a_rare_flat_value_is_left_out() -> None:
    axes = [flat_axis(2), flat_axis(2)]
    rows = [(0, 0), (0, 0), (0, 0), (0, 0), (0, 0), (1, 1)]
    assert solved(ask(axes, rows, k=4, removable=1)) == [0, 0, 0, 0, 0, -1]


def test_a_row_that_is_dearer_left_out_than_kept_stays() -> None:
    rows = [(i, 0) for i in range(4)]
    # Kept: 4 rows × 1. Without an end: 3 rows × 2/3 and one row at 1 + 2.
    axes = [free_axis([0, 1, 2, 3]), flat_axis(1, weight=2.0)]
    assert -1 not in solved(ask(axes, rows, k=3, removable=1))


def test_the_greatest_gain_per_row_goes_first() -> None:
    # Two groups with one outlier each, and one row may go: the one in the larger group.
    axes = [flat_axis(2), free_axis([0, 1, 100])]
    rows = [(0, 0)] * 8 + [(0, 2)] + [(1, 0)] * 4 + [(1, 2)]
    request = ask(axes, rows, k=4, removable=1)
    found = solved(request)
    assert found[8] == -1
    assert found.count(-1) == 1


# Against the plain form


@st.composite
def requests(draw: Any, **options: Any) -> Request:
    axes = draw(
        st.lists(
            st.sampled_from(
                [
                    free_axis([0, 1, 3, 7, 15]),
                    free_axis([2, 3, 5, NAN], weight=0.5),
                    flat_axis(4),
                    flat_axis(70, weight=2.0),
                    TREE,
                ]
            ),
            min_size=1,
            max_size=3,
        )
    )
    row = st.tuples(*(st.integers(0, axis.size - 1) for axis in axes))
    rows = draw(st.lists(row, min_size=1, max_size=14))
    k = draw(st.integers(1, min(4, len(rows))))
    return ask(axes, rows, k=k, **options)


def k_of(request: Request) -> int:
    return next(m.k for m in request.models if isinstance(m, KAnonymity))


@given(requests())
@settings(max_examples=300)
def test_gain_cuts_like_its_plain_form(request: Request) -> None:
    k = k_of(request)
    plain = partition(request, lambda group: len(group) >= k, gain_cuts)
    assert grouped(request) == plain


@given(requests())
@settings(max_examples=300)
def test_widest_cuts_like_its_plain_form(request: Request) -> None:
    k = k_of(request)
    plain = partition(request, lambda group: len(group) >= k, widest_cuts)
    assert grouped(request, cut="widest") == plain


@given(requests(), st.randoms(use_true_random=False))
@settings(max_examples=150)
def test_gain_under_diversity_cuts_like_its_plain_form(
    request: Request, random: Any
) -> None:
    values = [random.randrange(3) for _ in range(request.rows)]
    many = min(2, len(set(values)))
    sensitive = {"s": CodedAxis(flat_axis(3), np.array(values, dtype=np.int32))}
    models = (*request.models, LDiversity(l=many))
    asked = ask(
        [q.axis for q in request.quasi],
        rows_of(request),
        k=1,
        models=models,
        sensitive=sensitive,
    )
    k = k_of(request)
    plain = partition(
        asked,
        lambda group: len(group) >= k and len({values[i] for i in group}) >= many,
        gain_cuts,
    )
    assert grouped(asked) == plain


# Promises

OPTIONS = [
    {"cut": cut, "mode": mode, "flat_order": order}
    for cut in ("gain", "widest")
    for mode in ("strict", "relaxed")
    for order in ("frequency", "likeness")
]


@pytest.mark.parametrize("options", OPTIONS)
@given(request=requests(removable=2))
@settings(max_examples=60)
def test_every_row_is_in_an_allowed_group_or_left_out_within_budget(
    options: dict[str, str], request: Request
) -> None:
    found = solved(request, **options)
    assert found.count(-1) <= request.removable
    counts = Counter(group for group in found if group >= 0)
    assert min(counts.values()) >= k_of(request)
    assert {*counts} == {*range(len(counts))}


@pytest.mark.parametrize("cut", ["gain", "widest"])
@given(request=requests(removable=3))
@settings(max_examples=60)
def test_strict_treats_equal_rows_alike(cut: str, request: Request) -> None:
    groups = defaultdict(set)
    for row, group in zip(rows_of(request), solved(request, cut), strict=True):
        groups[row].add(group)
    assert all(len(found) == 1 for found in groups.values())


@pytest.mark.parametrize("options", OPTIONS)
@given(request=requests())
@settings(max_examples=40)
def test_the_loss_is_never_above_that_of_one_group(
    options: dict[str, str], request: Request
) -> None:
    whole = total_loss(request, [0] * request.rows)
    assert total_loss(request, solved(request, **options)) <= whole + 1e-9


@pytest.mark.parametrize("mode", ["strict", "relaxed"])
@given(request=requests(removable=3))
@settings(max_examples=60)
def test_leaving_rows_out_never_raises_the_loss(mode: str, request: Request) -> None:
    axes, rows = [q.axis for q in request.quasi], rows_of(request)
    kept = ask(axes, rows, k=k_of(request))
    before = total_loss(kept, solved(kept, mode=mode))
    assert total_loss(request, solved(request, mode=mode)) <= before + 1e-9


@pytest.mark.parametrize("cut", ["gain", "widest"])
@given(request=requests(removable=2), random=st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_the_order_of_rows_does_not_matter(
    cut: str, request: Request, random: Any
) -> None:
    order = list(range(request.rows))
    random.shuffle(order)
    axes, rows = [q.axis for q in request.quasi], rows_of(request)
    shuffled = ask(axes, [rows[i] for i in order], k=k_of(request), removable=2)
    first, second = solved(request, cut), solved(shuffled, cut)
    assert [first[i] for i in order] == second


@pytest.mark.parametrize("options", OPTIONS)
def test_threads_and_pieces_do_not_show_in_the_result(
    options: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = np.random.default_rng(7)
    axes = [free_axis(list(range(50))), flat_axis(9), TREE, flat_axis(80)]
    rows = [tuple(int(draw.integers(axis.size)) for axis in axes) for _ in range(1500)]
    one = solved(ask(axes, rows, k=3, removable=20), **options)
    monkeypatch.setattr(mondrian, "SERIAL", 0)
    monkeypatch.setattr(mondrian, "PIECE", 64)
    assert solved(ask(axes, rows, k=3, removable=20, threads=2), **options) == one
    assert solved(ask(axes, rows, k=3, removable=20, threads=3), **options) == one


# Size


def test_wide_keys_and_many_values_are_cut_as_small_ones() -> None:
    # Ten axes of 4,000 values need 120 bits: two words per record.
    draw = np.random.default_rng(3)
    axes = [free_axis(list(range(4000))) for _ in range(6)] + [flat_axis(4000)] * 4
    rows = [tuple(int(draw.integers(4000)) for _ in axes) for _ in range(300)]
    request = ask(axes, rows, k=5)
    for cut in ("gain", "widest"):
        counts = Counter(solved(request, cut))
        assert min(counts.values()) >= 5
        assert total_loss(request, solved(request, cut)) < total_loss(
            request, [0] * 300
        )


def test_progress_is_told_and_can_cancel() -> None:
    heard: list[tuple[str, float]] = []
    request = ask(
        [free_axis([0, 1, 2, 3])],
        [(0,), (1,), (2,), (3,)],
        k=1,
        progress=lambda step, share: heard.append((step, share)),
    )
    Mondrian().search(request)
    assert heard[-1] == ("cutting", 1.0)


def test_facts_say_what_was_done() -> None:
    request = ask([free_axis([0, 1, 2])], [(0,), (0,), (1,), (2,)], k=1)
    facts = Mondrian().search(request).facts
    assert (facts["tuples"], facts["cuts"], facts["groups"]) == (3, 2, 3)
    assert (facts["cut"], facts["mode"], facts["threads"]) == ("gain", "strict", 1)
    assert facts["kernel_seconds"] > 0
