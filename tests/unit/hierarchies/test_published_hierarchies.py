"""The hierarchies of real tables, as they were published."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

from sfumato.data.schema import Kind
from sfumato.data.table import Column
from sfumato.errors import HierarchyError
from sfumato.hierarchies.axis import CodedAxis
from sfumato.hierarchies.build import build
from sfumato.hierarchies.labels import parse_value

Columns = Callable[..., Column]

FAULTY = {"adult/hierarchies/age.csv"}
"""Files whose labels do not contain their values (the notes beside the data)."""
MISSING = ("?", "N/A", "")
CODES = {"ZIP"}


@cache
def values_of(path: Path) -> dict[str, list[str]]:
    """The distinct cells of each column of a table, as text."""
    raw = path.read_bytes()
    data = gzip.decompress(raw) if path.suffix == ".gz" else raw
    names = data.split(b"\n", 1)[0].decode().strip().split(",")
    text = pa_csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
    )
    lines = pa_csv.ParseOptions(newlines_in_values=True)
    table = pa_csv.read_csv(io.BytesIO(data), convert_options=text, parse_options=lines)
    return {name: [str(cell) for cell in table[name].unique()] for name in names}


def kind_of(name: str, cells: Sequence[str]) -> Kind:
    known = {cell for cell in cells if cell not in MISSING}
    numbers = np.array([parse_value(cell, kind=Kind.DECIMAL) for cell in known])
    if name in CODES or np.isnan(numbers).any():
        return Kind.CODE if name in CODES else Kind.CATEGORY
    whole = all(cell.lstrip("-").isdigit() for cell in known)
    return Kind.INTEGER if whole else Kind.DECIMAL


def column_from(table: Path, name: str, column_of: Columns) -> Column:
    cells = values_of(table)[name]
    return column_of(cells, kind_of(name, cells), name=name, missing=MISSING)


def adult(shared_data: Path, name: str, column_of: Columns, **spec: Any) -> CodedAxis:
    folder = shared_data / "adult"
    column = column_from(folder / "adult_clean_30162.csv.gz", name, column_of)
    return build(column, {"file": f"hierarchies/{name}.csv", **spec}, base=folder)


def test_every_published_hierarchy_fits_its_tables(
    shared_data: Path, column_of: Columns
) -> None:
    built = 0
    for dataset, file, table, facts in published(shared_data):
        column = column_from(
            shared_data / dataset / table, facts["attribute"], column_of
        )
        if not facts["coverage"][table]["uncovered_values"]:
            spec = {"file": file, "trust": f"{dataset}/{file}" in FAULTY}
            axis = build(column, spec, base=shared_data / dataset).axis
            assert axis.height == facts["levels"], file
            assert axis.size == column.size, file
            built += 1
    assert built >= 130


def test_values_that_published_hierarchies_lack_are_found(
    shared_data: Path, column_of: Columns
) -> None:
    for dataset, file, table, facts in published(shared_data):
        lacking = set(facts["coverage"][table]["uncovered_values"])
        if not lacking:
            continue
        name = facts["attribute"]
        cells = values_of(shared_data / dataset / table)[name]
        column = column_of(cells, Kind.CATEGORY, name=name)
        with pytest.raises(HierarchyError, match="has no leaf for") as info:
            build(column, file, base=shared_data / dataset)
        assert set(info.value.values) == lacking


def published(shared_data: Path) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Every data set, hierarchy file, table it serves, and what is on record of it."""
    manifest = json.loads((shared_data / "manifest.json").read_text())["datasets"]
    for dataset, entry in manifest.items():
        for file, facts in entry["hierarchies"].items():
            for table in facts["coverage"]:
                yield dataset, file, table, facts


def test_the_published_age_hierarchy_is_refused(
    shared_data: Path, column_of: Columns
) -> None:
    with pytest.raises(HierarchyError) as info:
        adult(shared_data, "age", column_of)
    # Every multiple of five sits one band too low; there are twenty from 5 to 100.
    assert info.value.message == (
        "Hierarchy 'age.csv' of column 'age' puts 20 of 100 values under an interval "
        "that does not contain them: 20 at level 1, 10 at level 2, 5 at level 3."
    )
    assert info.value.values == tuple(str(age) for age in range(5, 101, 5))


def test_the_trusted_age_hierarchy_keeps_the_order_of_ages(
    shared_data: Path, column_of: Columns
) -> None:
    axis = adult(shared_data, "age", column_of, trust=True).axis
    ages = [int(label) for label in axis.labels]
    assert ages == sorted(ages)
    shown = dict(zip(axis.labels, axis.levels.T.tolist(), strict=True))
    assert [axis.node_labels[node] for node in shown["20"]] == [
        "20", "15~19", "10~19", "0~19", "*"
    ]  # fmt: skip
    # Ages run from 17 to 90; bands are clipped to that.
    costs = dict(zip(axis.node_labels, axis.node_ncp, strict=True))
    assert costs["15~19"] == pytest.approx(2 / 73)
    assert costs["35~39"] == pytest.approx(4 / 73)
    assert costs["10~19"] == pytest.approx(2 / 73)
    assert costs["20~39"] == pytest.approx(19 / 73)
    assert costs["*"] == 1.0


@pytest.mark.parametrize(
    ("name", "label", "leaves", "total"),
    [
        ("education", "Graduate", 2, 16),
        ("education", "Higher education", 7, 16),
        ("workclass", "Government", 3, 8),
        ("workclass", "Unemployed", 2, 8),
        ("native-country", "North America", 12, 41),
    ],
)
def test_adult_labels_cost_their_leaves(
    shared_data: Path,
    column_of: Columns,
    name: str,
    label: str,
    leaves: int,
    total: int,
) -> None:
    axis = adult(shared_data, name, column_of).axis
    node = axis.node_labels.index(label)
    assert axis.node_ncp[node] == pytest.approx(leaves / total)
    assert axis.node_loss[node] == pytest.approx((leaves - 1) / (total - 1))


@pytest.mark.parametrize(
    "name",
    [
        "sex",
        "race",
        "marital-status",
        "education",
        "native-country",
        "workclass",
        "occupation",
    ],
)
def test_adult_nodes_cost_what_the_reference_scoring_says(
    shared_data: Path, column_of: Columns, name: str
) -> None:
    coded = adult(shared_data, name, column_of)
    text = (shared_data / "adult" / "hierarchies" / f"{name}.csv").read_text()
    rows = list(csv.reader(io.StringIO(text)))
    row_of = {row[0]: row for row in rows}
    axis = coded.axis
    for leaf, chain in zip(axis.labels, axis.levels.T.tolist(), strict=True):
        for level, node in enumerate(chain):
            label = row_of[leaf][level]
            under = sum(row[level] == label for row in rows)
            expected = 0.0 if level == 0 else under / len(rows)
            assert axis.node_labels[node] == label
            assert axis.node_ncp[node] == pytest.approx(expected)
