"""Diversity constraints: ranges, classes, and what is counted."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.grouping import Grouping
from sfumato.data.schema import Role
from sfumato.errors import DataError, InfeasibleError, PolicyError, RefusedError
from sfumato.models.base import Groups, Matching
from sfumato.models.common.generated_constraints import ranges
from sfumato.models.diversity import Diversity
from sfumato.testing.awkward_tables import Awkward, request_for

ROWS = {
    "sex": ["F", "F", "F", "M", "M", "M"],
    "race": ["a", "a", "b", "b", "b", None],
    "illness": ["flu", "gout", "flu", "flu", "gout", "flu"],
}
ROLES = {"sex": Role.QUASI, "race": Role.QUASI, "illness": Role.SENSITIVE}


def shown(where: dict[str, str], groups: list[int], **more: object) -> int:
    """How many rows show a target in these groups."""
    model = Diversity(where=where, at_least=0)
    request = request_for(Awkward("six", pa.table(ROWS), ROLES, {}), [model])
    count = max(groups) + 1
    grouping = Grouping(np.array(groups, dtype=np.int32), count, **more)
    return int(request.groups(grouping).matching[model.target].shown.sum())


def verdict(model: Diversity, count: int, rows: int = 10):
    sizes = np.array([rows])
    found = {model.target: Matching(np.array([count]))}
    return model.verify(Groups(sizes=sizes, rows=sizes, matching=found))


def test_a_group_shows_a_value_that_all_its_rows_have():
    assert shown({"sex": "F"}, [0, 0, 0, 1, 1, 1]) == 3


def test_a_group_shows_nothing_that_one_row_lacks():
    assert shown({"sex": "F"}, [0, 0, 0, 0, 1, 1]) == 0


def test_two_columns_must_both_be_shown():
    assert shown({"sex": "F", "race": "a"}, [0, 0, 0, 1, 1, 1]) == 0
    assert shown({"sex": "F", "race": "a"}, [0, 0, 1, 1, 2, 2]) == 2


def test_a_sensitive_value_is_shown_wherever_it_is():
    assert shown({"illness": "flu"}, [0, 0, 0, 0, 0, 0]) == 4


def test_a_quasi_identifier_beside_a_sensitive_value_counts_single_rows():
    assert shown({"sex": "M", "illness": "flu"}, [0, 0, 0, 1, 1, 1]) == 2


def test_rows_left_out_show_nothing():
    assert shown({"sex": "F"}, [0, 0, -1, 1, 1, 1]) == 2


def test_a_hidden_cell_shows_nothing():
    hidden = np.array([[True, False], [False, False]])
    assert shown({"sex": "F"}, [0, 0, 0, 1, 1, 1], hidden=hidden) == 0


def test_a_cell_above_the_leaves_shows_nothing():
    levels = np.array([[1, 0], [0, 0]], dtype=np.int16)
    assert shown({"sex": "F"}, [0, 0, 0, 1, 1, 1], levels=levels) == 0
    assert shown({"sex": "M"}, [0, 0, 0, 1, 1, 1], levels=levels) == 3


def test_a_missing_cell_shows_no_value():
    assert shown({"race": ""}, [0, 0, 0, 0, 0, 1]) == 0


@pytest.mark.parametrize(
    ("count", "holds"), [(1, False), (2, True), (4, True), (5, False)]
)
def test_both_ends_of_a_range_are_allowed(count, holds):
    model = Diversity(where={"sex": "F"}, at_least=2, at_most=4)
    assert verdict(model, count).holds is holds


@pytest.mark.parametrize(
    ("count", "holds"), [(2, False), (3, True), (5, True), (6, False)]
)
def test_a_number_with_a_point_is_a_share_of_the_published_rows(count, holds):
    model = Diversity(where={"sex": "F"}, at_least=0.3, at_most=0.5)
    assert verdict(model, count).holds is holds


def test_one_is_a_row_and_one_point_zero_all_of_them():
    assert Diversity(where={"sex": "F"}, at_least=1).bounds(10) == (1, 10)
    assert Diversity(where={"sex": "F"}, at_least=1.0).bounds(10) == (10, 10)


def test_a_share_that_is_met_exactly_is_met_whatever_the_last_digit():
    assert Diversity(where={"sex": "F"}, at_least=0.1).bounds(30) == (3, 30)
    assert Diversity(where={"sex": "F"}, at_most=0.29).bounds(100) == (0, 29)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"where": {}}, "where is missing"),
        ({"where": {"sex": "F"}}, "neither at_least nor at_most"),
        ({"where": {"sex": "F"}, "at_least": 5, "at_most": 4}, "at_least is 5"),
        ({"where": {"sex": "F"}, "at_least": 1.5}, "at_least is 1.5"),
        ({"generate": {"class": "average"}}, "names no column"),
        ({"generate": {"column": "sex", "class": "most"}}, "class is 'most'"),
        ({"generate": {"column": "sex", "klass": "average"}}, "the key 'klass'"),
        ({"generate": {"column": "sex"}, "at_least": 1}, "combined with generate"),
        ({"generate": {"column": "sex", "at_least": "x"}}, "at_least 'x'"),
        ({"generate": {"column": "sex", "at_least": 0.5}}, "at_least 0.5"),
    ],
)
def test_nonsense_is_refused_by_name(parameters, text):
    with pytest.raises(PolicyError, match=text):
        Diversity(**parameters)


COUNTS = {"a": 100, "b": 50, "c": 3}


def generated(class_: str, **more: float) -> list[tuple[str, int, int | None]]:
    asked = {"column": "race", "class": class_, **more}
    return list(ranges(asked, COUNTS, k=5))


def test_minimum_asks_for_k_rows_of_every_value_that_has_them():
    assert generated("minimum") == [("a", 5, None), ("b", 5, None)]
    assert generated("minimum", at_least=60) == [("a", 60, None), ("b", 50, None)]


def test_average_asks_for_about_as_many_rows_of_every_value():
    assert generated("average", tolerance=0.2) == [("a", 60, 90), ("b", 50, 90)]


def test_proportional_asks_in_proportion_to_the_source():
    assert generated("proportional", tolerance=0.2) == [("a", 80, 120), ("b", 40, 60)]
    kept = generated("proportional", tolerance=0.2, keep=0.5)
    assert kept == [("a", 40, 60), ("b", 20, 30)]


def policy(*requirements: dict[str, object], **more: object) -> dict[str, object]:
    return {
        "quasi": ["sex", "race"],
        "sensitive": ["illness"],
        "k": 2,
        "require": list(requirements),
        **more,
    }


def constraint(at_least: float, **where: str) -> dict[str, object]:
    return {"model": "diversity", "where": where, "at_least": at_least}


def test_any_published_table_can_be_checked():
    table = pa.table(
        {"sex": ["F", "F", "*", "*"], "race": list("aabb"), "illness": ["x"] * 4}
    )
    good = sf.check(table, **policy(constraint(2, sex="F")))
    assert good.holds
    assert good.verdicts[1]["measured"] == 2
    assert not sf.check(table, **policy(constraint(3, sex="F"))).holds


def test_a_share_is_of_rows_also_where_missing_cells_stand_for_anything():
    table = pa.table(
        {"sex": ["F"] * 4 + ["M"] * 4 + [None] * 4, "race": ["a"] * 12}
        | {"illness": ["x"] * 12}
    )
    asked = policy(constraint(0.3, sex="F"), missing_as="any")
    found = sf.check(table, **asked).verdicts[1]
    assert found["details"]["range"] == [4, 12]
    assert found["holds"]


def test_a_whole_number_is_what_cells_show_however_it_is_written():
    assert Diversity(where={"age": 30.0}, at_least=1).target == (("age", "30"),)
    assert Diversity(where={"age": 2.5}, at_least=1).target == (("age", "2.5"),)
    assert Diversity(where={"age": 1e20}, at_least=1).target == (("age", "1e+20"),)
    assert Diversity(where={"age": "30.0"}, at_least=1).target == (("age", "30.0"),)


def test_a_cell_that_only_contains_the_value_does_not_show_it():
    table = pa.table({"sex": ["{F|M}"] * 4, "race": list("aabb"), "illness": ["x"] * 4})
    assert not sf.check(table, **policy(constraint(1, sex="F"))).holds


def test_a_column_without_a_fitting_role_is_refused_by_name():
    asked = policy(constraint(1, height="tall"), insensitive=["height"])
    table = pa.table({**ROWS, "height": ["tall"] * 6})
    with pytest.raises(PolicyError, match="'height', which is neither"):
        sf.anonymize(table, **asked, algorithm="diva")


def test_generated_constraints_cannot_be_checked_without_the_private_record():
    asked = {"model": "diversity", "generate": {"column": "sex"}}
    with pytest.raises(DataError, match="generated from the source's values of 'sex'"):
        sf.check(pa.table(ROWS), **policy(asked))


def test_other_algorithms_refuse_to_promise_what_they_do_not_see_to():
    with pytest.raises(RefusedError, match="'mondrian' cannot promise how many rows"):
        sf.anonymize(
            pa.table(ROWS), **policy(constraint(1, sex="F")), algorithm="mondrian"
        )


def test_a_constraint_on_sensitive_values_is_decided_by_the_data():
    asked = policy(constraint(4, illness="flu"))
    release = sf.anonymize(pa.table(ROWS), **asked, algorithm="mondrian")
    assert release.verdicts[1]["measured"] == 4
    asked = policy(constraint(5, illness="flu"))
    with pytest.raises(InfeasibleError, match=r"needs 5 rows .* the source has 4"):
        sf.anonymize(pa.table(ROWS), **asked, algorithm="mondrian")


def test_too_many_sensitive_values_are_infeasible_with_both_numbers():
    most = {"model": "diversity", "where": {"illness": "flu"}, "at_most": 3}
    with pytest.raises(InfeasibleError, match=r"allows 3 rows .* the source has 4"):
        sf.anonymize(pa.table(ROWS), **policy(most), algorithm="mondrian")


def test_what_rows_left_out_can_meet_is_feasible():
    most = Diversity(where={"illness": "flu"}, at_most=3)
    request = request_for(Awkward("six", pa.table(ROWS), ROLES, {}), [most])
    whole = request.groups(Grouping(np.zeros(6, dtype=np.int32), 1))
    assert not most.feasibility(whole, removable=0).feasible
    assert most.feasibility(whole, removable=1).feasible


def test_diva_refuses_to_leave_rows_out_for_a_sensitive_value():
    most = {"model": "diversity", "where": {"illness": "flu"}, "at_most": 3}
    asked = policy(most) | {"algorithm": "diva", "max_suppressed": 0.5}
    with pytest.raises(RefusedError, match="has 4, and 'diva' leaves out no rows"):
        sf.anonymize(pa.table(ROWS), **asked)


def test_numbers_in_several_spellings_are_not_counted_by_their_text():
    rows = pa.table({"sex": list("FFMM"), "dose": ["1", "1.0", "1.0", "2"]})
    most = {"model": "diversity", "where": {"dose": "1.0"}, "at_most": 2}
    with pytest.raises(DataError, match="'dose' has 3 spellings of 2 numbers"):
        sf.anonymize(rows, quasi="sex", sensitive="dose", require=[most])


def test_the_hint_on_too_few_sensitive_values_raises_the_limit_they_exceed():
    both = {"model": "diversity", "where": {"illness": "flu"}}
    asked = {**both, "at_least": 5, "at_most": 0.1}
    with pytest.raises(InfeasibleError, match=r"needs 5 rows .* has 4") as error:
        sf.anonymize(pa.table(ROWS), **policy(asked), algorithm="mondrian")
    assert error.value.hint.startswith("Lower at_least to 4 and raise at_most to 4.")
    followed = {**both, "at_least": 4, "at_most": 4}
    sf.anonymize(pa.table(ROWS), **policy(followed), algorithm="mondrian")


@pytest.mark.parametrize("operator", ["generalize", "microaggregate"])
def test_operators_that_show_what_nobody_has_are_refused(operator):
    asked = policy(constraint(1, sex="F"), operator=operator, numbers="mean")
    with pytest.raises(RefusedError, match="may show a value that not all rows"):
        sf.anonymize(pa.table(ROWS), **asked, algorithm="diva")
