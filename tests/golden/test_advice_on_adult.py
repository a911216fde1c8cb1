"""Advice on Adult: infeasible policies are repaired, and gains are what runs show."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

import sfumato as sf
from sfumato.data.seeds import Seed

QUASI = ("sex", "age", "race", "marital-status", "education", "native-country")
INFEASIBLE = """
[[require]]
model = "theta-diversity"
theta = 0.05
[[require]]
model = "l-diversity"
l = 20
[[require]]
model = "diversity"
where = { native-country = "Cuba" }
at_least = 2
at_most = 3
"""


@pytest.fixture(scope="module")
def adult(shared_data) -> pa.Table:
    path = shared_data / "adult" / "adult_clean_30162.csv.gz"
    return pa_csv.read_csv(path)


@pytest.fixture(scope="module")
def columns(shared_data) -> str:
    folder = shared_data / "adult" / "hierarchies"
    text = 'version = 1\nunlisted = "drop"\n'
    for name in QUASI:
        spec = "{ intervals = [5, 10, 20] }"
        spec = spec if name == "age" else f'"{folder / name}.csv"'
        text += f'[columns.{name}]\nrole = "quasi"\nhierarchy = {spec}\n'
    text += '[columns.occupation]\nrole = "sensitive"\n'
    return text + '[[require]]\nmodel = "k-anonymity"\nk = 5\n'


def test_an_infeasible_policy_is_explained_and_repaired(adult, columns):
    found = sf.advise(adult, sf.Policy.parse(columns + INFEASIBLE))
    assert not found.feasible
    reasons = [each.reason for each in found.suggestions if each.needed]
    assert "'best' cannot promise how many rows show a value" in reasons[0]
    # 14 occupations, the commonest of which 13.3877% of the rows have.
    assert "above a share of 0.05; the best is 0.133877." in reasons[1]
    assert "The nearest feasible value is theta = 0.1339" in reasons[1]
    assert "needs 20 distinct values; the best is 14." in reasons[2]
    assert "The nearest feasible value is l = 14" in reasons[2]
    assert "needs 2 rows and allows 3" in reasons[3]
    assert "The nearest feasible value is at_least = 0." in reasons[3]
    release = sf.anonymize(adult, found.apply(*found.needed), seed=Seed.guessable(1))
    assert all(each["holds"] for each in release.verdicts)


def test_an_upper_bound_below_k_is_raised_to_k(adult, columns):
    bound = INFEASIBLE[INFEASIBLE.index('[[require]]\nmodel = "diversity"') :]
    found = sf.advise(adult, sf.Policy.parse(columns + bound))
    assert found.suggestions[0].settings["algorithm.name"] == "diva"
    assert found.suggestions[1].settings == {"require.1.at_most": 5}
    release = sf.anonymize(adult, found.apply(*found.needed), seed=Seed.guessable(1))
    assert all(each["holds"] for each in release.verdicts)


@pytest.mark.parametrize("hierarchy", ['"free"', '{ calendar = ["month", "year"] }'])
def test_an_exact_timestamp_is_named_first_with_nearly_its_true_gain(
    adult, columns, hierarchy
):
    second = np.random.default_rng(3).integers(0, 3 * 365 * 86_400, adult.num_rows)
    stamps = np.datetime64("2020-01-01T00:00:00") + second.astype("timedelta64[s]")
    table = adult.append_column("stamp", pa.array([str(each) for each in stamps]))
    stamp = (
        f'[columns.stamp]\nrole = "quasi"\nkind = "datetime"\nhierarchy = {hierarchy}'
    )
    assert_named_first(table, sf.Policy.parse(f"{columns}{stamp}\n"), "stamp")


@pytest.fixture(scope="module")
def with_amount(adult) -> pa.Table:
    """Adult with an amount that 29,212 of 30,162 rows share with nobody."""
    amounts = np.random.default_rng(5).lognormal(8.0, 1.2, adult.num_rows)
    return adult.append_column("amount", pa.array(amounts.round(2)))


@pytest.mark.parametrize("bands", [1, 2])
def test_a_near_unique_amount_in_levels_is_named_first_with_nearly_its_true_gain(
    with_amount, columns, bands, tmp_path
):
    known = sorted(set(with_amount["amount"].to_pylist()))
    half = len(known) // 2
    upper = {1: lambda _at: "", 2: lambda at: "low;" if at < half else "high;"}[bands]
    lines = [f"{value};{upper(at)}*" for at, value in enumerate(known)]
    (tmp_path / "levels.csv").write_text("\n".join(lines), encoding="utf-8")
    place = tmp_path / "levels.csv"
    amount = f'[columns.amount]\nrole = "quasi"\nhierarchy = "{place}"\n'
    assert_named_first(with_amount, sf.Policy.parse(columns + amount), "amount")


@pytest.mark.parametrize(
    "levels", ["intervals = [100, 1000, 10000]", "quantiles = [2]"]
)
def test_a_near_unique_amount_in_fine_levels_is_named_first(
    with_amount, columns, levels
):
    amount = f'[columns.amount]\nrole = "quasi"\nhierarchy = {{ {levels} }}\n'
    found = sf.advise(with_amount, sf.Policy.parse(columns + amount))
    assert found.suggestions[0].text == "Leave out 'amount'."


def test_a_near_unique_amount_that_may_show_any_interval_costs_little(
    with_amount, columns
):
    # Runs of 'best' lose 0.0211 with it and 0.0204 without it; without age, 0.0088.
    amount = '[columns.amount]\nrole = "quasi"\nhierarchy = "free"\n'
    found = sf.advise(with_amount, sf.Policy.parse(columns + amount))
    gains = {each.text: each.gain for each in found.suggestions}
    assert gains["Leave out 'amount'."] == pytest.approx(0.0007, abs=0.002)
    assert found.suggestions[0].text == "Leave out 'age'."


def assert_named_first(table: pa.Table, policy: sf.Policy, name: str) -> None:
    """Leaving out a column is the first advice, and its gain what two runs differ in."""
    found = sf.advise(table, policy)
    assert found.suggestions[0].text == f"Leave out '{name}'."
    lost = [
        sf.anonymize(table, each, seed=Seed.guessable(1)).utility["ncp"]
        for each in (policy, found.apply(1))
    ]
    assert found.suggestions[0].gain == pytest.approx(lost[0] - lost[1], rel=0.2)
