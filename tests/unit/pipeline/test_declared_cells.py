"""Under a process model a slip in the cells costs no budget, and no cell ends a run."""

from __future__ import annotations

import datetime as dt
import json
import warnings

import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

import sfumato as sf
from sfumato.cli import main
from sfumato.errors import DataError, DomainWarning, PolicyError
from tests.unit.pipeline.test_certified_releases import (
    ALGORITHMS,
    LEDGER,
    POLICY,
    ROWS,
    every_algorithm,
    people,
)

STRAY = 7
"""Cells outside their domain."""
OUTSIDE = f"'city' {STRAY:,} of {ROWS:,} cells"
SECRET = "Secretville"


def column(name: str, cells: list) -> pa.Table:
    """The table of people with other cells in a column."""
    table = people()
    place = table.column_names.index(name)
    return table.set_column(place, name, pa.array(cells))


def stray(name: str = "city", text: str = SECRET) -> pa.Table:
    """The table of people with a few cells outside the domain of a column."""
    cells = [str(cell) for cell in people().column(name).to_pylist()]
    return column(name, [text] * STRAY + cells[STRAY:])


def asked(name: str, base, mode: str = "warn", data: str = "") -> sf.Policy:
    text = POLICY.replace("[data]", f"[data]\n{data}")
    text += f'{ALGORITHMS[name]}{LEDGER}precheck = "{mode}"\n'
    return sf.Policy.parse(text, base=base)


def charges(base) -> int:
    ledger = base / "ledger.json"
    return len(json.loads(ledger.read_text())["charges"]) if ledger.exists() else 0


@every_algorithm
@pytest.mark.parametrize("name_of", ["city", "age", "disease"])
def test_a_column_without_any_cell_of_its_domain_is_refused_uncharged(
    name, name_of, tmp_path
):
    table = column(name_of, [SECRET] * ROWS)
    text = f"'{name_of}': {ROWS:,} of {ROWS:,} cells .* Nothing was charged"
    with pytest.raises(DataError, match=text) as caught:
        sf.anonymize(table, asked(name, tmp_path))
    assert SECRET not in str(caught.value)
    assert 'privacy.precheck = "off"' in str(caught.value)
    assert caught.value.values == (SECRET,)
    assert charges(tmp_path) == 0


@every_algorithm
def test_a_few_cells_outside_are_missing_and_counted_for_the_steward_alone(
    name, tmp_path
):
    with pytest.warns(DomainWarning, match=OUTSIDE) as told:
        release = sf.anonymize(stray(), asked(name, tmp_path))
    release.save(tmp_path / "release")
    assert "do not pass them on" in str(told[0].message)
    audit = json.loads((tmp_path / "release/private/audit.json").read_text())
    assert audit["outside_domain"] == {"city": STRAY}
    assert not any("outside" in key for key in release.manifest)
    for file in tmp_path.glob("release/*.*"):
        content = file.read_text("utf-8")
        assert "outside_domain" not in content
        assert SECRET not in content


@every_algorithm
def test_with_refuse_any_cell_outside_ends_the_run_uncharged(name, tmp_path):
    with pytest.raises(DataError, match=OUTSIDE) as caught:
        sf.anonymize(stray(), asked(name, tmp_path, "refuse"))
    assert 'privacy.precheck = "warn"' in str(caught.value)
    assert charges(tmp_path) == 0


