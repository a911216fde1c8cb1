"""Other tools answer an impossible request with an empty table or one of stars."""

from __future__ import annotations

import pandas as pd
import pytest

import sfumato as sf
from sfumato.errors import InfeasibleError


def people(rows: int = 10) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": [20 + i for i in range(rows)],
            "illness": [("influenza", "gout", "measles")[i % 3] for i in range(rows)],
        }
    )


def test_k_larger_than_the_table_is_an_error_with_both_numbers():
    with pytest.raises(InfeasibleError, match=r"k-anonymity.*\b11\b.*\b10\b") as caught:
        sf.anonymize(people(), quasi=["age"], sensitive=["illness"], k=11)
    assert "10" in caught.value.hint
    assert caught.value.exit_code == 3


def test_k_as_large_as_the_table_is_served():
    settings = {"quasi": ["age"], "sensitive": ["illness"], "max_loss": 1}
    release = sf.anonymize(people(), k=10, **settings)
    assert len(release.data) == 10


def test_l_larger_than_the_sensitive_values_is_an_error_with_both_numbers():
    with pytest.raises(InfeasibleError, match=r"l-diversity.*\b4\b.*\b3\b") as caught:
        sf.anonymize(people(), quasi=["age"], sensitive=["illness"], k=2, l=4)
    assert "3" in caught.value.hint


def test_an_infeasible_request_shows_no_cell():
    with pytest.raises(InfeasibleError) as caught:
        sf.anonymize(people(), quasi=["age"], sensitive=["illness"], l=4)
    assert not any(word in str(caught.value) for word in people()["illness"])


def test_suppression_is_no_way_around_a_table_that_is_too_small():
    with pytest.raises(InfeasibleError):
        sf.anonymize(
            people(), quasi=["age"], sensitive=["illness"], k=11, max_suppressed=1.0
        )
