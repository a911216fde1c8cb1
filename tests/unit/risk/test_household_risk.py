"""`assess` tells the risk of households and of each record, on sdcMicro's test data."""

import numpy as np
import pandas as pd
import pytest

import sfumato as sf

KEYS = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]


@pytest.fixture(scope="module")
def assessed(shared_data):
    table = pd.read_csv(shared_data / "sdcmicro" / "testdata.csv", dtype=str)
    found = sf.assess(
        table,
        table,
        sf.Policy.build(
            quasi=KEYS,
            weight="sampling_weight",
            drop=[n for n in table if n not in [*KEYS, "sampling_weight"]],
            kinds=dict.fromkeys(KEYS, "category"),
        ),
        same_order=True,
        household="ori_hid",
    )
    return table, found


def test_each_record_has_the_risk_of_its_group(assessed):
    table, found = assessed
    sizes = table.groupby(KEYS)["sex"].transform("size").to_numpy()
    assert found.records["before"].risks.prosecutor == pytest.approx(1 / sizes)


def test_a_household_is_found_with_any_of_its_members(assessed):
    table, found = assessed
    before = found.records["before"]
    safe = pd.Series(1 - before.risks.journalist).groupby(table["ori_hid"])
    expected = 1 - safe.transform("prod")
    assert before.household == pytest.approx(expected.to_numpy(), abs=1e-12)
    assert found.risk["before"]["household"]["mean"] == pytest.approx(expected.mean())


def test_households_are_at_least_as_exposed_as_their_members(assessed):
    _, found = assessed
    before = found.records["before"]
    assert (before.household >= before.risks.journalist - 1e-12).all()
    assert np.isfinite(before.household).all()
