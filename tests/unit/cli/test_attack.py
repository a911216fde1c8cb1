"""`sfumato attack`: what it prints, keeps and ends with."""

from __future__ import annotations

import io
import json
import stat

import pytest

from sfumato.cli import main

POLICY = """
version = 1
[columns.age]
role = "quasi"
hierarchy = { intervals = [10, 20] }
[columns.city]
role = "quasi"
[columns.illness]
role = "sensitive"
[[require]]
model = "k-anonymity"
k = 2
"""
KEYS = {
    *("name", "known", "n", "success", "low", "high"),
    *("baseline", "control", "bound"),
}


@pytest.fixture
def place(tmp_path):
    """A source, its policy and its release."""
    rows = [f"{20 + i % 30},{'ab'[i % 2]},{'xyz'[i % 3]}" for i in range(60)]
    source = tmp_path / "source.csv"
    source.write_text("\n".join(["age,city,illness", *rows]) + "\n")
    (tmp_path / "policy.toml").write_text(POLICY)
    made = [
        "anonymize",
        str(tmp_path / "policy.toml"),
        "--data",
        str(source),
        "--quiet",
    ]
    assert main([*made, "--out", str(tmp_path / "release")]) == 0
    return tmp_path


def attacked(place, name, *more):
    words = ["attack", name, str(place / "release")]
    return main([*words, "--original", str(place / "source.csv"), *more])


def test_all_attacks_run_and_the_output_says_that_it_is_private(place, capsys):
    assert attacked(place, "all") == 0
    said = capsys.readouterr().out
    assert said.startswith("Private: computed from the source.")
    assert "✓ within 0.5" in said
    assert "Every promised bound holds." in said


def test_the_last_line_takes_the_worst_of_promise_gain_and_person(place, capsys):
    assert attacked(place, "linkage") == 0
    said = capsys.readouterr().out
    assert "16 of 17 attacks were not tried: distance-linkage," in said
    last = said.splitlines()[-1]
    assert last.startswith("✗ Largest gain over guessing: ")
    assert "Every promised bound holds." in last


def test_the_json_has_the_color_the_gain_and_what_was_not_tried(place, capsys):
    assert attacked(place, "linkage", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["holds"], found["light"]) == (True, "red")
    assert found["summary"].startswith("Largest gain over guessing: ")
    assert len(found["not_tried"]) == 16
    (result,) = found["attacks"]
    assert (result["promise"], result["gain_size"]) == ("holds", "large")


