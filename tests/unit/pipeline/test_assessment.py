"""All figures of a release beside its original, whoever made it."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import DataError, UsageError
from sfumato.pipeline.private_notes import OUTSIDE, PRIVATE

ORIGINAL = {
    "age": ["20", "22", "30", "35", "41", "60"],
    "city": ["Bari", "Bari", "Rome", "Pisa", "Rome", "Pisa"],
    "illness": ["flu", "cold", "flu", "flu", "cold", "flu"],
}
PUBLISHED = {
    "age": ["20-22", "20-22", "30-35", "30-35", "[41, 60]", "[41, 60]"],
    "city": ["Bari", "Bari", "Pisa,Rome", "Rome,Pisa", "*", "*"],
    "illness": ORIGINAL["illness"],
}
ROLES = {"quasi": ["age", "city"], "sensitive": "illness", "k": 2}


def assess(published=PUBLISHED, original=ORIGINAL, **more):
    return sf.assess(pa.table(original), pa.table(published), **(ROLES | more))


def big_table(rows=400):
    random = np.random.default_rng(5)
    return pa.table(
        {
            "age": random.integers(18, 80, rows),
            "city": random.choice(["Bari", "Pisa", "Rome"], rows),
            "illness": random.choice(["flu", "cold", "gout"], rows),
        }
    )


@pytest.mark.parametrize("algorithm", ["best", "mondrian", "optimal"])
def test_our_own_releases_measure_as_their_manifests_say(algorithm):
    release = sf.anonymize(
        big_table(),
        quasi=["age", "city"],
        sensitive="illness",
        k=5,
        algorithm=algorithm,
        hierarchies={"age": {"intervals": [5, 20]}},
        insecure_seed=1,
    )
    found = sf.assess(big_table(), release)
    for name, value in release.utility.items():
        if name != "ncp_per_row":
            assert found.utility[name] == pytest.approx(value), name
    assert found.utility["false_cells"] == 0.0
    assert found.risk["k"] == release.verdicts[0]["measured"]
    assert found.risk["after"]["prosecutor"]["highest"] == pytest.approx(
        release.risk["prosecutor_max"]
    )


@pytest.mark.parametrize("operator", ["swap", "anatomize", "microaggregate"])
def test_every_form_of_our_own_is_recognized(operator):
    more = {} if operator == "microaggregate" else {"require": [GROUP_SIZE]}
    more |= {"k": 3} if operator == "microaggregate" else {}
    release = sf.anonymize(
        big_table(),
        quasi=["age", "city"],
        sensitive="illness",
        operator=operator,
        insecure_seed=1,
        **more,
    )
    found = sf.assess(big_table(), release)
    assert found.form == {"swap": "swapped"}.get(operator, f"{operator}d")
    assert found.unrecognized_cells == {}
    assert all(each["holds"] for each in found.risk["requirements"])


GROUP_SIZE = {"model": "group-size", "k": 3}


def test_an_anatomized_pair_is_read_from_its_two_files(tmp_path):
    release = sf.anonymize(
        big_table(),
        quasi=["age", "city"],
        sensitive="illness",
        operator="anatomize",
        require=[{"model": "l-diversity", "l": 2}],
        insecure_seed=1,
    )
    release.save(tmp_path / "out")
    found = sf.assess(
        big_table(),
        tmp_path / "out/data.csv",
        quasi=["age", "city"],
        sensitive="illness",
    )
    assert found.form == "anatomized"
    assert found.risk["sensitive"]["illness"]["l"] >= 2


def test_the_policy_is_judged_on_the_cells_of_other_tools():
    found = assess(k=3)
    (verdict,) = found.risk["requirements"]
    assert not verdict["holds"]
    assert verdict["measured"] == 2
    assert verdict["offending_groups"] == 3


def test_k_l_theta_and_t_are_measured_without_being_asked_for():
    risk = assess().risk
    assert risk["k"] == 2
    assert risk["sensitive"]["illness"] == {
        "l": 1,
        "theta": 1.0,
        "t": pytest.approx(1 / 3),
    }


def test_risk_is_told_before_and_after():
    risk = assess().risk
    assert risk["before"]["prosecutor"]["highest"] == 1.0
    assert risk["before"]["sample_uniques"] == 6
    assert risk["after"]["prosecutor"]["highest"] == 0.5
    assert risk["after"]["sample_uniques"] == 0


def test_the_journalist_knows_a_share_of_the_population():
    risk = assess(fraction=0.1).risk
    assert risk["after"]["journalist"]["highest"] == pytest.approx(0.1 / 2)
    assert risk["after"]["population_uniques"]["dankar"] == 0.0


def test_the_journalist_counts_the_population_who_match(tmp_path):
    people = tmp_path / "people.csv"
    people.write_text(
        "age,city\n20,Bari\n21,Bari\n22,Bari\n30,Rome\n60,Pisa\n45,Oslo\n"
    )
    risk = assess(population=people).risk
    # Three people match the first group. Fewer match the others than are in them.
    assert risk["after"]["journalist"]["mean"] == pytest.approx(
        (1 / 3 + 1 / 2 + 1 / 2) / 3
    )


def test_special_uniques_are_scored_on_request():
    assert "special_uniques" not in assess().risk
    assert assess(suda=True).risk["special_uniques"]["special_uniques"] == 6


def test_the_error_of_a_workload_is_measured(tmp_path):
    queries = tmp_path / "queries.toml"
    queries.write_text("version = 1\n[[query]]\nwhere = {age = {from = 20, to = 20}}\n")
    error = assess(workload=queries).utility["workload"]
    # Each of the two rows 20-22 counts a third; one row is true.
    assert error["mean_absolute"]["value"] == pytest.approx(1 - 2 / 3)


def test_unrecognized_cells_are_counted():
    cells = PUBLISHED | {"age": ["young", *PUBLISHED["age"][1:]]}
    assert assess(cells).unrecognized_cells == {"age": 1}


def test_cells_without_a_value_of_the_original_are_counted():
    cells = PUBLISHED | {"age": ["[90, 99]", *PUBLISHED["age"][1:]]}
    assert assess(cells).risk["unfounded_cells"] == {"age": 1}


def test_identifiers_that_were_starred_are_not_withheld_columns():
    names = {"name": list("abcdef")}
    starred = assess(
        PUBLISHED | {"name": ["*"] * 6}, ORIGINAL | names, identifier="name"
    )
    kept = assess(PUBLISHED | names, ORIGINAL | names, identifier="name")
    assert starred.risk["withheld_columns_present"] == []
    assert kept.risk["withheld_columns_present"] == ["name"]


def test_synthetic_rows_are_measured_without_their_people():
    found = assess(form="synthetic")
    assert "after" not in found.risk
    assert found.risk["requirements"] == []
    assert found.utility["not_measured"]["ncp"] == (
        "needs rows that stand for people of the original"
    )
    assert "kl_divergence" in found.utility


def test_a_swapped_table_without_its_record_is_not_judged():
    found = assess(ORIGINAL, form="swapped")
    assert found.risk["requirements"] == []
    assert "A swapped table does not show its groups: give --rows to judge it." in (
        found.notes
    )


def test_figures_of_a_private_release_are_outside_of_its_guarantee():
    private = {"model": "differential-privacy", "epsilon": 1.0}
    found = assess(k=None, require=[private])
    assert OUTSIDE in found.notes


def test_the_first_thing_a_record_says_is_that_it_is_private():
    record = assess().record()
    assert next(iter(record.items())) == ("private", PRIVATE)
    assert {"utility", "risk", "form", "unrecognized_cells"} <= set(record)


def test_a_record_is_valid_json():
    from sfumato.data.json_records import dump

    assert json.loads(dump(assess().record()))["form"] == "generalized"


def test_an_assessment_prints_no_cell():
    assert repr(assess()) == "<Assessment: 6 published rows, generalized>"


def test_an_unknown_form_is_refused():
    with pytest.raises(UsageError, match="form is none of the forms") as caught:
        assess(form="shuffled")
    assert "'swapped'" in caught.value.hint


def test_a_fraction_above_one_is_refused():
    with pytest.raises(UsageError, match="fraction must be above 0 and at most 1"):
        assess(fraction=2.0)


def test_tables_of_different_length_are_not_in_the_same_order():
    short = {name: cells[:4] for name, cells in PUBLISHED.items()}
    with pytest.raises(DataError, match="6 rows and the published table 4"):
        assess(short, same_order=True)


def test_a_published_file_may_have_another_delimiter(tmp_path):
    lines = zip(*PUBLISHED.values(), strict=True)
    text = "\n".join([";".join(PUBLISHED), *(";".join(line) for line in lines)])
    (tmp_path / "other.csv").write_text(text + "\n")
    found = sf.assess(
        pa.table(ORIGINAL), tmp_path / "other.csv", delimiter=",", **ROLES
    )
    assert found.published_rows == 6


def test_more_rows_than_people_are_refused():
    twice = {name: cells * 2 for name, cells in PUBLISHED.items()}
    with pytest.raises(DataError, match="12 rows, the original 6"):
        assess(twice)
    assert assess(twice, form="synthetic").published_rows == 12


def test_an_original_without_rows_is_refused():
    empty = pa.table(ORIGINAL).slice(0, 0)
    with pytest.raises(DataError, match="The original has no rows"):
        sf.assess(empty, pa.table(PUBLISHED), **ROLES)


def test_tables_without_quasi_identifiers_are_refused():
    with pytest.raises(UsageError, match="which columns are quasi-identifiers"):
        sf.assess(pa.table(ORIGINAL), pa.table(PUBLISHED))


def test_a_release_directory_brings_its_record_along(tmp_path):
    release = sf.anonymize(
        big_table(), quasi=["age", "city"], sensitive="illness", k=5, insecure_seed=1
    )
    release.save(tmp_path / "out")
    found = sf.assess(
        big_table(), tmp_path / "out", quasi=["age", "city"], sensitive="illness"
    )
    assert found.utility["false_cells"] == 0.0
    assert found.utility["ncp"] == pytest.approx(release.utility["ncp"])
