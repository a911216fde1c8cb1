"""An original and a published table, made by Sfumato or not, as one pair."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import DataError
from sfumato.io.read import read_source
from sfumato.pipeline.pair import PairFiles
from sfumato.policy import Policy
from sfumato.risk.table_pair import PublishedForm

ORIGINAL = {
    "name": ["a", "b", "c", "d", "e", "f"],
    "age": ["20", "22", "30", "35", "41", "60"],
    "city": ["Bari", "Bari", "Rome", "Pisa", "Rome", "Pisa"],
    "illness": ["flu", "cold", "flu", "flu", "cold", "flu"],
}


def policy(**more):
    columns = {
        "name": {"role": "identifier"},
        "age": {"role": "quasi"},
        "city": {"role": "quasi"},
        "illness": {"role": "sensitive"},
    }
    for name, section in more.pop("columns", {}).items():
        columns[name] = columns.get(name, {}) | section
    return Policy.model_validate({"version": 1, "columns": columns, **more})


def pair_of(published, *, original=ORIGINAL, asked=None, **more):
    files = PairFiles(
        policy=asked or policy(),
        original=pa.table(original),
        published=pa.table(published),
        **more,
    )
    return files.pair()


def published(ages, cities, illness=None, **more):
    told = ORIGINAL["illness"][: len(ages)] if illness is None else illness
    return {"age": ages, "city": cities, "illness": told, **more}


PLAIN = published(
    ["20-22", "20-22", "[30, 35]", "[30-35]", "[41, 61[", "41~60"],
    ["Bari", "Bari", "Rome,Pisa", "Pisa,Rome", "*", "*"],
)


def test_rows_whose_cells_say_the_same_are_one_group():
    assert pair_of(PLAIN).group_sizes.tolist() == [2, 2, 2]


def test_every_cell_of_other_tools_is_recognized():
    assert pair_of(PLAIN).unrecognized == {}


def test_a_cell_that_says_nothing_known_is_counted():
    cells = published(["20-22", "young", "young"], ["Bari", "Bari", "Oslo"])
    assert pair_of(cells).unrecognized == {"age": 2, "city": 1}


def test_an_interval_that_holds_no_value_of_the_original_is_counted():
    cells = published(["20-22", "[90, 99]"], ["Bari", "Bari"])
    pair = pair_of(cells)
    assert pair.unrecognized == {}
    assert pair.published["age"].unfounded == 1


def test_identifiers_are_not_compared():
    assert set(pair_of(PLAIN | {"name": ["*"] * 6}).published) == {
        "age",
        "city",
        "illness",
    }


def test_a_dropped_quasi_identifier_shows_nothing():
    pair = pair_of({"age": PLAIN["age"], "illness": PLAIN["illness"]})
    assert pair.dropped == ("city",)
    assert pair.published["city"].reading.ncp().tolist() == [1.0]


def test_rows_that_show_no_quasi_identifier_are_hidden():
    cells = published(["20-22", "*", "*"], ["Bari", "*", "Bari"])
    assert pair_of(cells).hidden.tolist() == [False, True, False]


def test_more_missing_cells_than_before_are_suppressed_ones():
    pair = pair_of(published(["20", None], ["Bari", "Bari"]))
    assert pair.published["age"].reading.sizes.tolist() == [1, 6]


def test_missing_cells_of_the_original_stay_missing():
    original = ORIGINAL | {"age": ["20", "22", None, "35", "41", "60"]}
    pair = pair_of(published(["20", None], ["Bari", "Rome"]), original=original)
    assert pair.published["age"].reading.sizes.tolist() == [1, 1]


def test_two_bounds_are_one_interval():
    cells = {"age_from": ["20", "30"], "age_to": ["22", "35"], "city": ["*", "*"]}
    pair = pair_of(cells)
    assert pair.published["age"].reading.sizes.tolist() == [2, 2]
    assert pair.sensitive == ()


def test_a_row_with_a_count_stands_for_so_many_rows():
    cells = published(["20-22", "30-35"], ["Bari", "Pisa,Rome"], count=["2", "3"])
    pair = pair_of(cells)
    assert pair.count_column == "count"
    assert pair.rows_out == 5
    assert pair.group_sizes.tolist() == [2, 3]


def test_a_count_column_of_the_original_counts_nothing():
    original = ORIGINAL | {"count": ["1"] * 6}
    asked = policy(columns={"count": {"role": "insensitive"}})
    cells = published(["20-22", "30-35"], ["Bari", "*"], count=["2", "2"])
    assert pair_of(cells, original=original, asked=asked).rows_out == 2


def test_counts_of_more_rows_than_there_are_count_nothing():
    cells = published(["20-22", "30-35"], ["Bari", "*"], count=["20", "2"])
    assert pair_of(cells).count_column is None


def test_a_new_column_that_numbers_rows_is_found():
    assert pair_of(PLAIN | {"index": [5, 0, 2, 1, 4, 3]}).row_numbers == ("index",)


def test_a_new_column_with_repeated_numbers_numbers_no_rows():
    assert pair_of(PLAIN | {"score": [1, 1, 2, 2, 3, 3]}).row_numbers == ()


@pytest.mark.parametrize("printed", [False, True])
def test_lists_of_one_text_are_read_as_that_text(printed):
    ages = [[age] for age in PLAIN["age"]]
    cells = PLAIN | {"age": [str(age) for age in ages] if printed else ages}
    assert pair_of(cells).published["age"].unrecognized == 0


def test_numbers_that_the_original_lacks_are_means():
    cells = published(["21", "21", "32.5", "32.5"], ["Bari", "Bari", "Rome", "Rome"])
    assert pair_of(cells).form is PublishedForm.MICROAGGREGATED


def test_cells_that_hold_the_values_are_generalized():
    assert pair_of(PLAIN).form is PublishedForm.GENERALIZED


def test_the_policy_states_that_values_were_swapped():
    asked = policy(publish={"operator": "swap"})
    assert pair_of(PLAIN, asked=asked).form is PublishedForm.SWAPPED


def test_the_stated_form_comes_first():
    pair = pair_of(PLAIN, form=PublishedForm.SYNTHETIC)
    assert pair.form is PublishedForm.SYNTHETIC


def test_an_anatomized_group_has_the_values_of_its_second_table():
    people = {
        "age": ORIGINAL["age"][:4],
        "city": ORIGINAL["city"][:4],
        "group": ["7", "3", "7", "3"],
    }
    values = {
        "group": ["3", "7", "7"],
        "illness": ["cold", "flu", "cold"],
        "count": ["2", "1", "1"],
    }
    pair = pair_of(people, beside={"sensitive": pa.table(values)})
    assert pair.form is PublishedForm.ANATOMIZED
    assert pair.groups.tolist() == [1, 0, 1, 0]
    illness = pair.published["illness"]
    leaves = illness.reading.leaf[illness.codes]
    labels = [illness.reading.axis.labels[leaf] for leaf in leaves]
    assert labels[1] == labels[3] == "cold"
    assert sorted([labels[0], labels[2]]) == ["cold", "flu"]


def test_a_table_without_rows_is_refused():
    empty = pa.table({"age": pa.array([], pa.string())})
    with pytest.raises(DataError, match="The published table has no rows"):
        pair_of(empty)


@pytest.fixture
def release(tmp_path):
    asked = policy(require=[{"model": "k-anonymity", "k": 2}])
    made = sf.anonymize(pa.table(ORIGINAL), asked, insecure_seed=1)
    made.save(tmp_path / "out")
    return asked, tmp_path / "out"


def test_the_private_record_says_which_row_is_which(release):
    asked, place = release
    pair = pair_of(
        read_source(place / "data.csv"),
        asked=asked,
        record=place / "private/rows.parquet",
    )
    for name in pair.quasi:
        column, codes = pair.published[name], pair.original[name].codes
        rows = np.arange(pair.rows_out)
        assert column.covers(rows, codes[pair.source_row]).all()


def test_the_record_of_another_table_is_refused(release):
    asked, place = release
    with pytest.raises(DataError, match="has 6 published rows; the table has 3"):
        pair_of(
            read_source(place / "data.csv").slice(0, 3),
            asked=asked,
            record=place / "private/rows.parquet",
        )


def test_persons_and_weights_of_the_original_are_kept():
    original = ORIGINAL | {"person": ["p", "p", "q", "q", "r", "s"], "w": [1, 2] * 3}
    sections = {"person": {"role": "subject"}, "w": {"role": "weight"}}
    pair = pair_of(PLAIN, original=original, asked=policy(columns=sections))
    assert pair.subject.tolist() == [0, 0, 1, 1, 2, 3]
    assert pair.weights.tolist() == [1.0, 2.0] * 3
