"""Diversity constraints in releases that a ledger certifies, from policy to files."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

import sfumato as sf
from sfumato.cli import main
from sfumato.errors import InfeasibleError, RefusedError

ROWS = 3_137
POLICY = """
version = 1

[data]
path = "people.csv"

[columns.age]
role = "quasi"
kind = "integer"
hierarchy = { intervals = [10, 20], bottom = 20, top = 80 }

[columns.city]
role = "quasi"
hierarchy = { tree = { north = ["a", "b"], south = ["c", "d"] } }

[columns.disease]
role = "sensitive"
hierarchy = { tree = { lung = ["flu", "tb"], other = ["cut", "burn"] } }

[[require]]
model = "differential-privacy"
epsilon = 1.0
delta = 1e-6

[privacy]
ledger = "ledger.json"
epsilon = 2.0
delta = 1e-5

[algorithm]
name = "safepub"
levels = { age = 3, city = 2 }

[[require]]
model = "diversity"
where = { disease = "flu" }
"""


def people() -> pa.Table:
    draw = np.random.default_rng(7)
    return pa.table(
        {
            "age": draw.integers(18, 85, ROWS),
            "city": draw.choice(list("abcd"), ROWS),
            "disease": draw.choice(["flu", "tb", "cut", "burn"], ROWS),
        }
    )


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pa_csv.write_csv(people(), tmp_path / "people.csv")
    return tmp_path


def asked(place, bounds: str) -> sf.Policy:
    return sf.Policy.parse(POLICY + bounds, base=place)


def test_the_manifest_states_confidence_cost_and_the_count_in_the_file(place):
    (place / "policy.toml").write_text(POLICY + "at_least = 300\nat_most = 450\n")
    assert main(["anonymize", "policy.toml", "--out", "release"]) == 0
    manifest = json.loads((place / "release" / "manifest.json").read_text())
    figures = manifest["privacy"]["figures"]
    assert figures["confidence"] == 0.95
    assert figures["epsilon_of_constraints"] == pytest.approx(0.1)
    published = pa_csv.read_csv(place / "release" / "data.csv")
    shown = published.column("disease").to_pylist().count("flu")
    verdict = manifest["requirements"][0]
    assert (verdict["measured"], verdict["holds"]) == (shown, True)
    assert 300 <= shown <= 450


def test_how_many_rows_of_the_source_have_the_value_is_not_told(place):
    release = sf.anonymize(people(), asked(place, "at_least = 300\n"), base=place)
    assert set(release.verdicts[0]["details"]) == {"range"}


def test_a_constraint_that_is_not_met_is_refused_and_stays_charged(place):
    with pytest.raises(InfeasibleError, match=r"not shown with confidence 0\.95"):
        sf.anonymize(people(), asked(place, "at_least = 2000\n"), base=place)
    assert len(json.loads((place / "ledger.json").read_text())["charges"]) == 1


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        ("at_least = 10\nat_most = 20\n", "allows 20 rows, and a group has 73"),
        ("at_most = 0.5\n", "at_most is a share"),
    ],
)
def test_an_impossible_constraint_is_refused_and_not_charged(place, bounds, text):
    with pytest.raises(RefusedError, match=text):
        sf.anonymize(people(), asked(place, bounds), base=place)
    assert not (place / "ledger.json").exists()
