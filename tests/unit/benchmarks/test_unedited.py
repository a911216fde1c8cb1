"""Unedited proposals are judged by what they publish, before and after a change."""

from __future__ import annotations

import csv
import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.outsider_tables import (
    PACKAGE,
    Cells,
    KnownTable,
    known_tables,
)
from benchmarks.unedited_outcome import (
    Outcome,
    Proposed,
    load,
    measure,
    rarest,
    save,
    unique_share,
)
from benchmarks.unedited_page import page, shortfalls

RECORDED = Path(__file__).parents[3] / "benchmarks" / "results" / "init" / "latest.json"
POLICY = """
version = 1

[columns.name]
role = "identifier"                       # 'name' in its name

[columns."her age"]
role = "quasi"                            # age: 'age' in its name

[columns.visits]
role = "insensitive"                      # tells hardly anybody apart

[columns.cost]
role = "weight"                           # 'cost' in its name
bands = 1000                              # no value is rare

[columns.notes]
drop = true                               # free text; 9 different

[[require]]
model = "k-anonymity"
k = 5                                     # nobody stands out

[[require]]
model = "l-diversity"
l = 2
on = ["illness"]
"""
OUTCOME = Outcome(
    rows=100,
    rows_in_file=100,
    columns=4,
    proposed=Proposed(quasi=("age",), exact=("visits",), k=5, judged=("l-diversity",)),
    recall_as_quasi=0.5,
    recall_protected=0.75,
    ncp=0.1,
    rarest_column="visits",
    rarest_rows=7,
    unique_with_exact=0.1,
)


def leaving_out(*names: str) -> Outcome:
    left_out = dict.fromkeys(names, "rare")
    return replace(OUTCOME, proposed=replace(OUTCOME.proposed, left_out=left_out))


def compared(after: Outcome) -> list[str]:
    return shortfalls({"people": after}, {"people": OUTCOME})


def header(path: Path) -> list[str]:
    content = path.read_bytes()
    text = gzip.decompress(content) if path.suffix == ".gz" else content
    return next(csv.reader([text.split(b"\n", 1)[0].decode()]))


def test_the_list_of_outsiders_names_columns_of_the_real_tables(shared_data):
    for table in known_tables():
        if table.collection != PACKAGE:
            names = header(shared_data / table.file)
            assert set(table.quasi) <= set(names), table.file


def test_the_list_of_outsiders_names_columns_of_the_package():
    # The package is not installed for tests: the recorded run says what it met.
    recorded = json.loads(RECORDED.read_text("utf-8"))
    for table in known_tables():
        outcome = recorded[table.name]
        if table.collection == PACKAGE:
            roles = ("quasi", "sensitive", "exact", "banded", "left_out")
            names = {name for role in roles for name in outcome["proposed"][role]}
            assert set(table.quasi) <= names, table.file


def test_every_real_table_is_listed(shared_data):
    files = {
        path.relative_to(shared_data).as_posix()
        for path in shared_data.rglob("*.csv*")
        if not any("hierarchies" in part for part in path.parts)
    }
    listed = {table.file for table in known_tables() if table.collection != PACKAGE}
    assert listed == files


def test_no_two_listed_tables_have_the_same_name():
    names = [table.name for table in known_tables()]
    assert len(names) == len(set(names))


def test_a_table_that_is_not_listed_is_refused_by_name():
    with pytest.raises(SystemExit, match="No table is called nobody"):
        known_tables(["nobody"])


def test_a_sample_of_a_big_table_is_the_same_every_time():
    cells = Cells(("n",), [[str(n)] for n in range(100)])
    assert len(cells.sample(10).records) == 10
    assert cells.sample(10) == cells.sample(10)
    assert cells.sample(100) is cells


def test_a_proposal_is_read_with_the_reasons_for_what_is_left_out():
    assert Proposed.of(POLICY) == Proposed(
        quasi=("her age",),
        exact=("visits",),
        banded=("cost",),
        left_out={"name": "'name' in its name", "notes": "free text; 9 different"},
        k=5,
        judged=("l-diversity (l = 2) of illness",),
    )


def test_the_rarest_text_is_the_one_that_the_fewest_rows_show():
    columns = {"visits": ["0", "0", "51", "51"], "child": ["no", "no", "no", "yes"]}
    assert rarest(columns) == ("child", 1)
    assert rarest({}) == (None, None)


def test_rows_are_unique_if_no_other_row_equals_them_in_all_columns():
    assert unique_share([["a", "a", "b", "b"], ["x", "x", "x", "y"]]) == 0.5


def test_a_small_table_is_published_unedited_and_saved(tmp_path):
    records = [
        [f"P{n:03}", str(20 + n // 4), "fm"[n % 2], str(n % 2)] for n in range(80)
    ]
    cells = Cells(("patient_id", "age", "sex", "visits"), records)
    table = KnownTable(collection="made", file="p.csv", quasi=("age", "sex"))
    outcome = measure(table, cells, rows=60, seconds=300)
    assert outcome.failure is None
    assert (outcome.rows, outcome.rows_in_file, outcome.columns) == (60, 80, 4)
    assert outcome.recall_as_quasi == outcome.recall_protected == 1
    assert "patient_id" in outcome.proposed.left_out
    assert 0 <= (outcome.ncp or 0.0) < 1
    save({"p": outcome}, tmp_path / "latest.json")
    assert load(tmp_path / "latest.json") == {"p": outcome}


def test_a_command_that_fails_is_a_shortfall_and_not_the_end():
    table = KnownTable(collection="made", file="p.csv", quasi=("age",))
    outcome = measure(table, Cells(("age",), []), rows=60, seconds=300)
    assert outcome.failure is not None
    assert any("init ended with" in line for line in compared(outcome))
    assert "- people: init ended with" in page({"people": outcome}, {})
    assert not shortfalls({"people": outcome}, {"people": outcome})


def test_an_outcome_that_is_as_good_as_before_does_not_fall_short():
    assert compared(OUTCOME) == []
    assert compared(leaving_out("visits")) == []


@pytest.mark.parametrize(
    ("after", "sentence"),
    [
        (leaving_out("visits", "cost"), "2 more columns are left out than before"),
        (replace(OUTCOME, rarest_rows=1), "'visits' shows a value of 1 row; k is 5"),
        (replace(OUTCOME, unique_with_exact=0.588), "58.8% of rows are unique"),
        (replace(OUTCOME, recall_as_quasi=0.4), "falls from 50.0% to 40.0%"),
        (replace(OUTCOME, rows=90), "100 rows before and 90 after"),
        (replace(OUTCOME, failure="init: not done"), "init: not done"),
    ],
)
def test_a_worse_outcome_falls_short(after, sentence):
    assert [line for line in compared(after) if sentence in line]


def test_the_page_says_both_figures_where_they_differ():
    after = replace(leaving_out("cost"), ncp=0.2)
    text = page({"people": after}, {"people": OUTCOME})
    assert "0.100 → 0.200" in text
    assert "- people, `cost` (new): rare" in text
