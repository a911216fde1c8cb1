"""The embedded hospital: the same everywhere, correlated, about nobody."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sfumato import demo
from sfumato.demo.demo_files import CHAPTERS
from sfumato.demo.hospital_lists import DIAGNOSES

COLUMNS = [
    "name",
    "birth_date",
    "sex",
    "zip",
    "ethnicity",
    "occupation",
    "admission_date",
    "diagnosis",
    "cost",
]


@pytest.fixture(scope="module")
def stays() -> pd.DataFrame:
    frame = demo.hospital().to_pandas()
    born = pd.to_datetime(frame["birth_date"])
    frame["age"] = (pd.to_datetime(frame["admission_date"]) - born).dt.days / 365.25
    return frame


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("demo") / "hospital"
    demo.write(directory)
    return directory


def hierarchy(directory: Path, name: str) -> pd.DataFrame:
    path = directory / "hierarchies" / f"{name}.csv"
    return pd.read_csv(path, sep=";", header=None, dtype=str)


def test_it_has_the_columns_of_a_hospital_table():
    assert demo.hospital(rows=10).column_names == COLUMNS


def test_the_source_file_is_the_same_bytes_on_every_machine(written):
    digest = hashlib.sha256((written / "source.csv").read_bytes()).hexdigest()
    assert digest == "9fc8a9bdd2173675fd66d83d74f152d34e9b2836880826f648f06de5a447c620"


def test_another_seed_gives_another_table():
    assert not demo.hospital(rows=50, seed=1).equals(demo.hospital(rows=50, seed=2))


def test_only_some_columns_have_missing_values(stays):
    missing = stays.isna().sum()
    assert set(missing[missing > 0].index) == {"zip", "ethnicity", "occupation"}
    assert missing.sum() < 0.05 * len(stays)


def test_only_women_give_birth_and_only_men_have_a_prostate(stays):
    by_sex = pd.crosstab(stays["diagnosis"], stays["sex"])
    assert by_sex.loc["O80 Childbirth", "M"] == 0
    assert by_sex.loc["N40 Enlarged prostate", "F"] == 0


def test_diagnosis_goes_with_age(stays):
    mean_age = stays.groupby("diagnosis")["age"].mean()
    assert mean_age["J45 Asthma"] < 30 < 60 < mean_age["G30 Alzheimer disease"]
    assert stays.loc[stays["diagnosis"] == "P07 Premature birth", "age"].max() < 1.01


def test_occupation_goes_with_age(stays):
    assert stays.loc[stays["occupation"] == "Pupil", "age"].between(5.9, 18.1).all()
    assert stays.loc[stays["occupation"] == "Retired", "age"].min() > 44.9


def test_ethnicity_goes_with_district(stays):
    asian = stays["ethnicity"] == "Asian"
    district = stays["zip"].str[:3]
    assert asian[district == "043"].mean() > 2 * asian[district != "043"].mean()


def test_cost_goes_with_diagnosis(stays):
    median = stays.groupby("diagnosis")["cost"].median()
    assert median["P07 Premature birth"] > 5 * median["T78 Severe allergy"]


def test_nobody_is_admitted_before_birth(stays):
    assert stays["age"].min() >= 0
    assert (pd.to_datetime(stays["admission_date"]).dt.year == 2024).all()


def test_leading_zeros_of_zip_codes_are_written(written):
    zips = pd.read_csv(written / "source.csv", dtype=str)["zip"].dropna()
    assert zips.str.fullmatch(r"04\d{3}").all()


@pytest.mark.parametrize("column", ["occupation", "ethnicity", "diagnosis"])
def test_hierarchies_cover_every_value_once(written, stays, column):
    leaves = hierarchy(written, column)[0]
    assert leaves.is_unique
    assert set(stays[column].dropna()) <= set(leaves)


@pytest.mark.parametrize("column", ["occupation", "ethnicity", "diagnosis"])
def test_hierarchies_give_every_node_one_parent(written, column):
    levels = hierarchy(written, column)
    for lower in range(levels.shape[1] - 1):
        parents = levels.groupby(lower)[lower + 1].nunique()
        assert (parents == 1).all()
    assert (levels.iloc[:, -1] == "*").all()


def test_every_diagnosis_has_a_chapter():
    assert {d.name[0] for d in DIAGNOSES} == set(CHAPTERS)


def test_the_policy_gives_every_column_a_role(written):
    policy = tomllib.loads((written / "policy.toml").read_text(encoding="utf-8"))
    assert list(policy["columns"]) == COLUMNS
    assert policy["columns"]["name"]["role"] == "identifier"


def test_the_policy_asks_for_five_people_and_three_diagnoses(written):
    policy = tomllib.loads((written / "policy.toml").read_text(encoding="utf-8"))
    assert policy["require"] == [
        {"model": "k-anonymity", "k": 5},
        {"model": "l-diversity", "l": 3, "on": "diagnosis"},
    ]


def test_quasi_identifiers_make_most_rows_unique(stays):
    quasi = ["birth_date", "sex", "zip", "ethnicity", "occupation"]
    sizes = stays.groupby(quasi, dropna=False).size().to_numpy()
    assert np.mean(sizes == 1) > 0.9
