"""How little is lost on Adult: harvest alone, and best with its default effort.

Losses are asserted with hardly any slack, seeds being fixed; times are the business of
the benchmarks.
"""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato.data.seeds import Seed

NINE = (
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
)
SENSITIVE = "occupation"


@pytest.fixture(scope="module")
def source(shared_data):
    return shared_data / "adult" / "adult_clean_30162.csv.gz"


def along_hierarchies(folder, names):
    """Columns with the shared hierarchies; that of age is taken on trust."""
    return "".join(
        f'[columns.{name}]\nrole = "quasi"\nhierarchy = '
        + (
            f'{{ file = "{folder / name}.csv", trust = true }}\n'
            if name == "age"
            else f'"{folder / name}.csv"\n'
        )
        for name in names
    )


def without_hierarchies(names):
    return "".join(
        f'[columns.{name}]\nrole = "quasi"\nhierarchy = '
        + ('"free"\nkind = "integer"\n' if name == "age" else '"flat"\n')
        for name in names
    )


def lost(source, columns, *, k, algorithm='name = "best"', more=""):
    """The NCP of a release that leaves nothing out."""
    policy = sf.Policy.parse(
        f'version = 1\nunlisted = "drop"\n{columns}'
        f'[[require]]\nmodel = "k-anonymity"\nk = {k}\n{more}[algorithm]\n{algorithm}\n'
    )
    release = sf.anonymize(source, policy, seed=Seed.guessable(1), threads=2)
    assert release.manifest["rows_suppressed"] == 0
    return release.utility["ncp"]


@pytest.fixture(scope="module")
def nine(shared_data):
    return along_hierarchies(shared_data / "adult" / "hierarchies", NINE)


@pytest.fixture(scope="module")
def eight_and_sensitive(shared_data):
    names = [name for name in NINE if name != SENSITIVE]
    columns = along_hierarchies(shared_data / "adult" / "hierarchies", names)
    return columns + f'[columns.{SENSITIVE}]\nrole = "sensitive"\n'


@pytest.mark.parametrize(
    ("k", "most"),
    [(2, 0.0255), (5, 0.060), (10, 0.0865), (25, 0.1265), (50, 0.1645), (100, 0.207)],
)
def test_harvest_alone_loses_at_most(source, nine, k, most):
    assert lost(source, nine, k=k, algorithm='name = "harvest"') <= most


@pytest.mark.parametrize(("k", "most"), [(10, 0.0852), (100, 0.206)])
def test_best_with_hierarchies_loses_at_most(source, nine, k, most):
    assert lost(source, nine, k=k) <= most


def test_best_without_hierarchies_loses_at_most(source):
    assert lost(source, without_hierarchies(NINE[:8]), k=100) <= 0.152


def test_best_with_three_distinct_values_loses_at_most(source, eight_and_sensitive):
    distinct = '[[require]]\nmodel = "l-diversity"\nl = 3\n'
    assert lost(source, eight_and_sensitive, k=5, more=distinct) <= 0.034


def test_best_under_t_closeness_loses_little_even_with_little_work(
    source, eight_and_sensitive
):
    close = '[[require]]\nmodel = "t-closeness"\nt = 0.2\ndistance = "equal"\n'
    little = 'name = "best"\nrefine = 0.1'
    found = lost(source, eight_and_sensitive, k=5, more=close, algorithm=little)
    assert found <= 0.31
