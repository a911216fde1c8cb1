"""Numbers on a grid: which step each is in, and how steps are published."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from math import floor

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.coding import code_alike
from sfumato.data.number_grid import NumberGrid
from sfumato.errors import DataError, PolicyError, RefusedError

CELL = re.compile(r"^\[(-?[\d.]+), (-?[\d.]+)\)$")


def coded(cells, resolution, **options):
    grid = NumberGrid.of(resolution)
    column, _ = code_alike("x", pa.chunked_array([cells]), grid=grid, **options)
    return column


def inside(cell: str, number: Fraction) -> bool:
    found = CELL.match(cell)
    assert found, cell
    return Fraction(found[1]) <= number < Fraction(found[2])


@pytest.mark.parametrize(
    ("resolution", "cell", "shown"),
    [
        (5, "20", "[20, 25)"),
        (5, "24", "[20, 25)"),
        (5, "-1", "[-5, 0)"),
        (5, "-5", "[-5, 0)"),
        (0.1, "0.3", "[0.3, 0.4)"),
        (0.1, "0.7", "[0.7, 0.8)"),
        (0.1, "-0.3", "[-0.3, -0.2)"),
        (0.25, "1.24999999999999", "[1, 1.25)"),
        (1000, "123456789012345678", "[123456789012345000, 123456789012346000)"),
        (2.5, "7", "[5, 7.5)"),
    ],
)
def test_a_number_is_in_the_step_that_covers_it(resolution, cell, shown):
    assert coded(pa.array([cell]), resolution).labels == (shown,)


@given(
    cells=st.lists(
        st.decimals(-(10**9), 10**9, places=3, allow_nan=False), min_size=1, max_size=30
    ),
    resolution=st.sampled_from([0.1, 0.25, 0.3, 1, 7, 1000, 0.001]),
)
def test_every_number_is_in_its_step(cells, resolution):
    texts = [str(cell) for cell in cells]
    column = coded(pa.array(texts), resolution)
    length = Fraction(Decimal(repr(resolution)))
    for code, cell in zip(column.codes.tolist(), cells, strict=True):
        number = Fraction(cell)
        assert inside(column.labels[code], number)
        assert Fraction(column.steps[code][0]) == floor(number / length) * length


def test_floats_texts_and_decimals_are_on_the_same_steps():
    texts = ["0.1", "0.2", "0.3", "0.7", "1.1", "-0.6"]
    floats = pa.array([float(text) for text in texts])
    exact = pa.array([Decimal(text) for text in texts], pa.decimal128(5, 2))
    found = [coded(cells, 0.1).labels for cells in (pa.array(texts), floats, exact)]
    assert found[0] == found[1] == found[2]


def test_missing_cells_are_on_no_step():
    column = coded(pa.array(["3", None, "?", "4"]), 5, missing=["?"])
    assert column.labels == ("[0, 5)", "?")
    assert column.codes.tolist() == [0, 1, 1, 0]
    assert column.missing == 1


def test_words_have_no_steps():
    with pytest.raises(DataError, match="has a resolution, and its kind is category"):
        coded(pa.array(["a", "b"]), 5)


def policy_of(algorithm=None, **publish):
    return sf.Policy.model_validate(
        {
            "columns": {
                "pay": {"role": "quasi", "resolution": 0.5},
                "age": {"role": "quasi", "resolution": 10},
                "ill": {"role": "sensitive"},
            },
            "require": [{"model": "k-anonymity", "k": 3}],
            "algorithm": algorithm or {"name": "mondrian"},
            "publish": {"order": "source", "max_loss": 1.0, **publish},
        }
    )


def people(rows=200):
    draw = np.random.default_rng(3)
    pay = np.round(draw.normal(0, 20, rows), 2)
    return pa.table(
        {
            "pay": pa.array(pay, mask=draw.random(rows) < 0.05),
            "age": pa.array(draw.integers(-5, 90, rows)),
            "ill": draw.choice(["flu", "cold"], rows).tolist(),
        }
    )


@pytest.mark.parametrize("name", ["mondrian", "datafly"])
def test_published_cells_cover_the_values_and_no_row_shows_its_own(name):
    table = people()
    policy = policy_of({"name": name}, operator="generalize")
    release = sf.anonymize(table, policy, insecure_seed=1)
    for column in ("pay", "age"):
        source = table.column(column).to_pylist()
        shown = release.table.column(column).to_pylist()
        for value, cell in zip(source, shown, strict=True):
            if value is None:
                assert cell in (None, "*")
            elif cell != "*":
                assert inside(cell, Fraction(str(value)))
    assert sf.check(release.table, policy).holds


def test_steps_are_the_same_on_both_engines(tmp_path, monkeypatch):
    monkeypatch.setattr("sfumato.data.disk_arrays.SMALL", 1)
    source = tmp_path / "people.parquet"
    pq.write_table(people(), source)
    written = []
    for engine in ("memory", "duckdb"):
        place = tmp_path / engine
        release = sf.anonymize(
            source, policy_of(), insecure_seed=1, engine=engine, memory_limit="100MB"
        )
        release.save(place)
        written.append((place / "data.parquet").read_bytes())
    assert written[0] == written[1]


@pytest.mark.parametrize("publish", [{"numbers": "bounds"}, {"numbers": "mean"}])
def test_operators_that_show_no_intervals_are_refused(publish):
    with pytest.raises(RefusedError, match="does not show intervals"):
        sf.anonymize(people(), policy_of(**publish))


@pytest.mark.parametrize(
    "operator", ["suppress", "swap", "anatomize", "microaggregate"]
)
def test_operators_that_show_values_are_refused(operator):
    document = policy_of(operator=operator).public_dict()
    document["require"] = [{"model": "group-size", "k": 3}]
    with pytest.raises(RefusedError, match="does not show intervals"):
        sf.anonymize(people(), sf.Policy.model_validate(document))


@pytest.mark.parametrize(
    "section",
    [
        'role = "sensitive"',
        'role = "quasi"\nhierarchy = { intervals = [10] }',
        'role = "quasi"\nkind = "date"',
    ],
)
def test_a_resolution_of_no_plain_number_is_refused(section):
    text = f"version = 1\n[columns.x]\nresolution = 5\n{section}\n"
    with pytest.raises(PolicyError, match="no plain numeric quasi-identifier"):
        sf.Policy.parse(text)


@pytest.mark.parametrize("resolution", [0, -1, float("inf")])
def test_a_resolution_must_be_a_number_above_zero(resolution):
    with pytest.raises(PolicyError, match="resolution"):
        sf.Policy.model_validate(
            {"columns": {"x": {"role": "quasi", "resolution": resolution}}}
        )
