"""`init` and then `anonymize`, without an edit, on the real tables."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sfumato.cli import main
from sfumato.data.schema import Role
from sfumato.io.read import read_source
from sfumato.io.write import write_table
from sfumato.policy import Policy

TABLES = (
    "adult/adult_clean_30162.csv.gz",
    "adult/adult_test_16281.csv",
    "airline/airline.csv",
    "cahousing/cahousing.csv",
    "census_income/census_income_test.csv.gz",
    "cmc/cmc.csv",
    "cup/cup.csv",
    "eusilc/eusilc.csv",
    "german/german.csv",
    "informs/informs_conditions_2005.csv",
    "informs/informs_demographics_2005.csv",
    "mach2019_int/mach2019_int.csv",
    "mgm/mgm_830.csv",
    "mgm/mgm_961.csv",
    "pantheon/pantheon.csv",
    "pycanon_small/drugs.csv",
    "pycanon_small/students.csv",
    "sdcmicro/free1.csv",
    "sdcmicro/testdata.csv",
    "ss13acs/ss13acs_5col.csv",
    "stroke/stroke.csv",
)
"""At most two of each directory."""
MOST_ROWS = 20_000
"""Larger tables are sampled: every n-th row, so that so many are left."""
K = 5
MOST_LOSS = 0.5
MOST_ALONE = 0.05
"""The share of rows with a value of their own that a published column may have."""
MOST_RARE = 0.01
"""The share of rows that insensitive columns together may put into groups below k."""
CAP = 10


@dataclass(frozen=True)
class Result:
    """What came of one table."""

    source: pa.Table
    policy: Policy
    manifest: dict[str, Any]
    quasi: frozenset[str]
    """The quasi-identifiers of the literature."""
    identifiers: frozenset[str]

    @property
    def ncp(self) -> float:
        return float(self.manifest["utility"]["ncp"])

    @property
    def found(self) -> frozenset[str]:
        return self.quasi & set(self.policy.names(Role.QUASI))


@pytest.fixture(scope="module")
def results(shared_data, tmp_path_factory):
    listed = json.loads((shared_data / "manifest.json").read_text())["datasets"]
    place = tmp_path_factory.mktemp("real")
    return {
        name: _result(shared_data / name, listed, place / str(number))
        for number, name in enumerate(TABLES)
    }


def _result(path: Path, listed: Any, place: Path) -> Result:
    place.mkdir()
    source = _sampled(read_source(path))
    write_table(source, place / "data.csv")
    policy, out = place / "policy.toml", place / "release"
    assert main(["init", str(place / "data.csv"), "-o", str(policy)]) == 0
    # The policy leaves the algorithm open; Mondrian is fast enough for a test.
    fast = ["--set", "algorithm.name=mondrian", "--quiet"]
    assert main(["anonymize", str(policy), "--out", str(out), *fast]) == 0
    told = listed[path.parent.name]["roles"]
    told = told.get(path.name.split(".")[0], told)
    return Result(
        source=source,
        policy=Policy.load(policy),
        manifest=json.loads((out / "manifest.json").read_text()),
        quasi=_named(told, "qi_", source),
        identifiers=_named(told, "id", source),
    )


def _sampled(source: pa.Table) -> pa.Table:
    step = -(-source.num_rows // MOST_ROWS)
    return source.take(list(range(0, source.num_rows, step)))


def _named(told: Any, role: str, source: pa.Table) -> frozenset[str]:
    """The columns that any list of a role names and the table has."""
    listed = [names for key, names in told.items() if key.startswith(role)]
    plain = {name.split(" ")[0] for names in listed for name in names}
    return frozenset(plain & set(source.column_names))


@pytest.mark.parametrize("name", TABLES)
def test_every_release_holds_at_k_5(results, name):
    promised = results[name].manifest["requirements"]
    assert all(each["holds"] for each in promised)
    assert promised[0]["parameters"]["k"] == K


def test_at_least_fifteen_tables_lose_less_than_half(results):
    losses = {name: round(each.ncp, 3) for name, each in results.items()}
    assert len(losses) >= 15
    assert sum(loss < MOST_LOSS for loss in losses.values()) >= 15, losses


def test_every_identifier_is_recognized(results):
    missed = {
        name: each.identifiers - set(each.policy.names(Role.IDENTIFIER, Role.SUBJECT))
        for name, each in results.items()
    }
    assert not any(missed.values()), missed


def test_nine_of_ten_quasi_identifiers_are_recognized(results):
    """Pooled over tables, except where the literature names more than ten."""
    known = [each for each in results.values() if len(each.quasi) <= CAP]
    named = sum(len(each.quasi) for each in known)
    assert named >= 100
    assert sum(len(each.found) for each in known) >= 0.9 * named


def test_a_table_recognizes_nine_of_ten_on_average(results):
    """Over all tables that the literature names quasi-identifiers of."""
    shares = [len(r.found) / len(r.quasi) for r in results.values() if r.quasi]
    assert sum(shares) / len(shares) >= 0.9


def test_there_are_at_most_ten_quasi_identifiers(results):
    counts = [len(each.policy.names(Role.QUASI)) for each in results.values()]
    assert max(counts) <= CAP


@pytest.mark.parametrize("name", TABLES)
def test_nothing_that_identifies_is_published_as_it_is(results, name):
    each = results[name]
    published = each.policy.names(Role.SENSITIVE, Role.INSENSITIVE, Role.WEIGHT)
    alone = {column: _alone(each.source, column) for column in published}
    assert all(share <= MOST_ALONE for share in alone.values()), alone
    plain = each.policy.names(Role.INSENSITIVE)
    rows = Counter(zip(*(each.source[c].to_pylist() for c in plain), strict=True))
    rare = sum(count for count in rows.values() if count < K)
    assert rare <= MOST_RARE * each.source.num_rows


def _alone(source: pa.Table, column: str) -> float:
    counts = Counter(source[column].to_pylist())
    return sum(count == 1 for count in counts.values()) / source.num_rows


def test_nothing_is_kept_as_it_is_against_the_measurement(results):
    sections = [c for each in results.values() for c in each.policy.columns.values()]
    assert not any(section.keep_as_is for section in sections)
