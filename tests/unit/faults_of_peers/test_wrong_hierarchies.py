"""Other tools publish what a wrong hierarchy says: 20 under 15~19."""

from __future__ import annotations

import pandas as pd
import pytest

import sfumato as sf
from sfumato.errors import HierarchyError


def people() -> pd.DataFrame:
    return pd.DataFrame(
        {"age": [15, 16, 19, 20, 21, 24] * 4, "illness": ["flu", "gout"] * 12}
    )


@pytest.fixture
def wrong(tmp_path):
    """A hierarchy that puts 20 under 15~19."""
    homes = {15: "15~19", 16: "15~19", 19: "15~19", 20: "15~19"}
    lines = [f"{age};{homes.get(age, '20~24')};*" for age in (15, 16, 19, 20, 21, 24)]
    path = tmp_path / "age.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_number_outside_its_interval_is_refused(wrong):
    with pytest.raises(HierarchyError, match=r"'age'.*\b1\b") as caught:
        sf.anonymize(
            people(),
            quasi=["age"],
            sensitive=["illness"],
            k=4,
            hierarchies={"age": str(wrong)},
        )
    assert "trust" in caught.value.hint


def test_the_values_at_fault_travel_with_the_error_but_not_in_its_text(wrong):
    with pytest.raises(HierarchyError) as caught:
        sf.anonymize(
            people(),
            quasi=["age"],
            sensitive=["illness"],
            k=4,
            hierarchies={"age": str(wrong)},
        )
    assert any("20" in value for value in caught.value.values)
    assert "15~19" not in str(caught.value)


def test_a_trusted_hierarchy_is_used_as_it_is(wrong):
    release = sf.anonymize(
        people(),
        quasi=["age"],
        sensitive=["illness"],
        k=8,
        hierarchies={"age": {"file": str(wrong), "trust": True}},
    )
    assert set(release.data["age"]) <= {"15~19", "20~24", "*"}


def test_a_value_that_the_hierarchy_misses_is_refused(wrong):
    table = pd.concat([people(), people().assign(age=33)])
    with pytest.raises(HierarchyError, match="'age'"):
        sf.anonymize(
            table,
            quasi=["age"],
            sensitive=["illness"],
            k=4,
            hierarchies={"age": {"file": str(wrong), "trust": True}},
        )
