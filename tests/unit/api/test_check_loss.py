"""With the original, a check also says what the table lost: by values and in bits."""

from __future__ import annotations

import json
from math import log2

import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.app import app
from sfumato.errors import RefusedError

CITIES = ["a", "a", "a", "b", "c", "d"]
SHOWN = ["{a|b}"] * 4 + ["{c|d}"] * 2
ORIGINAL = pa.table({"city": CITIES})
PUBLISHED = pa.table({"city": SHOWN})
NCP = 2 / 4
"""Every cell shows two of four values."""
OPEN = 3 * log2(4 / 3) + log2(4) + 2 * log2(2)
"""In the first set, a has three rows of four and b one; in the second, each has half."""
ALL = 3 * log2(6 / 3) + 3 * log2(6)
"""A table that shows nothing: a has three rows of six, each other value one."""


def test_check_measures_both_losses_beside_the_original():
    result = sf.check(PUBLISHED, quasi=["city"], k=2, original=ORIGINAL)
    assert result.holds
    assert result.loss["ncp"] == pytest.approx(NCP)
    assert result.loss["non_uniform_entropy"] == pytest.approx(OPEN / ALL)


def test_check_without_the_original_claims_no_loss():
    result = sf.check(PUBLISHED, quasi=["city"], k=2)
    assert result.loss == {}
    assert result.loss_not_measured == {}


def test_a_table_that_shows_everything_lost_nothing():
    result = sf.check(ORIGINAL, quasi=["city"], k=1, original=ORIGINAL)
    assert result.loss == {"ncp": 0.0, "non_uniform_entropy": 0.0}


def files(place):
    for name, table in (("original", ORIGINAL), ("published", PUBLISHED)):
        pa_csv.write_csv(table, place / f"{name}.csv")
    return [str(place / "published.csv"), "--quasi", "city", "--k", "2"]


def test_the_command_prints_the_losses_and_says_that_they_are_private(tmp_path):
    asked = [*files(tmp_path), "--original", str(tmp_path / "original.csv")]
    said = CliRunner().invoke(app, ["check", *asked])
    assert said.exit_code == 0
    assert "Lost, measured beside the original (private):" in said.stdout
    assert "50" in said.stdout


def test_the_record_has_a_loss_only_with_the_original(tmp_path):
    asked = ["check", *files(tmp_path), "--json"]
    without = json.loads(CliRunner().invoke(app, asked).stdout)
    more = ["--original", str(tmp_path / "original.csv")]
    beside = json.loads(CliRunner().invoke(app, [*asked, *more]).stdout)
    assert "loss" not in without
    assert beside["loss"]["ncp"] == pytest.approx(NCP)
    assert beside["loss"]["non_uniform_entropy"] == pytest.approx(OPEN / ALL)
    assert beside["loss"]["not_measured"] == {}


def test_no_loss_is_measured_where_rows_are_only_counted(tmp_path):
    files(tmp_path)
    with pytest.raises(RefusedError, match="takes both in memory"):
        sf.check(
            tmp_path / "published.csv",
            quasi=["city"],
            k=2,
            original=tmp_path / "original.csv",
            engine="duckdb",
        )
