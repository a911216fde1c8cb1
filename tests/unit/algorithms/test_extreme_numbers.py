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
