"""A column that an operator adds never takes the name of one that is there."""

from unittest.mock import patch

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.algorithms.base import Algorithm
from sfumato.errors import PolicyError

AGES = ["30", "31", "32", "60", "61", "62"]
WORDS = ["a", "a", "b", "b", "c", "c"]


def refused_before_any_work(columns, **settings):
    """The message of a refusal that comes before a cell is coded or a group made."""
    settings = {"unlisted": "keep", **settings}
    with (
        patch("sfumato.pipeline.build_request.coded_table", side_effect=AssertionError),
        patch.object(Algorithm, "solve", side_effect=AssertionError),
        pytest.raises(PolicyError) as caught,
    ):
        sf.anonymize(pa.table(columns), **settings)
    return caught.value.message


@pytest.mark.parametrize("role", ["insensitive", "sensitive", "quasi"])
@pytest.mark.parametrize("end", ["_from", "_to"])
def test_bounds_refuse_a_column_named_like_a_bound(role, end):
    columns = {"age": AGES, f"age{end}": AGES}
    settings = {"quasi": ["age"]}
    settings[role] = [*settings.get(role, []), f"age{end}"]
    message = refused_before_any_work(columns, numbers="bounds", k=2, **settings)
    assert message == (
        f"The table has a column 'age{end}', and 'generalize', as it is set, adds a "
        "column of that name."
    )


def test_a_column_named_like_a_bound_is_fine_where_no_bounds_are_added():
    columns = {"age": AGES, "age_from": AGES, "job": WORDS, "job_to": AGES}
    kept = [name for name in columns if name != "age"]
    settings = {"quasi": ["age"], "insensitive": kept, "keep_as_is": kept, "k": 2}
    plain = sf.anonymize(pa.table(columns), **settings)
    assert sorted(plain.table.column_names) == sorted(columns)
    kept = [name for name in columns if name != "job"]
    settings = {"quasi": ["job"], "insensitive": kept, "keep_as_is": kept, "k": 2}
    settings["numbers"] = "bounds"
    words = sf.anonymize(pa.table(columns), **settings)
    assert sorted(words.table.column_names) == sorted(columns)


def test_a_column_that_is_left_out_gives_its_name_away():
    columns = {"age": AGES, "age_from": AGES}
    settings = {"quasi": ["age"], "identifier": ["age_from"], "k": 2}
    settings |= {"numbers": "bounds"}
    release = sf.anonymize(pa.table(columns), **settings)
    assert release.table.column_names == ["age_from", "age_to"]
    assert sf.check(release.table, **settings).withheld == ()


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("group", "quasi"),
        ("group", "insensitive"),
        ("group", "sensitive"),
        ("count", "sensitive"),
    ],
)
def test_anatomize_refuses_the_names_of_its_own_columns(name, role):
    columns = {"age": AGES, "ill": WORDS, name: WORDS}
    settings = {"quasi": ["age"], "sensitive": ["ill"]}
    settings[role] = [*settings.get(role, []), name]
    message = refused_before_any_work(columns, operator="anatomize", l=2, **settings)
    assert f"a column '{name}'" in message
    assert "'anatomize'" in message


def test_anatomize_lets_a_count_leave_beside_the_quasi_identifiers():
    columns = {"count": AGES, "ill": ["a", "b", "c", "a", "b", "c"]}
    settings = {"quasi": ["count"], "sensitive": ["ill"], "l": 2}
    release = sf.anonymize(pa.table(columns), operator="anatomize", **settings)
    assert release.table.column_names == ["count", "group"]
