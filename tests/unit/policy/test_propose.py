"""Proposed policies parse, fit their tables and show no cell."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from sfumato.data.coding import code_column
from sfumato.data.schema import Role
from sfumato.errors import DataError
from sfumato.hierarchies.build import build
from sfumato.io.read import read_source
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.l_diversity import LDiversity
from sfumato.policy import Policy
from sfumato.policy.propose import propose

ROWS = 60
PATIENTS = pa.table(
    {
        "name": [f"Person Number{n}" for n in range(ROWS)],
        "age": [str(20 + n % 50) for n in range(ROWS)],
        "zip": [f"{n % 12:03}{n % 10}1" for n in range(ROWS)],
        "born": [f"{1950 + n % 40}-0{1 + n % 9}-1{n % 9}" for n in range(ROWS)],
        "sex": ["female" if n % 2 else "male" for n in range(ROWS)],
        "diagnosis": [f"illness{n % 4}" for n in range(ROWS)],
    }
)


@pytest.fixture(scope="module")
def text():
    return propose(PATIENTS, path="patients.csv").text


def test_a_proposal_parses_and_fits_its_table(text):
    policy = Policy.parse(text)
    policy.check_columns(PATIENTS.column_names)
    assert policy.data.path == "patients.csv"
    assert policy.names(Role.IDENTIFIER) == ("name",)
    assert policy.names(Role.QUASI) == ("age", "zip", "born", "sex")
    assert policy.names(Role.SENSITIVE) == ("diagnosis",)


def test_it_asks_for_k_5_and_l_2(text):
    k, diversity = Policy.parse(text).models()
    assert isinstance(k, KAnonymity)
    assert isinstance(diversity, LDiversity)
    assert (k.k, diversity.l, diversity.on) == (5, 2, ("diagnosis",))


def test_hierarchies_suit_the_kinds(text):
    policy = Policy.parse(text)
    assert policy.column("age").hierarchy == {"intervals": [5, 10, 20], "top": 65}
    assert set(policy.column("zip").hierarchy) == {"prefix"}
    born: Any = policy.column("born").hierarchy
    assert "year" in born["calendar"]
    assert policy.column("sex").hierarchy == "flat"


def test_every_setting_of_a_column_has_its_reason(text):
    settings = [
        line
        for line in text.splitlines()
        if line.startswith(("role", "kind", "hierarchy", "k =", "l ="))
    ]
    assert settings
    assert all("  # " in line for line in settings)


def test_no_cell_is_in_the_text(text):
    cells = {cell for column in PATIENTS.columns for cell in column.to_pylist()}
    assert not [cell for cell in cells if len(cell) > 2 and cell in text]


def test_identifying_sets_are_shown(text):
    assert "# What tells people apart most" in text
    assert "#   100.00% 100.0000%  age + " in text


def test_unusual_names_are_quoted():
    table = pa.table({'a "b".c\nd': ["1", "2", "3"], "ä": ["x", "y", "x"]})
    policy = Policy.parse(propose(table, path='d"ir/t.csv').text)
    assert set(policy.columns) == {'a "b".c\nd', "ä"}
    assert policy.data.path == 'd"ir/t.csv'


def test_a_small_table_gets_a_small_k():
    table = pa.table({"age": ["1", "2", "1"]})
    models = Policy.parse(propose(table, path="t.csv").text).models()
    assert models[0] == KAnonymity(k=3)


def test_without_diverse_values_no_diversity_is_asked():
    table = pa.table(
        {"age": ["1"] * 40, "sex": ["f", "m"] * 20, "hiv": ["n"] * 36 + ["y"] * 4}
    )
    text = propose(table, path="t.csv").text
    assert len(Policy.parse(text).models()) == 1
    assert '# Groups may give away "hiv": too few values for l-diversity,' in text


def test_codes_that_share_few_leading_characters_are_shown_as_sets():
    codes = [f"A4{n}" for n in range(9)] + ["A410"]
    table = pa.table({"age": ["30"] * 100, "purpose": codes * 10})
    policy = Policy.parse(propose(table, path="t.csv").text)
    assert policy.column("purpose").hierarchy == "flat"


def test_the_detected_delimiter_is_written_down(tmp_path):
    (tmp_path / "t.csv").write_text("age;sex\n1;f\n2;m\n", encoding="utf-16")
    source = read_source(tmp_path / "t.csv")
    policy = Policy.parse(propose(source, path="t.csv").text)
    assert (policy.data.delimiter, policy.data.encoding) == (";", "utf-16")


@pytest.mark.parametrize(
    "name",
    [
        "adult/adult_train_32561.csv.gz",
        "cup/cup.csv",
        "stroke/stroke.csv",
        "eusilc/eusilc.csv",
    ],
)
def test_proposals_for_real_tables_can_be_built(shared_data, name):
    source = read_source(shared_data / name)
    policy = Policy.parse(propose(source, path=name).text)
    policy.check_columns(source.column_names)
    for column in policy.names(Role.QUASI):
        section = policy.column(column)
        coded = code_column(
            column, source[column], kind=section.kind, missing=policy.data.missing
        )
        assert build(coded, section.hierarchy).axis.size == coded.size


def test_columns_without_a_form_as_text_are_proposed_to_be_dropped():
    far = pa.array([10**12] * ROWS, pa.timestamp("s"))
    strange = PATIENTS.append_column("tags", pa.array([[1]] * ROWS))
    strange = strange.append_column("pair", pa.array([{"a\nb = 1": 1}] * ROWS))
    strange = strange.append_column("far", far)
    policy = Policy.parse(propose(strange, path="patients.parquet").text)
    policy.check_columns(strange.column_names)
    assert all(policy.columns[name].drop for name in ("tags", "pair", "far"))
    assert policy.names(Role.QUASI) == ("age", "zip", "born", "sex")


def test_a_table_of_nothing_but_lists_is_refused_by_name():
    with pytest.raises(DataError, match="'tags' has the type list"):
        propose(pa.table({"tags": [[1], [2]]}), path=None)


def test_one_is_not_many_in_a_proposal():
    cells = ["a", "?", "b", "a", "b"] * 5
    cells[1::5] = ["?", "a", "b", "a", "b"]
    text = propose(pa.table({"town": cells}), path=None, missing=["?"]).text
    assert "# Proposed for 25 rows and 1 column." in text
    assert "# 1 cell in 1 column" in text
