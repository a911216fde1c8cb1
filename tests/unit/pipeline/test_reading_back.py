"""A release says the same in its file as in memory, whatever types and names it has."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import sfumato as sf
from sfumato.data.published_cells import Cells, as_intervals
from sfumato.errors import DataError, GuaranteeError
from sfumato.pipeline.verification import Claim

FORMATS = ("csv", "parquet", "arrow")
AGES = [1, 1, 1, 1, 2, 2, 2, 9]


def near(reference):
    return [{"model": "t-closeness", "t": 0.6, "reference": reference}]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("record", [None, "manifest.json", "private/audit.json"])
def test_source_counts_are_those_of_values_not_of_spellings(tmp_path, format, record):
    """The one moment that is not at midnight is left out: dates are published."""
    day, next_day = dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2)
    seen = [day, next_day, day, next_day, day, next_day, day, day.replace(hour=5)]
    source = pa.table({"age": AGES, "seen": pa.array(seen, pa.timestamp("us"))})
    roles = {"quasi": "age", "sensitive": "seen", "require": near("source")}
    release = sf.anonymize(
        source, **roles, k=3, max_suppressed=0.2, format=format, max_loss=1
    )
    release.save(tmp_path / "out")
    found = sf.check(
        tmp_path / "out" / f"data.{format}",
        **roles,
        groups=tmp_path / "out" / "private" / "rows.parquet",
        manifest=None if record is None else tmp_path / "out" / record,
    )
    assert found.verdicts[0]["measured"] == pytest.approx(
        release.verdicts[1]["measured"]
    )


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_of_day_read_alike_in_every_unit_and_file(tmp_path, format, unit):
    """Parquet has no whole seconds: it keeps milliseconds."""
    moments = [dt.time(1), dt.time(2)] * 3 + [dt.time(1)] * 2
    kind = pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit)
    source = pa.table({"age": AGES, "at": pa.array(moments, kind)})
    release = sf.anonymize(
        source, quasi="age", sensitive="at", l=2, format=format, max_loss=1
    )
    release.save(tmp_path / "out")
    if format == "csv":
        lines = (tmp_path / "out" / "data.csv").read_text().splitlines()[1:]
        assert {line.rsplit(",", 1)[1] for line in lines} == {"01:00:00", "02:00:00"}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("reference", ["source", "published"])
@pytest.mark.parametrize("marks", [["?"], []])
@pytest.mark.parametrize(
    "values",
    [
        [1, None, 2, 1, None, 2, 1, 1],
        [1.5, float("nan"), 2.5, 1.5, None, 2.5, 1.5, 1.5],
        ["", None, "x", "", None, "x", "", ""],
    ],
    ids=["numbers", "not-numbers", "empty-texts"],
)
def test_nulls_are_missing_in_every_file_whatever_the_marks(
    tmp_path, format, reference, marks, values
):
    source = pa.table({"age": AGES, "value": pa.array(values)})
    release = sf.anonymize(
        source,
        quasi="age",
        sensitive="value",
        missing=marks,
        l=2,
        require=near(reference),
        format=format,
        max_loss=1,
    )
    release.save(tmp_path / "out")
    assert release.claim.policy.data.missing == (*marks, "")


def test_marks_stay_as_they_are_where_nothing_is_null():
    source = pa.table({"age": AGES, "value": ["", "x"] * 4})
    release = sf.anonymize(
        source, quasi="age", sensitive="value", missing=["?"], l=2, max_loss=1
    )
    assert release.claim.policy.data.missing == ("?",)


@pytest.mark.parametrize("missing_as", ["value", "any"])
def test_columns_called_like_bounds_are_two_columns_of_a_population(
    tmp_path, missing_as
):
    pairs = [(str(a), str(b)) for a in range(1, 5) for b in (5, 6)]
    people = pa.table(
        {"valid_from": [a for a, _ in pairs], "valid_to": [b for _, b in pairs]}
    )
    pyarrow.csv.write_csv(people, tmp_path / "people.csv")
    population = str(tmp_path / "people.csv")
    release = sf.anonymize(
        people.slice(0, 6),
        quasi=["valid_from", "valid_to"],
        require=[{"model": "k-map", "k": 2, "population": population}],
        missing_as=missing_as,
        max_loss=1,
    )
    released = release.table.to_pylist()
    fewest = min(
        sum(_holds(r["valid_from"], a) and _holds(r["valid_to"], b) for a, b in pairs)
        for r in released
    )
    assert release.verdicts[0]["measured"] == fewest >= 2


def _holds(cell, value):
    """Whether an interval or a number contains a number."""
    ends = cell.strip("[]").split(", ")
    return int(ends[0]) <= int(value) <= int(ends[-1])


def test_an_open_bound_is_a_half_line_not_everything():
    low = Cells(np.array([0, 1, 0], dtype=np.int32), ("3", None))
    high = Cells(np.array([0, 1, 1], dtype=np.int32), (None, "9"))
    both = as_intervals(low, high)
    assert [both.texts[code] for code in both.codes] == [">= 3", "<= 9", "[3, 9]"]


def test_a_file_of_ours_that_cannot_be_judged_is_a_fault_of_ours(tmp_path, monkeypatch):
    release = sf.anonymize(pa.table({"age": AGES}), quasi="age", k=2, max_loss=1)

    def refuse(*_):
        raise DataError("no")

    monkeypatch.setattr(Claim, "verify", refuse)
    with pytest.raises(GuaranteeError):
        release.save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
