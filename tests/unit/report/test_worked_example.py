"""The example in the data dictionary runs on the release that it is written for."""

from __future__ import annotations

import subprocess
import sys
from html import unescape
from pathlib import Path

import pandas as pd
import pytest

import sfumato as sf

PEOPLE = pd.DataFrame(
    {
        "age": [20 + i % 40 for i in range(400)],
        "born": [f"19{50 + i % 50}-0{1 + i % 9}-15" for i in range(400)],
        "city": [f"city {i % 7}" for i in range(400)],
        "zip": [f"0{4100 + i % 90}" for i in range(400)],
        "illness": [f"illness {i % 5}" for i in range(400)],
    }
)
SETTINGS = {
    "quasi": ["age", "born", "city", "zip"],
    "sensitive": ["illness"],
    "hierarchies": {
        "born": {"calendar": ["month", "quarter", "year", "decade"]},
        "zip": {"prefix": [4, 3, 2]},
    },
    "kinds": {"zip": "code", "born": "date"},
    "k": 8,
    "insecure_seed": 3,
}


def example_of(release: Path) -> str:
    """The program in the public report."""
    page = (release / "report.html").read_text(encoding="utf-8")
    return unescape(page.split("<code>import pandas")[1].split("</code>")[0])


def run(release: Path) -> str:
    """What the program prints, run in the directory of the release."""
    program = "import pandas" + example_of(release)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=release,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize(
    "format", ["csv", "parquet", "arrow", "xlsx", "sav", "dta", "xpt"]
)
def test_it_bounds_the_mean_of_a_generalized_number(tmp_path, format):
    release = sf.anonymize(PEOPLE, **SETTINGS, publish={"format": format})
    release.save(tmp_path / "release")
    between = run(tmp_path / "release").splitlines()[0]
    low, high = (float(word) for word in between.split() if word[0].isdigit())
    assert low <= PEOPLE["age"].mean() <= high


def test_it_reads_two_columns_of_bounds(tmp_path):
    release = sf.anonymize(PEOPLE, **SETTINGS, publish={"numbers": "bounds"})
    release.save(tmp_path / "release")
    assert 'sf.bounds("data.csv", "age"' in example_of(tmp_path / "release")
    assert run(tmp_path / "release").startswith("The mean of age lies between")


def test_it_shows_the_answers_that_it_prints(tmp_path):
    sf.anonymize(PEOPLE, **SETTINGS).save(tmp_path / "release")
    example = example_of(tmp_path / "release").splitlines()
    printed = run(tmp_path / "release").splitlines()[:6]
    answers = [line for line in example if line.startswith(("# The", "# In", "# Cov"))]
    assert answers == [f"# {line}" for line in printed]


@pytest.fixture(scope="module")
def tails():
    """Many rows in a tail, and of a coded sex only two values."""
    people = pd.DataFrame(
        {
            "sex": [1 + i % 2 for i in range(200)],
            "score": [i % 50 if i % 5 else 500 + i for i in range(200)],
        }
    )
    hierarchies = {"score": {"intervals": [5, 10], "top": 60}}
    settings = {"quasi": ["sex", "score"], "hierarchies": hierarchies, "k": 8}
    return people, sf.anonymize(people, **settings, insecure_seed=1)


def test_it_says_which_rows_are_covered_where_an_end_is_open(tails, tmp_path):
    people, release = tails
    release.save(tmp_path / "release")
    said = run(tmp_path / "release").splitlines()
    covered = people["score"] < 60
    between = said[0].removeprefix(
        "In the rows covered, the mean of score lies between "
    )
    low, high = map(float, between.split(" and "))
    assert low <= people["score"][covered].mean() <= high
    assert high < people["score"].mean()
    assert "Covered: 160 of 200 published rows (80.0%)" in said[2]
    assert "not covered, as an end is not shown: 40" in said[2]


def test_a_coded_sex_is_no_example_where_there_is_a_better_one(tails, tmp_path):
    tails[1].save(tmp_path / "release")
    assert '"score", manifest' in example_of(tmp_path / "release")
    assert '"sex", manifest' not in example_of(tmp_path / "release")


def test_it_spreads_sets_over_their_values(tmp_path):
    sf.anonymize(PEOPLE, **SETTINGS).save(tmp_path / "release")
    assert ".explode()" in example_of(tmp_path / "release")
    assert "city" in run(tmp_path / "release")


def test_it_reads_the_delimiter_of_the_file(tmp_path):
    source = tmp_path / "source.csv"
    PEOPLE.to_csv(source, sep=";", index=False)
    sf.anonymize(source, **SETTINGS).save(tmp_path / "release")
    assert 'sep=";"' in example_of(tmp_path / "release")
    assert "illness 1" in run(tmp_path / "release")


def test_it_runs_on_the_demo(tmp_path):
    from sfumato.cli import main

    assert main(["demo", "--out", str(tmp_path / "demo")]) == 0
    assert "published rows" in run(tmp_path / "demo" / "release")
