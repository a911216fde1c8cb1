"""A column that tells rows apart is never published without a warning."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

import sfumato
from sfumato.cli import main
from sfumato.errors import PolicyError
from sfumato.io.write import write_table
from sfumato.pipeline.unique_values import giveaways
from sfumato.policy.propose import propose

ROWS = 40


def people(**more):
    columns = {
        "age": [20 + row % 4 for row in range(ROWS)],
        "ill": ["flu", "gout"] * (ROWS // 2),
    }
    return pa.table(columns | more)


def with_singles(count):
    """A column in which so many rows have a value of their own."""
    return [f"own{row}" if row < count else f"v{row % 2}" for row in range(ROWS)]


def released(table, **settings):
    asked = {"quasi": ["age"], "sensitive": ["ill"], "k": 2}
    return sfumato.anonymize(table, **(asked | settings))


@pytest.mark.parametrize("role", ["insensitive", "weight"])
def test_a_column_that_tells_rows_apart_needs_a_word_in_the_policy(role):
    table = people(code=list(range(ROWS)))
    with pytest.raises(PolicyError) as error:
        released(table, **{role: "code"})
    assert "columns.code" in error.value.message
    assert "40 of 40 rows (100.0%)" in error.value.message
    assert "keep_as_is = true" in error.value.hint
    assert released(table, **{role: "code"}, keep_as_is="code").table.num_rows == ROWS


@pytest.mark.parametrize(("singles", "refused"), [(2, False), (3, True)])
def test_one_row_in_twenty_is_the_limit(singles, refused):
    table = people(code=with_singles(singles))
    if refused:
        with pytest.raises(PolicyError, match=r"3 of 40 rows \(7\.5%\)"):
            released(table, insensitive="code")
    else:
        assert released(table, insensitive="code").table.num_rows == ROWS


def test_a_column_that_is_kept_because_nobody_named_it_counts_too():
    with pytest.raises(PolicyError, match="would be published as it is"):
        released(people(name=with_singles(ROWS)), unlisted="keep")


def test_values_that_become_single_by_suppression_are_found():
    """Every code is shared by two rows, of which one is suppressed."""
    table = pa.table(
        {
            "age": [20] * 20 + list(range(30, 50)),
            "code": [f"c{row % 20}" for row in range(40)],
        }
    )
    with pytest.raises(PolicyError, match=r"20 of 20 rows \(100\.0%\)"):
        sfumato.anonymize(
            table,
            quasi=["age"],
            insensitive="code",
            k=20,
            hierarchies={"age": "flat"},
            max_suppressed=0.5,
            algorithm="optimal",
            operator="suppress",
        )


def test_sensitive_columns_only_warn(tmp_path, capsys):
    table = people().set_column(1, "ill", pa.array(with_singles(10)))
    write_table(table, tmp_path / "people.csv")
    (tmp_path / "policy.toml").write_text(
        'version = 1\ndata.path = "people.csv"\n'
        'columns.age.role = "quasi"\ncolumns.ill.role = "sensitive"\n'
        '[[require]]\nmodel = "k-anonymity"\nk = 2\n'
    )
    out = tmp_path / "release"
    assert main(["anonymize", str(tmp_path / "policy.toml"), "--out", str(out)]) == 0
    said = capsys.readouterr()
    assert "25.0% of rows have a value of 'ill' (sensitive)" in said.err
    assert "with the quasi-identifiers" in said.out
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["risk"]["columns"]["ill"]["unique"] == 0.25
    report = (out / "report.html").read_text()
    assert "What the other columns give away" in report


def test_both_shares_are_counted_as_they_are_defined():
    table = pa.table(
        {
            "age": ["[1, 2]", "[1, 2]", "[3, 4]", "[3, 4]", "[3, 4]"],
            "code": ["a", "b", "b", "b", "c"],
        }
    )
    found = giveaways(table, {"code": "weight"}, quasi=["age"], missing=[""])
    assert found["code"] == {
        "role": "weight",
        "unique": 2 / 5,
        "unique_with_quasi": 3 / 5,
    }


def test_missing_values_give_nobody_away():
    table = pa.table({"age": ["1", "2"], "code": ["", "?"]})
    found = giveaways(table, {"code": "weight"}, quasi=["age"], missing=["", "?"])
    assert (found["code"]["unique"], found["code"]["unique_with_quasi"]) == (0.0, 0.0)


def test_pseudonyms_and_quasi_identifiers_are_not_counted():
    table = people(person=with_singles(ROWS))
    release = released(table, identifier="person", pseudonymize=["person"])
    assert list(release.risk["columns"]) == ["ill"]


def test_bounds_are_quasi_identifiers_to_the_count():
    release = released(people(), numbers="bounds")
    assert list(release.risk["columns"]) == ["ill"]


@pytest.mark.parametrize("role", ["sensitive", "quasi", "identifier"])
def test_only_columns_that_leave_as_they_are_can_be_kept(role):
    with pytest.raises(PolicyError, match=r"keep_as_is is set for a column that is"):
        sfumato.Policy.build(**{role: "x"}, keep_as_is="x")


def test_a_proposal_leaves_such_columns_out():
    table = people(country=["x"] * ROWS, fnlwgt=list(range(1000, 1000 + ROWS)))
    text = propose(table, path="people.csv").text
    section = text.split("[columns.fnlwgt]")[1].split("[")[0]
    assert "drop = true" in section
    assert "100.0% of rows have a value that occurs once" in section
    assert "keep_as_is" not in text


def test_check_names_columns_that_the_claim_does_not_mention(tmp_path, capsys):
    write_table(people(name=with_singles(ROWS)), tmp_path / "people.csv")
    words = ["check", str(tmp_path / "people.csv"), "--quasi", "age", "--k", "2"]
    assert main(words) == 0
    said = capsys.readouterr()
    assert "does not mention 'ill' and 'name'" in said.err
    assert "100.0% of rows have a value of 'name'" in said.err
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["columns_not_mentioned"] == ["ill", "name"]
    assert found["risk"]["columns"]["name"]["unique"] == 1.0


def test_check_counts_offending_rows_and_persons(tmp_path, capsys):
    table = pa.table({"age": list("112223"), "person": list("abaaac")})
    result = sfumato.check(table, quasi=["age"], subject="person", k=2)
    verdict = result.verdicts[0]
    assert verdict["offending_groups"] == 2
    assert verdict["offending_rows"] == 4
    assert verdict["offending_persons"] == 2
    write_table(table, tmp_path / "t.csv")
    words = ["--quasi", "age", "--subject", "person", "--k", "2"]
    assert main(["check", str(tmp_path / "t.csv"), *words]) == 1
    assert "broken by 2 groups (4 rows, 2 persons)" in capsys.readouterr().out


def test_check_without_persons_counts_rows(tmp_path):
    table = pa.table({"age": list("11123")})
    verdict = sfumato.check(table, quasi=["age"], k=2).verdicts[0]
    assert (verdict["offending_groups"], verdict["offending_rows"]) == (2, 2)
    assert "offending_persons" not in verdict
