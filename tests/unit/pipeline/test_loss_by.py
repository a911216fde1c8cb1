"""The loss by value, for every algorithm, without revealing small counts."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.seeds import Seed
from sfumato.errors import PolicyError

ROWS = 40
RACES = ["a"] * 26 + ["b"] * 10 + ["c"] * 3 + ["d"]
TABLE = pa.table(
    {
        "race": RACES,
        "age": [20 + row for row in range(ROWS)],
        "illness": ["flu", "gout"] * (ROWS // 2),
        "town": ["x"] * 20 + ["y"] * 20,
    }
)


def released(**more: object):
    settings = {
        "quasi": ["race", "age"],
        "sensitive": ["illness"],
        "insensitive": ["town"],
        "k": 5,
        "algorithm": "mondrian",
        "seed": Seed.guessable(1),
    }
    return sf.anonymize(TABLE, **(settings | more))


def lines(column: str, **more: object) -> list[dict]:
    return released(loss_by=[column], **more).manifest["loss_by"][column]


def test_values_that_fewer_than_k_rows_have_are_counted_together():
    found = [(each["value"], each["values"], each["rows"]) for each in lines("race")]
    assert found == [("a", 1, 26), (None, 3, 14)]


def test_enough_rare_values_stand_beside_the_common_ones():
    found = [(each["value"], each["rows"]) for each in lines("race", k=4)]
    assert found == [("a", 26), ("b", 10), (None, 4)]


def test_shown_rows_are_those_whose_published_cell_is_the_value():
    release = released(loss_by=["race"])
    cells = release.table.column("race").to_pylist()
    common = release.manifest["loss_by"]["race"][0]
    assert common["shown"] == cells.count("a")


def test_the_losses_by_value_add_up_to_the_loss_of_the_release():
    release = released(loss_by=["race"])
    found = release.manifest["loss_by"]["race"]
    total = sum(each["rows"] * each["ncp"] for each in found)
    assert total / ROWS == pytest.approx(release.utility["ncp"])


def test_rows_left_out_lose_every_cell():
    release = released(loss_by=["race"], max_suppressed=0.4, k=3, algorithm="datafly")
    found = release.manifest["loss_by"]["race"]
    out = sum(each["suppressed_rows"] for each in found)
    assert out == release.manifest["rows_suppressed"] > 0
    total = sum(each["rows"] * each["ncp"] for each in found)
    assert total / ROWS == pytest.approx(release.utility["ncp"])


@pytest.mark.parametrize("column", ["illness", "town"])
def test_columns_that_are_published_as_they_are_show_every_value(column):
    found = lines(column)
    assert all(each["shown"] == each["rows"] == 20 for each in found)


def test_nothing_is_told_unless_the_policy_asks_for_it():
    assert "loss_by" not in released().manifest


def test_the_private_record_tells_everything(tmp_path):
    released().save(tmp_path / "out")
    audit = json.loads((tmp_path / "out" / "private" / "audit.json").read_text())
    found = [(each["value"], each["rows"]) for each in audit["loss_by"]["race"]]
    assert found == [("a", 26), ("b", 10), ("c", 3), ("d", 1)]


def test_the_report_has_a_table_by_value(tmp_path):
    released(loss_by=["race"]).report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Who bears the loss" in page
    assert "3 other values" in page


def test_a_column_that_is_not_published_is_refused():
    with pytest.raises(PolicyError, match="'name', which is not a published column"):
        released(loss_by=["name"])


ASKED = {"model": "diversity", "where": {"race": "b"}, "at_least": 5, "at_most": 10}
RARE = {"model": "diversity", "where": {"race": "c"}, "at_most": 10}


def test_each_constraint_is_reported_with_range_source_and_release(tmp_path):
    release = released(require=[ASKED], algorithm={"name": "diva", "base": "mondrian"})
    verdict = release.verdicts[1]
    assert verdict["details"] == {"range": [5, 10], "source": 10}
    shown = release.table.column("race").to_pylist().count("b")
    assert verdict["measured"] == shown >= 5
    release.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    told = ["5 to 10", str(shown), "10"]
    assert "".join(f'<td class="number">{text}</td>' for text in told) in page


def test_the_source_count_of_a_rare_value_is_not_told():
    release = released(require=[RARE], algorithm={"name": "diva", "base": "mondrian"})
    assert release.verdicts[1]["details"]["source"] is None


def test_generated_constraints_are_checked_again_with_the_private_record(tmp_path):
    policy = tmp_path / "policy.toml"
    policy.write_text(
        """