def test_the_json_has_every_promised_key(place, capsys):
    assert attacked(place, "linkage", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["private"].startswith("Private:")
    (result,) = found["attacks"]
    assert result.keys() >= KEYS
    assert result["bound"] == 0.5
    assert result["n"] == 60


def test_a_broken_bound_ends_with_one(place, capsys):
    data = place / "release" / "data.csv"
    lines = data.read_text().splitlines()
    # The first row is shown with a city that no other row has.
    lines[1] = ",".join(["*", "c", lines[1].split(",")[-1]])
    data.write_text("\n".join(lines) + "\n")
    source = place / "source.csv"
    record = place / "release" / "private" / "rows.parquet"
    import pyarrow.parquet as pq

    rows = pq.read_table(record).to_pylist()
    mine = next(r["source_row"] for r in rows if r["published_row"] == 0)
    cells = source.read_text().splitlines()
    age, _, illness = cells[1 + mine].split(",")
    cells[1 + mine] = f"{age},c,{illness}"
    source.write_text("\n".join(cells) + "\n")
    assert attacked(place, "linkage") == 1
    assert "✗ above 0.5" in capsys.readouterr().out


def test_the_people_at_risk_are_kept_for_the_owner_alone(place, capsys):
    attacked(place, "linkage")
    kept = place / "release" / "private" / "attacks.jsonl"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    first, result = map(json.loads, kept.read_text().splitlines())
    assert first["private"].startswith("Private:")
    assert result["at_risk"]


def test_a_second_run_keeps_what_the_first_found(place, capsys):
    attacked(place, "linkage")
    attacked(place, "homogeneity")
    kept = place / "release" / "private" / "attacks.jsonl"
    lines = [json.loads(line) for line in kept.read_text().splitlines()]
    assert [line.get("name", "private") for line in lines] == [
        *("private", "linkage", "private", "homogeneity"),
    ]
    assert all("time" in line for line in lines if "name" not in line)


def test_a_record_that_others_could_read_becomes_the_owners_alone(place, capsys):
    kept = place / "release" / "private" / "attacks.jsonl"
    kept.write_text("")
    kept.chmod(0o644)
    attacked(place, "linkage")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_a_link_in_place_of_the_record_is_not_followed(place, capsys):
    elsewhere = place / "elsewhere"
    elsewhere.write_text("mine")
    (place / "release" / "private" / "attacks.jsonl").symlink_to(elsewhere)
    assert attacked(place, "linkage") == 2
    assert elsewhere.read_text() == "mine"


def test_a_lookup_prints_the_likeliest_values_and_counts_the_others(place, capsys):
    rows = [f"{20 + i % 30},{'ab'[i % 2]},{i}" for i in range(60)]
    (place / "published.csv").write_text("\n".join(["age,city,illness", *rows]))
    (place / "person.csv").write_text("city\na\n")
    words = ["attack", "lookup", str(place / "published.csv")]
    words += ["--record", str(place / "person.csv")]
    assert main([*words, "--policy", str(place / "policy.toml")]) == 0
    assert "… and 20 other values (all: --json)" in capsys.readouterr().out


def test_the_published_part_of_a_release_stays_as_it_was(place, capsys):
    published = {
        path: path.read_bytes()
        for path in (place / "release").iterdir()
        if path.is_file()
    }
    attacked(place, "all")
    assert published == {
        path: path.read_bytes()
        for path in (place / "release").iterdir()
        if path.is_file()
    }


def test_an_attack_of_another_name_is_refused(place, capsys):
    assert attacked(place, "linkige") == 2
    assert "Did you mean 'linkage'?" in capsys.readouterr().err


def test_an_attack_that_does_not_apply_is_refused_with_its_reason(place, capsys):
    assert attacked(place, "definetti") == 2
    assert "only swapped and anatomized tables" in capsys.readouterr().err


def test_an_attack_without_the_original_is_refused(place, capsys):
    assert main(["attack", "linkage", str(place / "release")]) == 2
    assert "--original FILE" in capsys.readouterr().err


def test_a_person_is_looked_up_from_a_file(place, capsys):
    person = place / "person.csv"
    person.write_text("age,city\n21,b\n")
    words = ["attack", "lookup", str(place / "release"), "--record", str(person)]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert said.startswith("Private:")
    assert "published rows may be the person's:" in said
    assert "illness:" in said


def test_a_person_is_looked_up_from_stdin(place, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("age,city\n21,b\n"))
    words = ["attack", "lookup", str(place / "release"), "--record", "-", "--json"]
    assert main(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["private"].startswith("Private:")
    assert found["rows"] == sum(group["rows"] for group in found["groups"])
    shares = [each["share"] for each in found["values"]["illness"]]
    assert sum(shares) == pytest.approx(1.0)


def test_a_lookup_without_a_record_is_refused(place, capsys):
    assert main(["attack", "lookup", str(place / "release")]) == 2
    assert "--record -" in capsys.readouterr().err


def test_a_record_of_two_people_is_refused(place, capsys):
    person = place / "person.csv"
    person.write_text("age,city\n21,b\n22,a\n")
    words = ["attack", "lookup", str(place / "release"), "--record", str(person)]
    assert main(words) == 2
    assert "The record has 2 rows; it must have one." in capsys.readouterr().err


def test_the_catalogue_lists_attacks(capsys):
    assert main(["list", "attacks"]) == 0
    said = capsys.readouterr().out
    assert "linkage" in said
    assert "swap-reconstruction" in said
