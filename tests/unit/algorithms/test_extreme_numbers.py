"""Columns of huge, tiny or no numbers at all are grouped like others."""

from __future__ import annotations

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato import registry

TABLES = {
    "huge": ["9.9e-300", "-4.4e-20", "1e300", "-1e300", "0", "1"],
    "tiny": ["1e-300", "2e-300", "3e-300", "4e-300", "5e-300", "6e-300"],
    "missing": [""] * 6,
}
ALGORITHMS = [
    name
    for name in registry.names("algorithms")
    if not registry.algorithm(name).certifies
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("numbers", TABLES.values(), ids=TABLES)
def test_every_algorithm_groups_extreme_and_missing_numbers(name, numbers):
    table = pa.table({"amount": numbers, "illness": list("ababab")})
    release = sf.anonymize(
        table,
        quasi="amount",
        sensitive="illness",
        k=2,
        algorithm=name,
        kinds={"amount": "decimal"},
        missing=[""],
        max_loss=1.0,
        threads=1,
    )
    assert release.data.num_rows == len(numbers)


@pytest.mark.filterwarnings("error")
def test_a_cell_of_tiny_sensitive_numbers_beside_huge_ones_is_grouped():
    illness = ["1e-300", "2e-300", "3e-300", "1e300", "1e300", "1e300"]
    table = pa.table({"age": ["1", "1", "1", "9", "9", "9"], "dose": illness})
    release = sf.anonymize(
        table,
        quasi="age",
        sensitive="dose",
        k=2,
        algorithm={"name": "k-member-p", "partition_rows": 3},
        kinds={"age": "integer", "dose": "decimal"},
        max_loss=1.0,
    )
    assert release.data.num_rows == 6