version = 1
[columns.race]
role = "quasi"
[columns.age]
role = "quasi"
[columns.illness]
role = "sensitive"
[columns.town]
role = "insensitive"
[[require]]
model = "k-anonymity"
k = 5
[[require]]
model = "diversity"
generate = { column = "race", class = "minimum" }
[algorithm]
name = "diva"
base = "mondrian"
""",
        encoding="utf-8",
    )
    asked = sf.Policy.load(policy)
    sf.anonymize(TABLE, asked, seed=Seed.guessable(1)).save(tmp_path / "out")
    found = sf.check(
        tmp_path / "out" / "data.csv",
        asked,
        groups=tmp_path / "out" / "private" / "rows.parquet",
    )
    assert found.holds
    assert [v["parameters"].get("where") for v in found.verdicts[1:]] == [
        {"race": "a"},
        {"race": "b"},
    ]


PEOPLE = pa.table(
    {
        "person": [f"p{row // 2}" for row in range(30)] + ["q"] * 10,
        "race": ["a"] * 15 + ["b"] * 15 + ["rare"] * 10,
        "age": [20 + row for row in range(40)],
        "illness": ["flu", "gout"] * 20,
    }
)
"""One person has ten rows, and a value that nobody else has."""
PERSONS = {
    "quasi": ["race", "age"],
    "sensitive": ["illness"],
    "subject": "person",
    "k": 5,
    "seed": Seed.guessable(1),
}


def test_a_value_of_few_persons_is_not_told_however_many_rows_they_have():
    release = sf.anonymize(PEOPLE, **PERSONS, algorithm="mondrian", loss_by=["race"])
    assert [each["value"] for each in release.manifest["loss_by"]["race"]] == [
        "a",
        None,
    ]


def test_no_constraint_is_generated_for_a_value_of_few_persons():
    made = {"column": "race", "tolerance": 1.0}
    release = sf.anonymize(
        PEOPLE,
        **PERSONS,
        algorithm={"name": "diva", "base": "mondrian"},
        require=[{"model": "diversity", "generate": made}],
    )
    assert "rare" not in json.dumps(release.manifest)


def test_the_source_count_of_few_persons_is_not_told():
    asked = {"model": "diversity", "where": {"race": "rare"}, "at_most": 20}
    release = sf.anonymize(
        PEOPLE,
        **PERSONS,
        algorithm={"name": "diva", "base": "mondrian"},
        require=[asked],
    )
    assert release.verdicts[1]["details"]["source"] is None


def test_sensitive_values_of_rows_left_out_are_not_told(tmp_path):
    release = released(
        loss_by=["illness"], max_suppressed=0.4, k=3, algorithm="datafly"
    )
    assert release.manifest["rows_suppressed"] > 0
    cells = release.table.column("illness").to_pylist()
    for line in release.manifest["loss_by"]["illness"]:
        assert line["suppressed_rows"] is None
        assert line["rows"] == line["shown"] == cells.count(line["value"])
    release.report(tmp_path / "report.html")


ILLNESSES = pa.table(
    {
        "race": RACES,
        "age": [20 + row for row in range(ROWS)],
        "illness": ["flu", "gout", "cough", "cold"] * (ROWS // 4),
        "town": ["x"] * 20 + ["y"] * 20,
    }
)
NO_K = {
    "quasi": ["race", "age"],
    "sensitive": ["illness"],
    "insensitive": ["town"],
    "seed": Seed.guessable(1),
}


def named(release: sf.Release, column: str) -> dict[str, int]:
    """The rows of each value that the manifest names."""
    found = release.manifest["loss_by"][column]
    return {each["value"]: each["rows"] for each in found if each["value"]}


def test_without_k_values_rarer_than_the_smallest_group_are_not_told():
    release = sf.anonymize(
        ILLNESSES,
        **NO_K,
        require=[{"model": "l-diversity", "l": 4}],
        algorithm="mondrian",
        loss_by=["race"],
    )
    assert 1 / release.manifest["risk"]["prosecutor_max"] == 4
    assert named(release, "race") == {"a": 26, "b": 10}


def test_without_k_a_value_of_one_row_is_not_told():
    release = sf.anonymize(
        ILLNESSES,
        **NO_K,
        require=[{"model": "t-closeness", "t": 1.0}],
        algorithm="mondrian",
        loss_by=["race", "age"],
    )
    assert release.manifest["risk"]["prosecutor_max"] == 1.0
    assert named(release, "race") == {"a": 26, "b": 10}
    assert named(release, "age") == {}


def test_without_k_the_report_names_no_value_of_one_row(tmp_path):
    cells = ["zqcanary01", *RACES[1:]]
    release = sf.anonymize(
        ILLNESSES.set_column(0, "race", [cells]),
        **NO_K,
        require=[{"model": "l-diversity", "l": 4}],
        hierarchies={"race": {"tree": {"any": ["zqcanary01", "a", "b", "c", "d"]}}},
        max_loss=1.0,
        algorithm="datafly",
        loss_by=["race"],
    )
    release.save(tmp_path / "out")
    assert "zqcanary01" not in release.table.column("race").to_pylist()
    for name in ("manifest.json", "report.html"):
        assert "zqcanary01" not in (tmp_path / "out" / name).read_text("utf-8")


def test_without_k_sensitive_values_of_rows_left_out_are_not_told():
    release = sf.anonymize(
        ILLNESSES,
        **NO_K,
        require=[{"model": "l-diversity", "l": 3}],
        max_suppressed=0.4,
        algorithm="datafly",
        loss_by=["illness"],
    )
    assert release.manifest["rows_suppressed"] > 0
    for line in release.manifest["loss_by"]["illness"]:
        assert line["suppressed_rows"] is None


def test_without_k_the_source_count_of_one_row_is_not_told():
    release = sf.anonymize(
        ILLNESSES,
        **NO_K,
        require=[{"model": "diversity", "where": {"race": "d"}, "at_most": 10}],
        algorithm={"name": "diva", "base": "mondrian"},
    )
    assert release.verdicts[0]["details"]["source"] is None
