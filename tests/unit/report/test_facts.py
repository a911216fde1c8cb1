"""Facts of a release: what the report may say, and nothing else."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.json_records import dump
from sfumato.report.facts import MOST_BARS, build, size_bins

MANIFEST: dict[str, Any] = {
    "sfumato": "0.1.0",
    "policy_sha256": "a" * 64,
    "data_sha256": "b" * 64,
    "rows_in": 12,
    "rows_out": 10,
    "rows_suppressed": 2,
    "groups": 2,
    "requirements": [
        {
            "model": "k-anonymity",
            "parameters": {"k": 5},
            "holds": True,
            "measured": 5,
            "offending_groups": 0,
            "sentence": "Nobody stands alone.",
            "blind_spot": "Sensitive values.",
        }
    ],
    "utility": {"ncp": 0.25},
    "risk": {"prosecutor_max": 0.2},
    "algorithm": {"name": "mondrian", "cut": "gain"},
    "operator": {"name": "generalize"},
    "policy": {
        "columns": {
            "name": {"role": "identifier"},
            "case": {"role": "identifier", "pseudonymize": "keyed-hash"},
            "zip": {"role": "quasi", "hierarchy": {"prefix": [4, 3]}},
            "ward": {"role": "insensitive"},
            "note": {"role": "insensitive", "drop": True},
        }
    },
}
FOUND: dict[str, Any] = {
    "columns": {"zip": {"ncp": 0.5, "generalized_loss": 0.4}},
    "group_sizes": [{"size": 5, "groups": 2}],
    "algorithm": {"cuts": 1},
}


def test_every_column_of_the_policy_says_how_it_was_published():
    columns = build(MANIFEST, FOUND)["columns"]
    assert {column["name"]: column["treatment"] for column in columns} == {
        "name": "dropped",
        "case": "pseudonymized",
        "zip": "generalize",
        "ward": "kept",
        "note": "dropped",
    }


def test_swapping_touches_the_sensitive_columns_only():
    swapped = MANIFEST | {
        "operator": {"name": "swap"},
        "policy": {"columns": {"a": {"role": "quasi"}, "b": {"role": "sensitive"}}},
    }
    treatments = [c["treatment"] for c in build(swapped, {})["columns"]]
    assert treatments == ["kept", "swapped"]


def test_losses_stand_at_their_column():
    [zip_code] = [c for c in build(MANIFEST, FOUND)["columns"] if c["name"] == "zip"]
    assert (zip_code["ncp"], zip_code["generalized_loss"]) == (0.5, 0.4)
    assert zip_code["hierarchy"] == "prefix 4, 3"


def test_a_measured_column_that_the_policy_does_not_name_is_told():
    bare = MANIFEST | {"policy": {}}
    assert [c["name"] for c in build(bare, FOUND)["columns"]] == ["zip"]


def test_what_an_algorithm_found_in_the_source_is_no_fact():
    assert build(MANIFEST, FOUND)["algorithm"] == {"name": "mondrian", "cut": "gain"}


def test_the_sentences_of_algorithm_and_operator_explain_the_release():
    sentences = {"algorithm": {"sentence": "Cuts."}, "operator": {"sentence": "Shows."}}
    assert build(MANIFEST, FOUND | sentences)["explanation"] == ["Cuts.", "Shows."]


def test_private_parts_of_a_manifest_do_not_pass():
    leaky = MANIFEST | {"seed": "5eed", "source_rows": [1, 2]}
    assert "5eed" not in dump(build(leaky, FOUND))
    assert "source_rows" not in build(leaky, FOUND)


def test_a_release_certified_by_its_process_needs_no_source_counts():
    private = {k: v for k, v in MANIFEST.items() if k not in {"rows_in"}}
    assert build(private, {})["rows_in"] is None


def test_json_gives_the_facts_back():
    facts = build(MANIFEST, FOUND)
    assert json.loads(dump(facts)) == facts


def test_json_has_no_infinity():
    assert json.loads(dump({"measured": float("inf"), "t": np.float64(0.5)})) == {
        "measured": None,
        "t": 0.5,
    }


def test_few_sizes_have_a_bin_each():
    sizes = [{"size": 5, "groups": 3}, {"size": 7, "groups": 1}]
    assert size_bins(sizes) == [
        {"low": 5, "high": 5, "groups": 3, "rows": 15},
        {"low": 6, "high": 6, "groups": 0, "rows": 0},
        {"low": 7, "high": 7, "groups": 1, "rows": 7},
    ]


def test_many_sizes_share_bins_of_a_round_width():
    sizes = [{"size": size, "groups": 1} for size in range(5, 105)]
    bins = size_bins(sizes)
    assert {each["high"] - each["low"] for each in bins} == {4}
    assert bins[0] == {"low": 5, "high": 9, "groups": 5, "rows": 35}


def test_no_group_makes_no_bin():
    assert size_bins([]) == []


@given(
    st.dictionaries(
        st.integers(1, 10**6), st.integers(1, 10**4), min_size=1, max_size=30
    )
)
def test_bins_lose_no_group_and_no_row(counts):
    bins = size_bins([{"size": s, "groups": g} for s, g in counts.items()])
    assert len(bins) <= MOST_BARS
    assert sum(each["groups"] for each in bins) == sum(counts.values())
    assert sum(each["rows"] for each in bins) == sum(s * g for s, g in counts.items())
    assert all(a["high"] + 1 == b["low"] for a, b in itertools.pairwise(bins))
