"""A release that says nothing is refused, with the reason and what would help."""

from __future__ import annotations

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InfeasibleError, LossError, PolicyError

ROWS = 200
STRANGERS = pa.table(
    {
        "zip": [f"z{row}" for row in range(ROWS)],
        "job": [f"j{row * 7 % ROWS}" for row in range(ROWS)],
        "illness": ["flu" if row % 2 else "gout" for row in range(ROWS)],
    }
)
"""Nobody is like anybody else: all groups are equally far, and the largest grows."""
ASKED = {"quasi": ["zip", "job"], "sensitive": "illness", "k": 10, "l": 2}


def refused(**settings) -> LossError:
    with pytest.raises(LossError) as caught:
        sf.anonymize(STRANGERS, **ASKED, **settings)
    return caught.value


@pytest.mark.parametrize("operator", ["generalize", "suppress"])
def test_a_table_of_stars_is_refused_with_exit_code_3(operator):
    fault = refused(algorithm="klt", operator=operator)
    assert fault.exit_code == 3
    assert "lose 100.0% of its detail (NCP 1.000)" in fault.message
    assert "publish.max_loss allows 95.0%" in fault.message


def test_the_reason_counts_columns_and_rows():
    reason = refused(algorithm="klt").message
    assert "2 of 2 quasi-identifiers show nothing" in reason
    assert "all 200 published rows are one group" in reason


def test_klt_says_which_step_made_the_group_grow():
    reason = refused(algorithm="klt").message
    assert "step 5 (merging 100 groups" in reason
    assert "gave the largest group 198 of 200 rows" in reason


def test_the_hint_names_ways_out_that_work():
    hint = refused(algorithm="klt").hint
    assert "Leave out algorithm.name to take 'best'" in hint
    assert "publish.max_loss = 1" in hint
    by_default = sf.anonymize(STRANGERS, **ASKED)
    assert by_default.manifest["utility"]["ncp"] < 0.95


def test_max_loss_1_publishes_it_all_the_same():
    release = sf.anonymize(STRANGERS, **ASKED, algorithm="klt", max_loss=1)
    assert release.manifest["utility"]["ncp"] == 1.0
    assert release.manifest["policy"]["publish"]["max_loss"] == 1.0


def test_the_limit_is_on_the_manifests_own_ncp():
    ncp = sf.anonymize(STRANGERS, **ASKED, algorithm="mdav").manifest["utility"]["ncp"]
    met = sf.anonymize(STRANGERS, **ASKED, algorithm="mdav", max_loss=ncp)
    assert met.manifest["utility"]["ncp"] == ncp
    assert "NCP" in refused(algorithm="mdav", max_loss=ncp - 0.001).message


def test_rows_left_out_count_as_lost():
    columns = {"age": [*range(0, 100, 2), *[300] * 10]}
    settings = {
        "quasi": ["age"],
        "k": 10,
        "max_suppressed": 0.9,
        "algorithm": "optimal",
    }
    with pytest.raises(LossError, match="50 of 60 rows are left out"):
        sf.anonymize(pa.table(columns), **settings, max_loss=0.5)


def test_operators_that_keep_quasi_identifiers_have_no_limit():
    asked = {"quasi": ["zip", "job"], "sensitive": "illness", "l": 2}
    release = sf.anonymize(STRANGERS, **asked, algorithm="klt", operator="swap")
    assert release.manifest["rows_out"] == ROWS


def test_microaggregation_has_no_limit():
    release = sf.anonymize(
        STRANGERS, **ASKED, algorithm="klt", operator="microaggregate"
    )
    assert release.manifest["rows_out"] == ROWS


@pytest.mark.parametrize("limit", [-0.1, 1.1])
def test_a_limit_outside_0_to_1_is_refused(limit):
    with pytest.raises(PolicyError, match="max_loss"):
        sf.anonymize(STRANGERS, **ASKED, max_loss=limit)


def test_whoever_catches_infeasible_requests_catches_this_one():
    assert issubclass(LossError, InfeasibleError)


def test_the_refusal_shows_no_cell():
    fault = str(refused(algorithm="klt"))
    assert not any(word in fault for word in ("z10", "j10", "flu", "gout"))
