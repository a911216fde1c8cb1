"""CSV cells that a spreadsheet would run are marked, and the marks come off again."""

import csv
import json
import re

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.seeds import Seed
from sfumato.io.spreadsheet import formulas, guarded, unguarded

CELLS = [
    "=1+1",
    "+49 30",
    "-x",
    "@home",
    "'=1",
    "''@",
    "'quoted",
    "-5",
    "+1.5e3",
    "",
    "a",
]
SAFE = ["'=1+1", "'+49 30", "'-x", "'@home", "''=1", "'''@", "'quoted"]
SAFE += ["-5", "+1.5e3", "", "a"]

texts = st.text(alphabet="'=+-@a1.e \n", max_size=6)


@pytest.mark.parametrize("as_categories", [False, True])
def test_only_texts_that_could_be_formulas_are_marked(as_categories):
    cells = pa.array(CELLS)
    table = pa.table({"x": cells.dictionary_encode() if as_categories else cells})
    assert guarded(table)["x"].to_pylist() == SAFE


@given(
    st.lists(texts, min_size=1), st.lists(texts, min_size=1, max_size=3, unique=True)
)
def test_taking_marks_off_gives_back_what_was_written(cells, names):
    table = pa.table([pa.array(cells)] * len(names), names=names)
    marked = guarded(table)
    assert unguarded(marked).equals(table)
    number = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?")
    for text in [*marked.column_names, *marked.column(0).to_pylist()]:
        assert not re.match(r"[=+\-@]", text) or number.fullmatch(text)


def test_typed_numbers_stay_as_they_are_and_infinity_is_marked():
    table = pa.table({"x": pa.array([-1.5, float("-inf")]), "y": pa.array([-1, 2])})
    assert guarded(table)["x"].to_pylist() == ["-1.5", "'-inf"]
    assert guarded(table)["y"].to_pylist() == [-1, 2]


def test_formulas_are_counted_in_cells_and_names():
    table = pa.table({"=x": pa.array(CELLS), "y": pa.array(CELLS).dictionary_encode()})
    assert formulas(table) == 9


PEOPLE = {
    "age": ["30", "30", "31", "31"],
    "=job": ["=a", "=a", "-b", "-b"],
    "ill": ["+flu", "'=odd", "-3", "@x"],
}


def release(tmp_path, *, safe, **settings):
    source = tmp_path / "people.csv"
    with source.open("w", newline="") as file:
        csv.writer(file).writerows([list(PEOPLE), *zip(*PEOPLE.values(), strict=True)])
    policy = tmp_path / "policy.toml"
    safety = "spreadsheet_safe = true" if safe else ""
    policy.write_text(
        f"""
        version = 1
        [data]
        path = "people.csv"
        [columns]
        age.role = "quasi"
        "=job".role = "quasi"
        ill.role = "sensitive"
        [[require]]
        model = "{settings.get("model", "k-anonymity")}"
        k = 2
        [publish]
        operator = "{settings.get("operator", "generalize")}"
        {safety}
        """
    )
    made = sf.anonymize(
        source, sf.Policy.load(policy), seed=Seed.guessable(1), base=tmp_path
    )
    made.save(tmp_path / "out")
    return policy, tmp_path / "out"


def rows_of(place):
    with place.open(newline="") as file:
        return list(csv.reader(file))


def test_a_safe_release_is_marked_proven_and_checked(tmp_path):
    policy, out = release(tmp_path, safe=True)
    header, *rows = rows_of(out / "data.csv")
    assert header == ["age", "'=job", "ill"]
    assert {row[1] for row in rows} == {"'=a", "'-b"}
    assert {row[2] for row in rows} == {"'+flu", "''=odd", "-3", "'@x"}
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["spreadsheet_safe"] is True
    assert not any("formula" in limit for limit in manifest["known_limits"])
    assert sf.check(out / "data.csv", sf.Policy.load(policy)).holds
    by_manifest = {"manifest": out / "manifest.json", "quasi": ["age", "=job"], "k": 2}
    assert sf.check(out / "data.csv", **by_manifest).holds


def test_a_release_says_when_such_cells_leave_as_they_are(tmp_path):
    _, out = release(tmp_path, safe=False)
    assert rows_of(out / "data.csv")[0] == ["age", "=job", "ill"]
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["spreadsheet_safe"] is False
    said = [limit for limit in manifest["known_limits"] if "formula" in limit]
    assert said[0].startswith("7 cells begin with =, +, - or @ and may run")
    assert "may run as a formula" in (out / "report.html").read_text()


def test_both_tables_of_an_anatomy_are_marked_and_checked(tmp_path):
    settings = {"operator": "anatomize", "model": "group-size"}
    policy, out = release(tmp_path, safe=True, **settings)
    assert {row[1] for row in rows_of(out / "sensitive.csv")[1:]} == {
        *("'+flu", "''=odd", "-3", "'@x")
    }
    assert sf.check(out / "data.csv", sf.Policy.load(policy)).holds


@given(st.lists(st.none() | texts, min_size=1), st.integers(0, 3))
def test_formulas_of_plain_and_of_repeated_texts_are_counted_alike(cells, start):
    table = pa.table({"x": pa.array(cells, pa.string()).slice(start)})
    encoded = pa.table({"x": table["x"].dictionary_encode()})
    assert formulas(table) == formulas(encoded)
