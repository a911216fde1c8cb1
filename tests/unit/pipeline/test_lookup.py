"""Looking a person up in swapped and anatomized tables: what a row does not say."""

from __future__ import annotations

from collections import Counter

import pandas as pd
import pytest

import sfumato as sf
from sfumato.cli import main

PEOPLE = pd.DataFrame(
    {
        "name": [f"p{i}" for i in range(12)],
        "age": [str(20 + i) for i in range(12)],
        "ill": list("xyzxyzxxyzxy"),
    }
)
PERSON = pd.DataFrame({"age": ["23"]})


def released(operator):
    policy = sf.Policy.build(
        identifier=["name"],
        quasi=["age"],
        sensitive=["ill"],
        require=[{"model": "l-diversity", "l": 3}],
        publish={"operator": operator},
    )
    return sf.anonymize(PEOPLE, policy, insecure_seed=4)


def group_shares(release):
    """What the group of the person has, by hand from the source."""
    mine = release.group_of[3]
    values = Counter(PEOPLE["ill"][release.group_of == mine])
    return {value: count / values.total() for value, count in values.items()}


def shares(found):
    return {value: share for value, share, _ in found.values["ill"]}


def test_a_value_beside_a_swapped_row_is_not_shown(tmp_path):
    released("swap").save(tmp_path / "release")
    found = sf.look_up(tmp_path / "release", PERSON)
    assert found.rows == 1
    assert found.values == {}
    assert "is no evidence of the person's own" in found.note


@pytest.mark.parametrize("operator", ["swap", "anatomize"])
def test_where_groups_are_known_the_groups_values_are_shown(operator):
    release = released(operator)
    found = sf.look_up(release, PERSON)
    assert found.rows == 1
    assert shares(found) == pytest.approx(group_shares(release))
    assert "by group" in found.note


def test_the_private_record_says_the_groups_of_a_written_swap(tmp_path, capsys):
    release = released("swap")
    release.save(tmp_path / "release")
    record = tmp_path / "release" / "private" / "rows.parquet"
    found = sf.look_up(tmp_path / "release", PERSON, groups=record)
    assert shares(found) == pytest.approx(group_shares(release))


def test_the_command_says_plainly_what_a_swapped_row_does_not_say(tmp_path, capsys):
    released("swap").save(tmp_path / "release")
    (tmp_path / "person.csv").write_text("age\n23\n")
    words = ["attack", "lookup", str(tmp_path / "release")]
    words += ["--record", str(tmp_path / "person.csv")]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "the value beside a person's row is no evidence" in said
    assert "ill:" not in said
    record = tmp_path / "release" / "private" / "rows.parquet"
    assert main([*words, "--groups", str(record)]) == 0
    assert "ill:" in capsys.readouterr().out


def test_groups_are_for_lookup_alone(tmp_path, capsys):
    released("swap").save(tmp_path / "release")
    PEOPLE.to_csv(tmp_path / "people.csv", index=False)
    words = ["attack", "guess", str(tmp_path / "release"), "--groups", "rows.parquet"]
    assert main([*words, "--original", str(tmp_path / "people.csv")]) == 2
    assert "--groups is for lookup." in capsys.readouterr().err


def test_generalized_rows_speak_for_themselves():
    release = released("generalize")
    found = sf.look_up(release, PERSON)
    assert found.note == ""
    assert sum(shares(found).values()) == pytest.approx(1.0)
