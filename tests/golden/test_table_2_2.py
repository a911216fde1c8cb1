"""Seed 001: the 4-anonymous table 2.2 of the patients of table 2.1."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.algorithms.base import Request
from sfumato.algorithms.full_domain.local_optimal import LocalOptimal
from sfumato.algorithms.full_domain.optimal import Optimal
from sfumato.algorithms.partition.top_down import TopDown
from sfumato.data.coding import code_column
from sfumato.data.schema import Kind
from sfumato.data.seeds import Seed
from sfumato.hierarchies.build import build
from sfumato.models.k_anonymity import KAnonymity

AGES = [69, 61, 48, 56, 79, 61, 54, 49, 39, 43, 36, 29]
GENDERS = list("MMFFMFMFMFFM")
ZIPS = [
    *("70563", "70569", "70599", "70597"),
    *("70372", "70374", "70378", "70376"),
    *("70173", "70178", "70174", "70173"),
]
PUBLISHED = (
    [(">45", "*", "705**")] * 4
    + [(">45", "*", "7037*")] * 4
    + [("≤45", "*", "7017*")] * 4
)


def patients(tmp_path, *, gender_weight=1.0, seed=1):
    """Table 2.1 with the trees of figures 2.2 and 2.3."""
    ages = tmp_path / "age.csv"
    rows = sorted(set(AGES))
    ages.write_text(
        "".join(f"{age},{'≤45' if age <= 45 else '>45'},*\n" for age in rows),
        encoding="utf-8",
    )
    columns: dict[str, tuple[Any, ...]] = {
        "age": (AGES, Kind.INTEGER, {"file": "age.csv", "trust": True}, 1.0),
        "gender": (GENDERS, Kind.CATEGORY, "flat", gender_weight),
        "zip": (ZIPS, Kind.CODE, {"prefix": [4, 3]}, 1.0),
    }
    quasi = []
    for name, (cells, kind, spec, weight) in columns.items():
        column = code_column(
            name, pa.chunked_array([[str(c) for c in cells]]), kind=kind
        )
        quasi.append(build(column, spec, base=tmp_path, weight=weight))
    return Request(
        quasi=tuple(quasi), models=(KAnonymity(k=4),), seed=Seed.guessable(seed)
    )


def shown(request, grouping):
    """The cells of each row: the labels of the smallest nodes, or of the levels."""
    columns = []
    for j, coded in enumerate(request.quasi):
        codes = coded.codes
        low = np.array(
            [codes[grouping.group_of == g].min() for g in range(grouping.count)]
        )
        high = np.array(
            [codes[grouping.group_of == g].max() for g in range(grouping.count)]
        )
        nodes = coded.axis.covering(low, high)
        if grouping.levels is not None:
            nodes = coded.axis.levels[grouping.levels[:, j], low]
        labels = [coded.axis.node_labels[node] for node in nodes]
        columns.append([labels[g] for g in grouping.group_of])
    return list(zip(*columns, strict=True))


@pytest.mark.parametrize("seed", range(5))
def test_top_down_reaches_table_2_2_if_gender_weighs_little(tmp_path, seed):
    request = patients(tmp_path, gender_weight=0.25, seed=seed)
    grouping = TopDown().solve(request).grouping
    assert shown(request, grouping) == PUBLISHED


def test_local_recoding_reaches_table_2_2_if_gender_weighs_little(tmp_path):
    request = patients(tmp_path, gender_weight=0.5)
    grouping = LocalOptimal().solve(request).grouping
    assert shown(request, grouping) == PUBLISHED


def test_no_full_domain_generalization_is_table_2_2(tmp_path):
    request = patients(tmp_path)
    grouping = Optimal().solve(request).grouping
    assert grouping.levels is not None
    assert len({tuple(levels) for levels in grouping.levels.tolist()}) == 1
    assert shown(request, grouping) != PUBLISHED
