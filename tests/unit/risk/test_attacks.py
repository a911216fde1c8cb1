"""Attacks find what is there to be found, and equal their definitions."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato import registry
from sfumato.pipeline.attack_run import AttackRun
from sfumato.pipeline.pair import PairFiles
from sfumato.pipeline.private_record import Alignment
from sfumato.risk.attacks.success_interval import mean_interval, wilson

ROWS = 300
QUASI = ["age", "city", "job"]


def people(seed=0, rows=ROWS):
    """A table in which the sensitive column depends on the others."""
    draw = np.random.default_rng(seed)
    age = draw.integers(20, 80, rows)
    job = draw.integers(0, 6, rows)
    likely = (job + (age > 50)) % 5
    noise = draw.integers(0, 5, rows)
    return pd.DataFrame(
        {
            "age": age.astype(str),
            "city": [f"c{c}" for c in draw.integers(0, 8, rows)],
            "job": [f"j{j}" for j in job],
            "illness": [
                f"i{i}" for i in np.where(draw.random(rows) < 0.8, likely, noise)
            ],
            "income": (draw.integers(10, 99, rows) * 10).astype(str),
        }
    )


def policy(**settings):
    return sf.Policy.build(
        quasi=QUASI,
        sensitive=["illness", "income"],
        kinds={"age": "integer", "income": "integer"},
        **settings,
    )


def published(original, shown, asked, *, rows=None, beside=None, control=None):
    """Attack a table that was published from another one."""
    known = np.arange(len(shown)) if rows is None else np.asarray(rows)
    groups = pd.factorize(
        pd.Series(list(zip(*[shown[n].astype(str) for n in QUASI], strict=True)))
    )[0]
    files = PairFiles(
        policy=asked,
        original=pa.Table.from_pandas(original, preserve_index=False),
        published=pa.Table.from_pandas(shown, preserve_index=False),
        beside=beside or {},
        known_rows=Alignment(known, groups.astype(np.int32)),
    )
    others = None
    if control is not None:
        others = pa.Table.from_pandas(control, preserve_index=False)
    return AttackRun(files=files, control=others)


ON_RAW = [
    *("linkage", "distance-linkage", "singling-out", "guess", "homogeneity"),
    *("background-knowledge", "skewness", "similarity", "range", "inference"),
]


@pytest.fixture(scope="module")
def raw():
    table = people()
    return published(table, table, policy(k=1)).run(ON_RAW)


@pytest.mark.parametrize("name", ON_RAW)
def test_on_raw_data_every_attack_is_far_above_its_baseline(raw, name):
    best = max(
        (r for r in raw.results if r.name == name), key=lambda r: r.low - r.baseline
    )
    assert best.low > best.baseline + 0.1


def test_every_attack_is_tried_on_raw_data_or_on_a_table_made_for_it():
    made_for_it = {
        *("membership", "row-order", "identity", "definetti"),
        *("swap-reconstruction", "complementary-release", "minimality"),
    }
    assert {*ON_RAW, *made_for_it} >= set(registry.CATALOGUE["attacks"])


def test_members_of_a_raw_table_are_told_from_strangers():
    both = people(rows=2 * ROWS)
    mine, others = both[:ROWS], both[ROWS:].reset_index(drop=True)
    found = published(mine, mine, policy(k=1), control=others).run(["membership"])
    result = found["membership"]
    assert result.success == 1.0
    assert result.low > result.control + 0.3
    assert result.low > result.baseline + 0.3


def test_a_group_below_k_breaks_the_bound_of_linkage():
    table, asked = people(), policy(k=5)
    release = sf.anonymize(table, asked, insecure_seed=3)
    shown = release.table.to_pandas().astype(str)
    rows = release.source_rows
    # One person's cells are published as they are.
    shown.loc[0, QUASI] = table.loc[rows[0], QUASI].to_numpy()
    names = ["linkage", "distance-linkage"]
    found = published(table, shown, asked, rows=rows).run(names)
    assert not found.holds
    # The four who are left of the group; and the person, who is nearest to that row.
    assert found["linkage"].worst == 0.25
    assert found["distance-linkage"].worst == 1.0
    assert found["distance-linkage"].at_risk[0] == rows[0]


def test_an_untouched_release_keeps_the_bound_of_linkage():
    table, asked = people(), policy(k=5)
    release = sf.anonymize(table, asked, insecure_seed=3)
    found = sf.attack(release, table, "linkage", asked)
    assert found.holds
    assert found["linkage"].bound == 0.2


def test_a_homogeneous_group_is_found_and_breaks_the_bound():
    table = people()
    asked = policy(require=[{"model": "l-diversity", "l": 2, "on": "illness"}])
    release = sf.anonymize(table, asked, insecure_seed=3)
    shown = release.table.to_pandas().astype(str)
    first = (shown[QUASI] == shown.loc[0, QUASI]).all(axis=1)
    shown.loc[first, "illness"] = "i0"
    original = table.copy()
    original.loc[release.source_rows[first], "illness"] = "i0"
    found = published(original, shown, asked, rows=release.source_rows)
    result = found.run(["homogeneity"])["homogeneity"]
    assert result.exceeded
    assert result.success == pytest.approx(first.sum() / len(table))


def test_rows_in_the_order_of_the_original_are_found_by_their_order():
    table, asked = people(), policy(k=5)
    release = sf.anonymize(table, asked, insecure_seed=3)
    order = np.argsort(release.source_rows)
    shown = release.table.to_pandas().astype(str).iloc[order].reset_index(drop=True)
    rows = release.source_rows[order]
    kept = published(table, shown, asked, rows=rows).run(["row-order"])["row-order"]
    assert kept.success == 1.0


def test_rows_in_the_published_order_are_not_found_by_it():
    """One release may be off by 0.06 by chance, the mean of eight by 0.02."""
    table, asked = people(), policy(k=5)
    releases = [sf.anonymize(table, asked, insecure_seed=n) for n in range(8)]
    found = [sf.attack(r, table, "row-order", asked)["row-order"] for r in releases]
    mean = np.mean([each.success for each in found])
    assert abs(mean - found[0].baseline) < 0.02


def swapped(number):
    asked = policy(
        require=[{"model": "group-size", "k": 6}], publish={"operator": "swap"}
    )
    table = people()
    return asked, table, sf.anonymize(table, asked, insecure_seed=number)


def test_a_swap_by_a_small_seed_is_undone():
    asked, table, release = swapped(0)
    found = sf.attack(release, table, "swap-reconstruction", asked)
    result = next(r for r in found.results if r.column == "illness")
    assert result.success == 1.0
    assert result.baseline < 0.9


def test_a_swap_by_another_seed_is_not_undone():
    asked, table, release = swapped(10_000)
    found = sf.attack(release, table, "swap-reconstruction", asked)
    result = next(r for r in found.results if r.column == "income")
    assert result.success < result.baseline + 0.1


def test_definetti_learns_across_anatomized_groups():
    table = people(rows=1200)
    asked = policy(
        require=[{"model": "theta-diversity", "theta": 0.5, "on": "illness"}],
        publish={"operator": "anatomize"},
        algorithm="mdav",
    )
    release = sf.anonymize(table, asked, insecure_seed=5)
    found = sf.attack(release, table, "definetti", asked)
    result = next(r for r in found.results if r.column == "illness")
    assert result.low > result.baseline


def test_identity_is_learned_within_groups():
    table = people(rows=1500)
    release = sf.anonymize(table, policy(k=10), insecure_seed=5)
    result = sf.attack(release, table, "identity", policy(k=10))["identity"]
    assert result.low > result.baseline


def test_linkage_equals_its_definition():
    table, asked = people(rows=120), policy(k=3)
    release = sf.anonymize(table, asked, insecure_seed=3)
    shown = release.table.to_pandas().astype(str)

    def holds(cell, value):
        if cell in ("*", value):
            return True
        if cell.startswith("["):
            low, high = cell[1:-1].split(", ")
            closed = cell.endswith("]")
            return int(low) <= int(value) and (
                int(value) <= int(high) if closed else int(value) < int(high)
            )
        return cell.startswith("{") and value in cell[1:-1].split("|")

    chances = np.zeros(len(table))
    for at, row in enumerate(release.source_rows):
        person = table.loc[row]
        fits = [
            all(holds(cells[n], person[n]) for n in QUASI)
            for _, cells in shown.iterrows()
        ]
        chances[row] = fits[at] / sum(fits)
    found = sf.attack(release, table, "linkage", asked)["linkage"]
    assert found.success == pytest.approx(chances.mean())
    assert found.worst == pytest.approx(chances.max())


def test_guess_and_background_equal_their_definitions():
    table, asked = people(rows=200), policy(k=4)
    release = sf.anonymize(table, asked, insecure_seed=3)
    shown = release.table.to_pandas().astype(str)
    right, left = [], []
    for _, group in shown.groupby(QUASI)["illness"]:
        counts = group.value_counts()
        right += [counts.max()]
        for value in group:
            others = sorted(counts.drop(value), reverse=True)[1:]
            rest = max(sum(others) - 1, 0)
            left.append(counts[value] / (counts[value] + rest))
    found = sf.attack(release, table, ["guess", "background-knowledge"], asked)
    by_name = {r.name: r for r in found.results if r.column == "illness"}
    assert by_name["guess"].success == pytest.approx(sum(right) / len(table))
    assert by_name["background-knowledge"].success == pytest.approx(np.mean(left))


def test_without_alignment_cells_say_whose_a_row_may_be():
    table, asked = people(), policy(k=5)
    release = sf.anonymize(table, asked, insecure_seed=3)
    found = sf.attack(release.table, table, ["guess", "linkage"], asked)
    assert found["guess"].success > found["guess"].baseline
    assert found["linkage"].worst <= 0.2


def test_known_columns_that_are_in_neither_table_are_refused():
    table, asked = people(), policy(k=5)
    release = sf.anonymize(table, asked, insecure_seed=3)
    with pytest.raises(
        sf.errors.UsageError if hasattr(sf, "errors") else Exception
    ) as e:
        sf.attack(release, table, "linkage", asked, known=["shoe"])
    assert "'shoe' cannot be known" in str(e.value)


def test_fewer_known_columns_find_fewer_people():
    table, asked = people(), policy(k=2)
    release = sf.anonymize(table, asked, insecure_seed=3)
    every = sf.attack(release, table, "linkage", asked)["linkage"]
    fewer = sf.attack(release, table, "linkage", asked, known=["age"])["linkage"]
    assert fewer.success <= every.success
    assert fewer.bound is None


def test_a_sample_of_people_is_stated_and_repeatable():
    table, asked = people(), policy(k=2)
    release = sf.anonymize(table, asked, insecure_seed=3)
    one = sf.attack(release, table, "linkage", asked, sample=50, insecure_seed=1)
    two = sf.attack(release, table, "linkage", asked, sample=50, insecure_seed=1)
    assert one["linkage"].n == 50
    assert one["linkage"].success == two["linkage"].success


def test_the_interval_of_a_mean_follows_the_spread_of_the_figures():
    # 95% of means of 25 figures with the spread 2 are within 1.96 · 2 / 5.
    figures = np.array([1.0, 5.0] * 12 + [3.0])
    assert mean_interval(figures) == pytest.approx((2.216, 3.784), abs=5e-4)
    assert mean_interval(np.full(9, 0.25)) == (0.25, 0.25)
    assert mean_interval(np.array([0.0, 0.1]))[0] == 0.0


def test_the_interval_of_a_mean_holds_the_true_mean_in_95_of_100_samples():
    # A false alarm, 4 standard deviations of 2,000 samples, in 1 of 15,000 seeds.
    draw = np.random.default_rng(5)
    samples = draw.beta(2, 5, (2000, 200))
    held = [low <= 2 / 7 <= high for low, high in map(mean_interval, samples)]
    assert np.mean(held) == pytest.approx(0.95, abs=0.02)


def test_a_mean_shift_has_the_interval_of_a_mean():
    table = pd.DataFrame({"age": list("aabb"), "ill": list("xyxx")})
    policy = sf.Policy.build(quasi=["age"], sensitive=["ill"])
    shift = sf.attack(table, table, "skewness", policy)["skewness"]
    assert (shift.success, shift.low, shift.high) == pytest.approx((0.25,) * 3)


def test_wilsons_interval_is_the_published_one():
    # Newcombe 1998, table I: 81 of 263.
    assert wilson(81 / 263, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)


def test_results_show_no_cell_when_printed():
    table, asked = people(), policy(k=5)
    release = sf.anonymize(table, asked, insecure_seed=3)
    found = sf.attack(release, table, "guess", asked)
    assert (
        repr(found)
        == "<Attacked: 2 attacks; gain large, worst person large, nothing promised>"
    )


@pytest.mark.parametrize(
    "cell", ["{i0|i1}", "[100, 400]"], ids=["a set", "an interval"]
)
def test_attacks_on_generalized_sensitive_values_are_not_run(cell):
    original = people()
    column = "income" if cell.startswith("[") else "illness"
    shown = original.assign(**{column: [cell, *original[column][1:]]})
    found = published(original, shown, policy()).run(["homogeneity", "linkage"])
    assert found.skipped == {
        "homogeneity": f"'{column}' shows labels, intervals or sets, not values"
    }
    assert [result.name for result in found.results] == ["linkage"]


def test_attacks_on_a_suppressed_sensitive_column_are_not_run():
    original = people()
    shown = original.assign(illness="*")
    found = published(original, shown, policy()).run(["guess"])
    assert "'illness' shows" in found.skipped["guess"]
