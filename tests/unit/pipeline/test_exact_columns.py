"""What exact columns tell together is measured on the published cells, and told first."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.cli import main
from sfumato.errors import PolicyError
from sfumato.io.write import write_table

ROWS = 400
K = 5
DRAWN = np.random.default_rng(3)
AGE = DRAWN.integers(20, 60, ROWS)
SEX = DRAWN.choice(["f", "m"], ROWS)
BIT = DRAWN.choice(["p", "q"], ROWS, p=[0.8, 0.2])
MANY = DRAWN.integers(0, 12, ROWS)
"""Every value has dozens of rows."""
RARE = np.where(np.arange(ROWS) < 3, 7, 0)
SETTINGS = {"quasi": ["age", "sex"], "k": K, "algorithm": "mondrian"}


def people(**more):
    return pa.table({"age": AGE, "sex": SEX} | more)


def released(table, *, exact, **settings):
    return sf.anonymize(table, insensitive=exact, **(SETTINGS | settings))


def unique_share(table, exact):
    """The share of rows that are unique with the exact columns, by definition."""
    lines = list(zip(*(table[c].to_pylist() for c in table.column_names), strict=True))
    assert set(exact) <= set(table.column_names)
    return sum(count == 1 for count in Counter(lines).values()) / len(lines)


def test_the_joint_share_is_that_of_the_published_cells():
    release = released(people(bit=BIT, rare=RARE), exact=["bit", "rare"])
    expected = unique_share(release.table, ["bit", "rare"])
    assert 0 < expected < 0.2
    assert release.risk["unique_with_exact_columns"] == pytest.approx(expected)


def test_more_than_a_fifth_of_rows_is_refused_although_no_value_is_rare():
    with pytest.raises(PolicyError) as error:
        released(people(bit=BIT, many=MANY), exact=["bit", "many"])
    assert "are unique by 'bit' and 'many' beside the published" in error.value.message
    assert "more than 20%" in error.value.message
    assert "of 400 rows" in error.value.message
    assert "keep_as_is = true" in error.value.hint


def test_exact_columns_undo_nothing_where_rows_can_be_found_anyway():
    ill = np.resize(["a", "b", "c"], ROWS)
    policy = sf.Policy.build(
        quasi=["age", "sex"], sensitive="ill", insensitive="many", l=2, operator="swap"
    )
    release = sf.anonymize(people(many=MANY, ill=ill), policy)
    assert release.risk["unique_with_exact_columns"] > 0.2


def test_a_column_that_is_kept_as_it_is_counts_but_is_not_refused():
    table = people(bit=BIT, many=MANY)
    release = released(table, exact=["bit", "many"], keep_as_is="many")
    assert release.risk["unique_with_exact_columns"] > 0.5


def test_sensitive_columns_and_quasi_identifiers_are_not_exact_columns():
    release = sf.anonymize(people(many=MANY), sensitive="many", **SETTINGS)
    assert "unique_with_exact_columns" not in release.risk


def test_columns_with_rare_values_are_listed_with_their_fewest_rows():
    table = people(bit=BIT, rare=RARE, other=np.where(np.arange(ROWS) < 1, 9, 0))
    risk = released(table, exact=["bit", "rare", "other"]).risk
    expected = {"below": K, "unit": "rows", "columns": {"rare": 3, "other": 1}}
    assert risk["rare_values"] == expected


def test_persons_are_counted_where_a_column_tells_them():
    person = [f"p{row // 4}" for row in range(ROWS)]
    rare = np.where(np.arange(ROWS) < 12, 7, 0)
    release = released(people(who=person, rare=rare), exact=["rare"], subject="who")
    expected = {"below": K, "unit": "persons", "columns": {"rare": 3}}
    assert release.risk["rare_values"] == expected


def test_values_are_rare_below_5_where_no_k_is_asked():
    settings = {"k": None, "require": [{"model": "l-diversity", "l": 2}]}
    table = people(ill=BIT, rare=RARE)
    risk = released(table, exact=["rare"], sensitive="ill", **settings).risk
    assert risk["rare_values"]["below"] == 5


def test_missing_cells_are_no_rare_values():
    bits = pa.array([None if row < 2 else "p" for row in range(ROWS)])
    assert "rare_values" not in released(people(bit=bits), exact=["bit"]).risk


@pytest.fixture
def policy(tmp_path):
    write_table(people(bit=BIT, rare=RARE, other=RARE), tmp_path / "people.csv")
    (tmp_path / "policy.toml").write_text(
        'version = 1\nunlisted = "keep"\ndata.path = "people.csv"\n'
        'columns.age.role = "quasi"\ncolumns.sex.role = "quasi"\n'
        '[[require]]\nmodel = "k-anonymity"\nk = 5\n[algorithm]\nname = "mondrian"\n'
    )
    return tmp_path / "policy.toml"


def test_the_run_tells_it_on_its_first_lines_and_warns_once(policy, tmp_path, capsys):
    out = tmp_path / "release"
    assert main(["anonymize", str(policy), "--out", str(out)]) == 0
    said = capsys.readouterr()
    first = said.out.splitlines()[1]
    assert "together with 'bit', 'rare' and 'other'." in first
    warned = [line for line in said.err.splitlines() if line.startswith("Warning")]
    assert warned == [
        "Warning: 'rare' (3) and 'other' (3) have values that fewer than 5 rows hold; "
        "the fewest are in brackets."
    ]
    report = (out / "report.html").read_text()
    head = report[report.index('id="short"') : report.index('id="promises"')]
    assert "rows unique with exact columns" in head
    assert "have values that fewer than 5 rows hold" in head


def test_check_measures_the_same_from_the_file(policy, tmp_path, capsys):
    out = tmp_path / "release"
    assert main(["anonymize", str(policy), "--out", str(out), "--json"]) == 0
    made = json.loads(capsys.readouterr().out)["manifest"]["risk"]
    asked = ["check", str(out / "data.csv"), "--policy", str(policy)]
    assert main([*asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["risk"]
    for key in ("unique_with_exact_columns", "rare_values"):
        assert found[key] == made[key]
    assert main(asked) == 0
    assert "of rows are unique by" in capsys.readouterr().out.splitlines()[1]


def test_the_refusal_lists_all_columns_of_unique_values():
    unique = [f"x{row}" for row in range(ROWS)]
    with pytest.raises(PolicyError) as error:
        released(people(a=unique, b=unique[::-1]), exact=["a", "b"])
    assert "columns.a would be published as it is" in error.value.message
    assert "So would 'b': 400 of 400 rows (100.0%)" in error.value.message


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_every_engine_refuses_and_measures_alike(tmp_path, engine):
    nothing = pa.array([None] * 40 + ["x"] * (ROWS - 40))
    table = people(bit=BIT, many=MANY, gap=nothing, rare=RARE)
    pq.write_table(table, tmp_path / "people.parquet")
    exact = ["bit", "gap", "rare"]
    settings = SETTINGS | {"engine": engine, "insecure_seed": 1}
    path = tmp_path / "people.parquet"
    release = sf.anonymize(path, insensitive=exact, drop="many", **settings)
    expected = unique_share(release.table, exact)
    assert release.risk["unique_with_exact_columns"] == pytest.approx(expected)
    assert release.risk["rare_values"]["columns"] == {"rare": 3}
    with pytest.raises(PolicyError, match="more than 20% undo the grouping"):
        sf.anonymize(path, insensitive=[*exact, "many"], **settings)


def test_json_has_the_warnings_of_the_run(policy, tmp_path, capsys):
    out = tmp_path / "release"
    assert main(["anonymize", str(policy), "--out", str(out), "--json"]) == 0
    (warning,) = json.loads(capsys.readouterr().out)["warnings"]
    assert "fewer than 5 rows hold" in warning


def test_advice_says_that_it_does_not_look_at_exact_columns():
    policy = sf.Policy.build(quasi=["age", "sex"], insensitive="many", k=K)
    advice = sf.advise(people(many=MANY), policy)
    assert any(
        note.startswith("Not looked at: how many rows 'many'") for note in advice.notes
    )
