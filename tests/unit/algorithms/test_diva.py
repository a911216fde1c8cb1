"""DIVA against trying everything, and what it says when there is no answer."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from time import sleep

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.algorithms.diva.constraint_targets import Sigma
from sfumato.algorithms.diva.diva import Diva, once
from sfumato.algorithms.diva.leftover_clusters import cover
from sfumato.data.seeds import Seed
from sfumato.errors import InfeasibleError, PolicyError, RefusedError, SearchError
from tests.unit.algorithms.diva_cases import Asked, Case, drawn, fewest_stars, stars_of

STRATEGIES = ("basic", "min-choice", "max-fan-out")
CASES = 60


@cache
def cases() -> list[tuple[Case, int | None]]:
    """Random cases, and the fewest stars by trying everything (None: infeasible)."""
    generator = np.random.default_rng(3)
    found = [drawn(generator, most_rows=7) for _ in range(CASES)]
    return [(case, fewest_stars(case)) for case in found]


@cache
def answers(strategy: str) -> list[object]:
    return [answer(case, strategy) for case, _ in cases()]


def answer(case: Case, strategy: str):
    algorithm = Diva(strategy=strategy, loss="stars", base="mondrian")
    try:
        return algorithm.solve(case.request()).grouping
    except InfeasibleError:
        return None


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_it_agrees_with_trying_everything_on_what_is_possible(strategy):
    found = [each is not None for each in answers(strategy)]
    assert found == [best is not None for _, best in cases()]


def test_some_cases_are_possible_and_some_are_not():
    possible = sum(best is not None for _, best in cases())
    assert 15 <= possible <= CASES - 15


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_answer_meets_k_and_all_constraints_by_definition(strategy):
    for (case, _), grouping in zip(cases(), answers(strategy), strict=True):
        if grouping is not None:
            _, met, smallest = stars_of(case, grouping)
            assert met
            assert smallest >= case.k


@pytest.mark.parametrize("strategy", ["min-choice", "max-fan-out"])
def test_half_of_the_answers_are_within_a_quarter_of_the_best(strategy):
    gaps = []
    for (case, best), grouping in zip(cases(), answers(strategy), strict=True):
        if grouping is not None and best:
            gaps.append(stars_of(case, grouping)[0] / best - 1)
    assert np.median(gaps) <= 0.25


LETTERS = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y"), ("c", "x"), ("c", "y")]


def refused(case: Case) -> str:
    with pytest.raises(InfeasibleError) as error:
        Diva(base="mondrian").solve(case.request())
    return str(error.value)


def test_a_range_below_k_is_infeasible_at_once_with_a_way_out():
    text = refused(Case(LETTERS, 3, [Asked({1: "x"}, 1, 2)]))
    assert "diversity (the 1st) on 'q1' needs 1 rows and allows 2" in text
    assert "3 or more rows" in text
    assert "Raise at_most to 3, set at_least to 0, or lower k to 2." in text


@pytest.mark.parametrize(
    ("value", "ways"),
    [
        ("a", "Lower at_least to 0, or raise at_most to 2."),
        ("b", "Lower at_least to 0."),
    ],
)
def test_shares_that_no_number_of_rows_meets_get_a_hint_that_helps(value, ways):
    """A tenth of six rows is less than one; a group shows two rows or more, or none."""
    settings = {"quasi": "q", "k": 2, "algorithm": "diva", "max_loss": 1}
    table = pa.table({"q": list("aaacdb")})
    asked = {"model": "diversity", "where": {"q": value}}
    tenth = asked | {"at_least": 0.1, "at_most": 0.1}
    with pytest.raises(InfeasibleError, match="needs 1 rows and allows 0") as error:
        sf.anonymize(table, require=[tenth], **settings)
    assert error.value.hint.startswith(ways)
    sf.anonymize(table, require=[asked | {"at_least": 0, "at_most": 0.1}], **settings)
    if "raise" in ways:
        two = asked | {"at_least": 0.1, "at_most": 2}
        sf.anonymize(table, require=[two], **settings)


def test_no_hint_asks_for_more_rows_than_have_the_value():
    """A half of three rows is no number of rows; nobody has the value."""
    settings = {"quasi": "q", "algorithm": "diva", "max_loss": 1, "max_suppressed": 1}
    asked = {"model": "diversity", "where": {"q": "z"}, "at_least": 0.5, "at_most": 0.5}
    with pytest.raises(InfeasibleError, match="needs 2 rows and allows 1") as error:
        sf.anonymize(pa.table({"q": list("aaa")}), require=[asked], **settings)
    assert error.value.hint.startswith("Lower at_least to 0.")


def test_no_hint_raises_a_limit_beyond_the_rows_that_have_the_value():
    settings = {"quasi": "q", "algorithm": "diva", "max_loss": 1, "k": 4}
    asked = {"model": "diversity", "where": {"q": "b"}, "at_least": 1, "at_most": 2}
    with pytest.raises(InfeasibleError, match="needs 1 rows and allows 2") as error:
        sf.anonymize(pa.table({"q": list("aaaaabbb")}), require=[asked], **settings)
    assert error.value.hint.startswith("Set at_least to 0, or lower k to 2.")


def test_a_hint_on_a_share_counts_the_rows_of_a_group():
    """Half of nine rows are asked for; one has the value, and a group has two."""
    settings = {"quasi": "q", "algorithm": "diva", "max_loss": 1, "k": 2}
    table = pa.table({"q": list("baaaaaaaaa")})
    asked = {"model": "diversity", "where": {"q": "b"}, "at_least": 0.5}
    with pytest.raises(InfeasibleError, match=r"needs 5 rows .* has 1") as error:
        sf.anonymize(table, require=[asked], max_suppressed=0.1, **settings)
    assert error.value.hint.startswith("Lower at_least to 0.")
    zero = {**asked, "at_least": 0}
    sf.anonymize(table, require=[zero], max_suppressed=0.1, **settings)


def test_a_value_that_fewer_than_k_rows_have_is_infeasible_at_once():
    text = refused(Case(LETTERS, 3, [Asked({0: "a"}, 1, 6)]))
    assert "needs 1 rows and has 2 in the source" in text
    assert "Set at_least to 0, or lower k to 2." in text


def test_more_rows_than_there_are_is_infeasible_at_once():
    text = refused(Case(LETTERS, 2, [Asked({1: "x"}, 4, 6)]))
    assert "needs 4 rows that show its values; the source has 3" in text
    assert "Lower at_least to 3." in text


def test_two_targets_that_cannot_share_a_group_need_room_for_both():
    cells = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "z"), ("c", "z")]
    text = refused(Case(cells, 2, [Asked({0: "a"}, 2, 5), Asked({1: "x"}, 2, 5)]))
    assert (
        "diversity (the 1st) on 'q0' needs 2 rows and diversity (the 2nd) on 'q1' 2"
        in text
    )
    assert "together 3 rows have their values" in text
    assert "the 1 rows they share are too few for a group of 2" in text
    assert "Lower at_least of the 1st to 0" in text


def test_what_one_constraint_needs_another_that_contains_it_must_allow():
    cells = [("a", "x")] * 4 + [("b", "y")] * 2
    asked = [Asked({0: "a", 1: "x"}, 4, 6), Asked({0: "a"}, 0, 3)]
    text = refused(Case(cells, 2, asked))
    assert (
        "needs 4 rows, all of which count for diversity (the 2nd) on 'q0', which allows 3"
        in text
    )
    assert "Raise at_most of the 2nd to 4, or lower at_least of the 1st to 3." in text


TANGLED = Case(
    [("a", "x"), ("a", "x"), ("a", "y"), ("b", "x"), ("b", "z"), ("c", "z")],
    2,
    [Asked({0: "a"}, 3, 6), Asked({1: "x"}, 3, 6)],
)
"""Each target has three rows, two of them in common: one loses its third."""


def test_what_only_a_search_can_show_names_the_constraints_in_conflict():
    text = refused(TANGLED)
    assert "every way was tried" in text
    assert (
        "in conflict: diversity (the 1st) on 'q0'; diversity (the 2nd) on 'q1'" in text
    )


def test_a_search_out_of_budget_does_not_say_that_there_is_no_answer():
    algorithm = Diva(base="mondrian", budget=500)
    with pytest.raises(SearchError, match="whether there is a release is not known"):
        algorithm.solve(TANGLED.request())


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_parting_one_set_of_rows_in_millions_of_ways_spends_the_budget(strategy):
    """17 of 18 rows share a value and must show it: five million ways, none good."""
    rows = [(f"i{n:02d}", "same") for n in range(17)] + [("i17", "other")]
    case = Case(rows, 5, [Asked({1: "same"}, 17, 18)])
    algorithm = Diva(strategy=strategy, budget=300_000)
    with pytest.raises(SearchError, match="Not found within the budget of 300,000"):
        algorithm.solve(case.request())


def test_hiding_in_many_columns_spends_the_budget():
    """Every cluster may hide any of 2^16 sets of columns."""
    rows = [("a", *["x"] * 16)] * 9 + [("b", *["x"] * 16)]
    bounds = [Asked({column: "x"}, 0, 1) for column in range(1, 17)]
    case = Case(rows, 2, [Asked({0: "a"}, 9, 9), *bounds])
    with pytest.raises(SearchError, match="within the budget of 300,000"):
        Diva(budget=300_000).solve(case.request())


def test_rows_that_no_group_takes_are_counted():
    case = Case([("a",), ("b",), ("a",), ("a",)], 3, [Asked({0: "a"}, 2, 3)])
    assert "1 rows were left over that fit no group" in refused(case)


def test_errors_name_no_value():
    text = refused(Case([("secret", "x")] * 3, 2, [Asked({0: "secret"}, 4, 5)]))
    assert "secret" not in text


def test_left_over_rows_join_a_cluster_that_they_fit():
    case = Case([("a", "x")] * 3, 2, [Asked({0: "a"}, 2, 3)])
    grouping = Diva(base="mondrian").solve(case.request()).grouping
    assert grouping.count == 1


def test_left_over_rows_without_a_place_make_the_search_go_on():
    """Two of four would leave two rows with another value: all is as it should be."""
    case = Case([("a",), ("a",), ("a",), ("b",)], 2, [Asked({0: "a"}, 2, 2)])
    grouping = Diva(base="mondrian").solve(case.request()).grouping
    assert sorted(grouping.sizes().tolist()) == [2, 2]
    assert stars_of(case, grouping) == (2, True, 2)


def test_values_beyond_an_upper_bound_are_hidden_in_as_few_rows_as_needed():
    case = Case([("a",)] * 6 + [("b",)] * 6, 2, [Asked({0: "a"}, 2, 4)])
    grouping = Diva(base="mondrian", loss="stars").solve(case.request()).grouping
    stars, met, _ = stars_of(case, grouping)
    assert met
    assert stars <= 4


def test_a_cover_is_hardly_larger_than_asked():
    assert sorted(cover(np.array([5, 3, 2, 9]), 5)) == [0]
    assert sorted(cover(np.array([5, 3, 3]), 6)) == [0, 1]
    assert sorted(cover(np.array([7, 7]), 3)) == [0]


def wide(rows: int) -> pa.Table:
    """Many rows, two columns that constraints name and one that none does."""
    generator = np.random.default_rng(7)
    return pa.table(
        {
            "sex": generator.choice(["F", "M"], rows).tolist(),
            "race": generator.choice(list("abcd"), rows, p=[0.7, 0.2, 0.07, 0.03]),
            "age": generator.integers(18, 90, rows).tolist(),
            "illness": generator.choice(["flu", "gout", "none"], rows).tolist(),
        }
    )


def released(*, operator: str = "suppress", require: list[dict], **options):
    return sf.anonymize(
        wide(600),
        quasi=["sex", "race", "age"],
        sensitive=["illness"],
        k=5,
        require=require,
        algorithm={"name": "diva", "base": "mondrian", **options},
        operator=operator,
        seed=Seed.guessable(1),
    )


def shown(release, column: str, value: str) -> int:
    return release.table.column(column).to_pylist().count(value)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_generated_constraints_are_met_for_every_value(strategy):
    asked = [
        {"model": "diversity", "generate": {"column": name, "class": "proportional"}}
        for name in ("sex", "race")
    ]
    release = released(require=asked, strategy=strategy)
    for name in ("sex", "race"):
        cells = wide(600).column(name).to_pylist()
        for value in set(cells):
            assert shown(release, name, value) >= 0.8 * cells.count(value)


def test_two_sided_ranges_hold_with_both_operators():
    asked = {
        "model": "diversity",
        "generate": {"column": "race", "class": "average", "tolerance": 0.5},
    }
    for operator in ("suppress", "generalize"):
        release = released(require=[asked], operator=operator)
        assert all(verdict["holds"] for verdict in release.verdicts)


def test_other_models_hold_in_the_diverse_clusters_too():
    asked = [
        {"model": "l-diversity", "l": 3},
        {"model": "t-closeness", "t": 0.45},
        {"model": "diversity", "where": {"race": "d"}, "at_least": 10},
    ]
    release = released(require=asked)
    assert shown(release, "race", "d") >= 10
    assert all(verdict["holds"] for verdict in release.verdicts)


def test_components_without_common_rows_are_colored_apart():
    asked = [
        {"model": "diversity", "where": {"race": value}, "at_least": 10}
        for value in "abc"
    ]
    facts = released(require=asked).audit["report"]["algorithm"]
    assert facts["components"] == 3


def test_hidden_values_show_their_parent_where_there_is_a_hierarchy(tmp_path):
    lines = ["a,many,*", "b,many,*", "c,few,*", "d,few,*"]
    (tmp_path / "race.csv").write_text("\n".join(lines), encoding="utf-8")
    release = sf.anonymize(
        wide(600),
        quasi=["sex", "race", "age"],
        k=5,
        drop=["illness"],
        require=[{"model": "diversity", "where": {"race": "a"}, "at_most": 100}],
        algorithm={"name": "diva", "base": "mondrian"},
        hierarchies={"race": "race.csv"},
        base=tmp_path,
        seed=Seed.guessable(1),
    )
    assert shown(release, "race", "a") <= 100
    assert shown(release, "race", "many") >= 200
    assert shown(release, "race", "*") < 100


@pytest.mark.parametrize("base", ["diva", "dp-anonym"])
def test_a_base_that_makes_no_sense_is_refused(base):
    with pytest.raises(PolicyError, match=f"'base' is '{base}'"):
        released(require=[], base=base)


@pytest.mark.parametrize("base", ["datafly", "oka", "best"])
def test_any_algorithm_may_group_the_rest(base):
    asked = [{"model": "diversity", "where": {"race": "d"}, "at_least": 5}]
    release = released(require=asked, base=base)
    assert all(verdict["holds"] for verdict in release.verdicts)


def small(columns: dict[str, list[object]], *, require: list[dict], **more: object):
    settings = {
        "quasi": [name for name in columns if name != "illness"],
        "sensitive": ["illness"] if "illness" in columns else [],
        "k": 2,
        "require": require,
        "algorithm": {"name": "diva", "base": "mondrian"},
        "seed": Seed.guessable(1),
    }
    return sf.anonymize(pa.table(columns), **(settings | more))


def test_of_a_group_that_shows_a_target_only_rows_with_its_sensitive_value_count():
    """One of five women of race b has x, and up to three women may: no contradiction."""
    columns = {
        "sex": ["F"] * 10 + ["M"] * 10,
        "race": (["b"] * 5 + ["a"] * 5) * 2,
        "illness": ["x", "y", "y", "y", "y"] * 4,
    }
    inner = {"where": {"sex": "F", "race": "b", "illness": "x"}, "at_least": 1}
    outer = {"where": {"sex": "F", "illness": "x"}, "at_most": 3}
    asked = [{"model": "diversity", **each} for each in (inner, outer)]
    release = small(columns, require=asked, k=5)
    assert all(verdict["holds"] for verdict in release.verdicts)


def test_a_left_over_row_joins_no_cluster_where_its_sensitive_value_is_too_much():
    columns = {"sex": ["F"] * 5, "illness": ["y"] * 4 + ["x"]}
    asked = [
        {"model": "diversity", "where": {"sex": "F"}, "at_least": 4},
        {"model": "diversity", "where": {"sex": "F", "illness": "x"}, "at_most": 0},
    ]
    with pytest.raises(InfeasibleError, match="left over"):
        small(columns, require=asked)


def test_what_is_infeasible_is_so_with_all_rows_kept():
    asked = [{"model": "diversity", "where": {"sex": "F"}, "at_least": 3}]
    with pytest.raises(InfeasibleError, match="No table with all 4 rows in groups"):
        small({"sex": ["F"] * 3 + ["M"]}, require=asked, max_suppressed=0.25)


def test_rows_with_a_sensitive_value_that_must_be_shown_are_not_left_out():
    columns = {
        "sex": ["F"] * 30 + ["M"],
        "age": [1] * 30 + [99],
        "illness": ["x"] * 15 + ["y"] * 15 + ["z"],
    }
    asked = [{"model": "diversity", "where": {"illness": "z"}, "at_least": 1}]
    release = small(columns, require=asked, k=3, max_suppressed=0.25, max_loss=1)
    assert shown(release, "illness", "z") == 1


@pytest.mark.parametrize(
    ("women", "more", "relaxed"),
    [
        (2, {"at_least": 8}, 0),
        (4, {"at_least": 0.8}, 4),
        (5, {"at_least": 0.8, "at_most": 4}, 4),
    ],
)
def test_a_lower_bound_is_not_relaxed_to_what_is_forbidden(women, more, relaxed):
    asked = [{"model": "diversity", "where": {"sex": "F"}, **more}]
    columns = {"sex": ["F"] * women + ["M"] * (10 - women)}
    removable = 0.1 if "at_most" not in more else 0.0
    with pytest.raises(InfeasibleError, match=f"has {women}") as error:
        small(columns, require=asked, k=3, max_suppressed=removable)
    assert error.value.hint.startswith(f"Lower at_least to {relaxed}.")


def test_a_base_that_refuses_the_requirements_is_refused_before_any_work():
    asked = [
        {"model": "t-closeness", "t": 0.3},
        {"model": "diversity", "where": {"race": "d"}, "at_least": 5},
    ]
    with pytest.raises(RefusedError, match="klt"):
        released(require=asked, base="klt")


def test_the_plan_is_made_once_for_all_parts_of_the_graph():
    """Or the budget, and with it the answer, would depend on the threads' luck."""
    calls = []

    def make():
        calls.append(1)
        sleep(0.05)
        return calls

    plan = once(make)
    with ThreadPoolExecutor(max_workers=4) as pool:
        list(pool.map(lambda _: plan(), range(4)))
    assert len(calls) == 1


def test_overlaps_are_counted_however_many_rows_at_a_time(monkeypatch):
    monkeypatch.setattr("sfumato.algorithms.diva.constraint_targets.AT_A_TIME", 2)
    sigma = Sigma.of(TANGLED.request(), k=2)
    assert sigma.overlaps.tolist() == [[3, 2], [2, 3]]


@pytest.mark.parametrize("base", ["harvest", "best"])
def test_rows_that_lack_a_value_are_compared_with_a_table_that_has_it(base):
    """All rows but those of race b lack the illness that comes last."""
    columns = {
        "race": ["a"] * 40 + ["b"] * 10,
        "age": [row % 7 for row in range(50)],
        "illness": ["x", "y"] * 20 + ["x", "z"] * 5,
    }
    asked = [
        {"model": "t-closeness", "t": 0.6},
        {"model": "diversity", "where": {"race": "a"}, "at_least": 20},
    ]
    chosen = {"name": "diva", "base": base}
    release = small(columns, require=asked, algorithm=chosen)
    assert all(verdict["holds"] for verdict in release.verdicts)
