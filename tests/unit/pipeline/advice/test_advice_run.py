"""What `advise` finds on small tables, against what runs then do."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.seeds import Seed
from sfumato.errors import InfeasibleError, LossError, SfumatoError

ROWS = 600
CANARY = "canary7Qx"


def people(rows: int = ROWS) -> pa.Table:
    """People with an exact time of admission, and illnesses of four kinds."""
    number = np.arange(rows)
    return pa.table(
        {
            "age": 20 + number * 7 % 50,
            "sex": [f"{CANARY} {n % 2}" for n in number],
            "admitted": 1_000_000 + number * 7919 % 100_003,
            "illness": [f"{CANARY} {n * n % 4}" for n in number],
            "ward": [f"{CANARY} ward {n % 2}" for n in number],
        }
    )


POLICY = """\
version = 1
unlisted = "drop"
[columns.age]
role = "quasi"  # known to neighbors
hierarchy = { intervals = [10] }
[columns.sex]
role = "quasi"
[columns.admitted]
role = "quasi"
hierarchy = { intervals = [10, 50000] }
[columns.illness]
role = "sensitive"
[[require]]
model = "k-anonymity"
k = 5
"""


def ncp(policy: sf.Policy, source: pa.Table | None = None) -> float:
    data = people() if source is None else source
    release = sf.anonymize(data, policy, seed=Seed.guessable(1))
    return float(release.utility["ncp"])


@pytest.fixture(scope="module")
def advice() -> sf.Advice:
    return sf.advise(people(), sf.Policy.parse(POLICY))


def test_a_policy_that_can_be_met_is_called_feasible(advice):
    assert advice.feasible
    assert advice.needed == ()
    assert advice.outlooks[0].tightest == ROWS


def test_the_column_that_ruins_everything_is_named_first(advice):
    assert advice.suggestions[0].text == "Leave out 'admitted'."


def test_its_measured_gain_is_within_a_fifth_of_the_true_gain(advice):
    policy = sf.Policy.parse(POLICY)
    true = ncp(policy) - ncp(advice.apply(1))
    assert true > 0.1
    assert advice.suggestions[0].gain == pytest.approx(true, rel=0.2)


def test_every_edit_makes_a_policy_that_loads_and_runs(advice):
    for each in advice.suggestions:
        text = advice.text(each.number)
        assert sf.Policy.parse(text) == advice.apply(each.number)
        assert "# known to neighbors" in text
        sf.anonymize(people(), sf.Policy.parse(text), seed=Seed.guessable(1))


def test_lower_k_gains_and_higher_k_costs(advice):
    gains = {
        each.facts["value"]: each.gain
        for each in advice.suggestions
        if each.facts.get("parameter") == "k"
    }
    assert sorted(gains) == [3, 4, 6, 7, 10]
    assert gains[3] > 0 > gains[10]


def test_suppression_is_measured_at_three_shares(advice):
    shares = {
        each.settings["publish.max_suppressed"]
        for each in advice.suggestions
        if "publish.max_suppressed" in each.settings
    }
    # 0.1% of 600 rows is less than one row.
    assert shares == {0.01, 0.05}


def test_no_cell_is_in_anything_that_advice_says(advice):
    assert CANARY not in repr(advice)
    assert CANARY not in str(advice.record())
    assert CANARY not in advice._repr_html_()


def test_the_printed_form_counts_and_no_more(advice):
    assert repr(advice) == f"<Advice: feasible, {len(advice.suggestions)} suggestions>"


def test_the_card_is_one_element_without_script_or_style_sheet(advice):
    card = advice._repr_html_()
    assert card.count("<div") == 1
    assert "<script" not in card
    assert "<style" not in card
    assert "Do not publish or share it." in card


def test_names_in_the_card_are_escaped():
    name = "<b>x</b>"
    table = pa.table({name: ["a", "b"] * 4, "y": ["c"] * 8})
    assert name not in sf.advise(table, quasi=[name, "y"], k=2)._repr_html_()


@pytest.mark.parametrize(
    ("requirement", "key", "most"),
    [
        ('model = "l-diversity"\nl = 9', "require.1.l", 4),
        ('model = "theta-diversity"\ntheta = 0.05', "require.1.theta", 1.0),
        ('model = "k-anonymity"\nk = 5000', "require.1.k", ROWS),
    ],
)
def test_what_cannot_be_met_gets_a_setting_that_can(requirement, key, most):
    policy = sf.Policy.parse(f"{POLICY}[[require]]\n{requirement}\n")
    found = sf.advise(people(), policy)
    assert not found.feasible
    assert found.needed == (1,)
    assert found.suggestions[0].settings[key] <= most
    release = sf.anonymize(people(), found.apply(1), seed=Seed.guessable(1))
    assert all(each["holds"] for each in release.verdicts)


def test_the_cause_is_named_with_both_numbers_and_the_nearest_setting():
    policy = sf.Policy.parse(f'{POLICY}[[require]]\nmodel = "l-diversity"\nl = 9\n')
    first = sf.advise(people(), policy).suggestions[0]
    assert first.text.startswith("Lower l from 9 to ")
    assert "needs 9 distinct values; the best is 2." in first.reason
    assert "The nearest feasible value is l = 2" in first.reason


def test_an_upper_bound_below_k_is_raised_to_k():
    bound = (
        '[[require]]\nmodel = "diversity"\nwhere = { age = 20 }\nat_least = 2\n'
        'at_most = 3\n[algorithm]\nname = "diva"\n'
    )
    policy = sf.Policy.parse(POLICY + bound)
    found = sf.advise(people(), policy)
    assert found.suggestions[0].settings == {"require.1.at_most": 5}
    assert "needs 2 rows and allows 3" in found.suggestions[0].reason
    assert sf.anonymize(people(), found.apply(1), seed=Seed.guessable(1))


def test_an_algorithm_that_cannot_count_is_replaced_by_one_that_can():
    bound = '[[require]]\nmodel = "diversity"\nwhere = { age = 20 }\nat_least = 6\n'
    found = sf.advise(people(), sf.Policy.parse(POLICY + bound))
    assert found.suggestions[0].settings == {"algorithm.name": "diva"}
    assert found.needed == (1,)


def test_an_operator_that_cannot_publish_it_is_replaced():
    text = POLICY + '[publish]\noperator = "swap"\n'
    found = sf.advise(people(), sf.Policy.parse(text))
    assert found.suggestions[0].settings["publish.operator"] == "generalize"
    assert found.needed == (1,)


def test_a_column_that_would_be_refused_is_to_be_left_out():
    text = POLICY.replace("[columns.admitted]\nrole", "[columns.admitted]\nold")
    text = text.replace('old = "quasi"', 'role = "insensitive"')
    found = sf.advise(people(), sf.Policy.parse(text))
    assert found.suggestions[0].settings == {"columns.admitted.drop": True}
    assert "600 of 600 rows" in found.suggestions[0].reason


def test_an_infeasible_run_names_every_cause_and_points_to_advise():
    text = (
        f'{POLICY}[[require]]\nmodel = "l-diversity"\nl = 9\n'
        '[[require]]\nmodel = "theta-diversity"\ntheta = 0.05\n'
    )
    with pytest.raises(InfeasibleError) as fault:
        sf.anonymize(people(), sf.Policy.parse(text))
    assert "needs 9 distinct values; the best is 2." in fault.value.message
    assert "no value above a share of 0.05; the best is 0.5." in fault.value.message
    hint = str(fault.value.hint)
    assert "require.1.l = 2, require.2.theta = 0.5" in hint
    assert hint.endswith("'sfumato advise POLICY' measures what each change gains.")


def test_a_run_that_loses_too_much_names_a_k_that_loses_less():
    policy = sf.Policy.parse(POLICY.replace("k = 5", "k = 500"))
    with pytest.raises(LossError, match=r"allows 95\.0%") as fault:
        sf.anonymize(people(), policy)
    named = str(fault.value.hint).split("require.0.k = ")[1].split(".")[0]
    lower = sf.Policy.parse(POLICY.replace("k = 5", f"k = {named}"))
    assert sf.anonymize(people(), lower).utility["ncp"] <= 0.95


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"a": ["x"], "b": [1]}),
        pa.table({"a": ["x"] * 9, "b": [1] * 9}),
        pa.table({"a": [None, "x", None, "y"] * 3, "b": [1.5, None, 2.5, None] * 3}),
    ],
    ids=["one row", "all rows equal", "missing values"],
)
def test_awkward_tables_are_advised_on(table):
    found = sf.advise(table, quasi=["a", "b"], k=2)
    assert found.rows == table.num_rows
    for each in found.suggestions:
        assert found.apply(each.number)


def test_one_column_is_never_left_out():
    found = sf.advise(pa.table({"a": list(range(40))}), quasi=["a"], k=3)
    assert all("drop" not in key for s in found.suggestions for key in s.settings)


def test_a_table_without_rows_is_refused():
    with pytest.raises(SfumatoError, match="The table has no rows"):
        sf.advise(pa.table({"a": pa.array([], pa.string())}), quasi=["a"], k=2)