@every_algorithm
@pytest.mark.parametrize("name_of", ["city", "age", "disease"])
def test_switched_off_the_check_is_silent_and_no_cell_ends_the_run(
    name, name_of, tmp_path
):
    table = column(name_of, [SECRET] * ROWS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release = sf.anonymize(table, asked(name, tmp_path, "off"))
    assert release.table.num_rows > 0
    assert charges(tmp_path) == 1


@every_algorithm
def test_a_table_without_rows_is_refused_uncharged(name, tmp_path):
    with pytest.raises(DataError, match=r"no rows\. Nothing was charged"):
        sf.anonymize(people(0), asked(name, tmp_path))
    assert charges(tmp_path) == 0


@every_algorithm
def test_rows_that_would_all_be_dropped_are_refused_uncharged(name, tmp_path):
    drop = 'missing_as = "drop"'
    with pytest.raises(DataError, match=f"one of the {ROWS:,} rows"):
        sf.anonymize(column("city", [None] * ROWS), asked(name, tmp_path, data=drop))
    assert charges(tmp_path) == 0


def test_dropped_rows_are_those_of_cells_outside_too(tmp_path):
    policy = asked("safepub", tmp_path, data='missing_as = "drop"')
    with pytest.warns(DomainWarning):
        table = sf.anonymize(stray(), policy).table
    assert table.column("city").null_count == 0


def test_an_integer_with_a_fraction_of_zeros_is_of_its_domain(tmp_path):
    """Pandas writes a column of whole numbers with gaps as 65.0."""
    cells = [f"{age}.0" for age in people().column("age").to_pylist()]
    release = sf.anonymize(column("age", cells), asked("dp-synthesis", tmp_path))
    assert release.audit["outside_domain"] == {}


DATES = """
version = 1
[columns.day]
role = "quasi"
kind = "date"
domain = { low = 2020-01-01, high = 2020-12-31 }
hierarchy = { calendar = ["month", "year"] }
[[require]]
model = "differential-privacy"
epsilon = 1.0
delta = 1e-6
[algorithm]
name = "safepub"
levels = { day = 1 }
"""


@pytest.mark.parametrize("other", ["2020-02-30", "13/04/2020", "word", "9999-12-31"])
def test_no_other_row_decides_how_a_date_is_read(other):
    days = ["2020-04-03"] * 3000
    with pytest.warns(DomainWarning, match="'day' 1 of 3,001"):
        release = sf.anonymize(
            pa.table({"day": [*days, other]}), sf.Policy.parse(DATES)
        )
    assert set(release.table.column("day").to_pylist()) == {"2020-04"}


def test_one_moment_beside_midnights_changes_no_other_date():
    days = [dt.datetime(2020, 4, 3)] * 3000
    table = pa.table({"day": [*days, dt.datetime(2020, 4, 3, 12)]})
    with pytest.warns(DomainWarning, match="'day' 1 of 3,001"):
        release = sf.anonymize(table, sf.Policy.parse(DATES))
    assert set(release.table.column("day").to_pylist()) == {"2020-04"}


def test_bytes_are_refused_by_their_type_even_without_the_check(tmp_path):
    table = column("city", [b"\xff"] * ROWS)
    with pytest.raises(DataError, match="'city' has the type binary"):
        sf.anonymize(table, asked("safepub", tmp_path, "off"))
    assert charges(tmp_path) == 0


def test_a_sensitive_line_needs_its_kind_before_the_charge(tmp_path):
    policy = asked("dp-anonym", tmp_path).with_setting(
        "columns.disease.hierarchy", {"calendar": ["month"]}
    )
    with pytest.raises(PolicyError, match="'disease' has no declared kind"):
        sf.anonymize(people(), policy)
    assert charges(tmp_path) == 0


def test_the_command_tells_the_steward_on_stderr_and_not_in_json(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    pa_csv.write_csv(stray(), "people.csv")
    (tmp_path / "policy.toml").write_text(POLICY + ALGORITHMS["dp-synthesis"] + LEDGER)
    assert main(["anonymize", "policy.toml", "--out", "release", "--json"]) == 0
    said = capsys.readouterr()
    assert OUTSIDE in said.err
    assert said.err.startswith("Warning: Cells outside")
    assert "count as missing" not in said.out
    assert "outside_domain" not in said.out


def test_the_command_ends_with_2_and_charges_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pa_csv.write_csv(column("city", [SECRET] * ROWS), "people.csv")
    (tmp_path / "policy.toml").write_text(POLICY + ALGORITHMS["dp-synthesis"] + LEDGER)
    assert main(["anonymize", "policy.toml", "--out", "release", "--json"]) == 2
    said = capsys.readouterr()
    assert "Nothing was charged." in said.out + said.err
    assert SECRET not in said.out + said.err
    assert charges(tmp_path) == 0
