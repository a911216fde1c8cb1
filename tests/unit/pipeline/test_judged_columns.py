"""A release says when nothing is judged for what can be learned about a person."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.cli import main
from sfumato.io.write import write_table
from sfumato.models.common.judged_columns import NOTHING_JUDGED

PEOPLE = pa.table(
    {
        "age": [20 + row % 4 for row in range(40)],
        "ill": ["flu", "gout"] * 20,
        "pay": ["low", "high", "low"] * 13 + ["low"],
    }
)
POLICY = """
version = 1
[columns.age]
role = "quasi"
[columns.ill]
role = "sensitive"
[columns.pay]
role = "insensitive"
[[require]]
model = "k-anonymity"
k = 2
"""
JUDGED = POLICY + '[[require]]\nmodel = "l-diversity"\nl = 2\n'


@pytest.fixture
def data(tmp_path):
    write_table(PEOPLE, tmp_path / "data.csv")
    return tmp_path / "data.csv"


def released(policy):
    return sf.anonymize(PEOPLE, sf.Policy.parse(policy))


def test_a_release_without_a_requirement_on_sensitive_columns_judges_nothing():
    release = released(POLICY)
    assert release.judged == ()
    assert release.manifest["judged"] == []
    assert NOTHING_JUDGED in release._repr_html_()


def test_a_release_names_the_columns_that_are_judged():
    release = released(JUDGED)
    assert release.judged == ("ill",)
    assert release.manifest["judged"] == ["ill"]
    assert NOTHING_JUDGED not in release._repr_html_()


def test_the_columns_that_a_requirement_names_are_the_judged_ones():
    both = JUDGED.replace("insensitive", "sensitive")
    assert released(both).judged == ("ill", "pay")
    assert released(both + 'on = "pay"\n').judged == ("pay",)


@pytest.mark.parametrize(("policy", "said"), [(POLICY, True), (JUDGED, False)])
def test_the_run_the_report_and_the_check_say_it(data, tmp_path, capsys, policy, said):
    (tmp_path / "policy.toml").write_text(policy)
    out = tmp_path / "release"
    asked = [str(tmp_path / "policy.toml"), "--data", str(data), "--out", str(out)]
    assert main(["anonymize", *asked]) == 0
    assert (NOTHING_JUDGED in capsys.readouterr().out) is said
    head = (out / "report.html").read_text().split('id="promises"')[0]
    assert (NOTHING_JUDGED in head) is said
    checked = [str(out / "data.csv"), "--policy", str(tmp_path / "policy.toml")]
    assert main(["check", *checked]) == 0
    assert (NOTHING_JUDGED in capsys.readouterr().out) is said
    assert main(["check", *checked, "--json"]) == 0
    judged = json.loads(capsys.readouterr().out)["judged"]
    assert judged == ([] if said else ["ill"])


def test_a_check_from_python_says_it():
    table = pa.table({"age": ["[20, 30]"] * 4, "ill": list("abab")})
    assert sf.check(table, quasi="age", k=2).judged == ()
    assert sf.check(table, quasi="age", sensitive="ill", k=2, l=2).judged == ("ill",)


def test_a_noisy_release_says_nothing_of_judging():
    table = pa.table({"age": ["20", "30"] * 100})
    policy = sf.Policy.parse(
        """
        version = 1
        [columns.age]
        role = "quasi"
        kind = "integer"
        hierarchy = { intervals = [10], bottom = 10, top = 40 }
        [[require]]
        model = "differential-privacy"
        epsilon = 1.0
        [algorithm]
        name = "dp-synthesis"
        """
    )
    release = sf.anonymize(table, policy)
    assert release.judged is None
    assert "judged" not in release.manifest
