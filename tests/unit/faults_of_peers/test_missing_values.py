"""Other tools lose sight of missing values: k is 1 where they say 5."""

from __future__ import annotations

from collections import Counter

import pandas as pd
import pytest

import sfumato as sf
from sfumato.data.seeds import Seed

ROWS = 500


def people(missing: object) -> pd.DataFrame:
    """A table with one quasi-identifier missing in two rows of a hundred."""
    towns = [f"town {i % 7}" for i in range(ROWS)]
    return pd.DataFrame(
        {
            "age": [18 + i * 7919 % 60 for i in range(ROWS)],
            "town": [missing if i % 50 == 0 else t for i, t in enumerate(towns)],
            "illness": [f"illness {i * i % 11}" for i in range(ROWS)],
        }
    )


def smallest_group(frame: pd.DataFrame, quasi: list[str]) -> int:
    """The fewest rows that share a tuple; a missing cell is a value like any other."""
    cells = frame[quasi].astype(object).where(frame[quasi].notna(), "missing")
    return min(Counter(cells.itertuples(index=False, name=None)).values())


@pytest.mark.parametrize("missing", [None, float("nan"), "?", ""])
def test_two_percent_missing_in_a_quasi_identifier_still_gives_true_k(missing):
    release = sf.anonymize(
        people(missing),
        quasi=["age", "town"],
        sensitive=["illness"],
        k=5,
        missing=["?", ""],
        seed=Seed.guessable(1),
    )
    assert len(release.data) == ROWS
    assert smallest_group(release.data, ["age", "town"]) >= 5


@pytest.mark.parametrize("missing", [None, float("nan"), "?", ""])
def test_check_counts_a_row_with_a_missing_cell_as_a_group_of_its_own(missing):
    table = pd.DataFrame(
        {"age": ["30"] * 5 + ["40"] * 5 + ["30"], "town": ["A"] * 10 + [missing]}
    )
    found = sf.check(table, quasi=["age", "town"], k=5, missing=["?", ""])
    assert not found.holds
    assert found.verdicts[0]["measured"] == 1


def test_check_counts_missing_cells_that_look_alike_as_one_group():
    table = pd.DataFrame({"age": ["30"] * 5, "town": ["?"] * 5})
    found = sf.check(table, quasi=["age", "town"], k=5, missing=["?", ""])
    assert found.holds


def test_check_tells_marks_apart_as_a_recipient_does():
    table = pd.DataFrame({"age": ["30"] * 5, "town": ["?", "?", "", "", ""]})
    found = sf.check(table, quasi=["age", "town"], k=5, missing=["?", ""])
    assert not found.holds
    assert found.verdicts[0]["measured"] == 2


def test_a_mark_that_is_not_declared_missing_is_a_value():
    table = pd.DataFrame({"town": ["NA"] * 3 + ["?"] * 2 + ["Unknown"] * 4})
    found = sf.check(table, quasi=["town"], k=2)
    assert found.verdicts[0]["measured"] == 2
    assert found.groups == 3


def test_a_missing_sensitive_value_is_a_value_of_its_own():
    table = pd.DataFrame({"town": ["A"] * 3, "illness": ["flu", None, None]})
    found = sf.check(table, quasi=["town"], sensitive=["illness"], l=2)
    assert found.verdicts[0]["measured"] == 2


def test_check_agrees_with_a_release_read_back_from_its_file(tmp_path):
    release = sf.anonymize(
        people(None),
        quasi=["age", "town"],
        k=5,
        insensitive="illness",
        keep_as_is="illness",
        seed=Seed.guessable(1),
    )
    release.save(tmp_path / "release")
    found = sf.check(
        tmp_path / "release" / "data.csv",
        quasi=["age", "town"],
        k=5,
        missing=[""],
        unlisted="keep",
    )
    assert found.holds
    assert found.verdicts[0]["measured"] == release.verdicts[0]["measured"]
