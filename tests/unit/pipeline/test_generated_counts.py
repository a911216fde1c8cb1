"""Values that constraints are generated from are counted apart from the reference."""

from __future__ import annotations

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.seeds import Seed

GENERATED = {
    "model": "diversity",
    "generate": {"column": "illness", "class": "average", "tolerance": 1.0},
}
COMPARED = {"model": "t-closeness", "t": 1.0, "reference": "source"}
ILLNESSES = [None, None, "flu", "flu", None, "gout", "gout", "gout"]


def asked(**columns: object) -> sf.Policy:
    return sf.Policy.model_validate(
        {
            "version": 1,
            "columns": {
                "age": {"role": "quasi"},
                "illness": {"role": "sensitive", "kind": "category"},
                **columns,
            },
            "require": [GENERATED, COMPARED],
            "algorithm": {"name": "diva", "base": "mondrian"},
        }
    )


def published(place, policy, **more):
    """A saved release, with what its manifest promises on each illness."""
    rows = len(ILLNESSES)
    source = pa.table({"age": range(20, 20 + rows), "illness": ILLNESSES, **more})
    release = sf.anonymize(source, policy, seed=Seed.guessable(1))
    release.save(place / "out")
    return source, constraints(release.verdicts)


def constraints(verdicts) -> dict[str, tuple[int, int]]:
    """The range of each generated constraint."""
    return {
        each["parameters"]["where"]["illness"]: tuple(each["details"]["range"])
        for each in verdicts
        if each["model"] == "diversity"
    }


def checked(place, policy):
    return sf.check(
        place / "out" / "data.csv",
        policy,
        groups=place / "out" / "private" / "rows.parquet",
        manifest=place / "out" / "manifest.json",
    )


def test_missing_cells_of_the_reference_generate_no_constraint(tmp_path):
    _, promised = published(tmp_path, asked())
    found = checked(tmp_path, asked())
    assert found.holds
    assert constraints(found.verdicts) == promised == {"flu": (0, 5), "gout": (0, 5)}


def test_the_reference_still_counts_missing_cells(tmp_path):
    published(tmp_path, asked())
    closeness = checked(tmp_path, asked()).verdicts[-1]
    assert closeness["model"] == "t-closeness"
    # A group of one row with the flu, which 2 of 8 source rows have.
    assert closeness["measured"] == pytest.approx(6 / 8)


def test_constraints_count_rows_where_the_reference_counts_persons(tmp_path):
    policy = asked(person={"role": "subject"})
    persons = ["a", "a", "b", "c", "d", "e", "e", "e"]
    _, promised = published(tmp_path, policy, person=persons)
    assert constraints(checked(tmp_path, policy).verdicts) == promised
    assert promised == {"flu": (0, 5), "gout": (0, 5)}


def test_assessing_a_release_judges_the_constraints_that_it_was_made_under(tmp_path):
    source, promised = published(tmp_path, asked())
    found = sf.assess(
        source,
        tmp_path / "out" / "data.csv",
        asked(),
        rows=tmp_path / "out" / "private" / "rows.parquet",
    )
    assert constraints(found.risk["requirements"]) == promised
