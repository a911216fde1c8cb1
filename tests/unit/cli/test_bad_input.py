"""Bad input gives the right exit code and message, and nothing is written."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato.pipeline.prove_written_files
import sfumato.pipeline.release
from sfumato.cli import main

ROWS = 40
POLICY = """\
version = 1

[data]
path = "patients.csv"

[columns.name]
role = "identifier"

[columns.age]
role = "quasi"

[columns.job]
role = "quasi"

[columns.diagnosis]
role = "sensitive"

[[require]]
model = "k-anonymity"
k = 4
"""
JOBS = ("Nurse", "Cook", "Clerk", "Baker")
DIAGNOSES = ("Flu", "Asthma", "Gout")
TREE = "Nurse;Care;*\nCook;Food;*\nClerk;Office;*\nBaker;Food;*\n"


def patients(rows: int = ROWS) -> str:
    lines = [
        f"Person {i},{20 + i % 30},{JOBS[i % 4]},{DIAGNOSES[i % 3]}"
        for i in range(rows)
    ]
    return "\n".join(["name,age,job,diagnosis", *lines]) + "\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a good table and a good policy, to work in."""
    (tmp_path / "patients.csv").write_text(patients(), encoding="utf-8")
    (tmp_path / "policy.toml").write_text(POLICY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def policy(place: Path, *changes: tuple[str, str], more: str = "") -> None:
    """Change the policy of the place."""
    text = POLICY
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (place / "policy.toml").write_text(text + more, encoding="utf-8")


def ends(
    place: Path, capsys: pytest.CaptureFixture[str], code: int, *words: str
) -> str:
    """Run `anonymize`, expect an error that leaves nothing behind, give its words."""
    before = sorted(place.rglob("*"))
    assert main(["anonymize", "policy.toml", *words]) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("Error: ")
    assert "\nHint: " in said.err
    assert "Traceback" not in said.err
    assert sorted(place.rglob("*")) == before
    return said.err


def test_the_good_input_is_good(place, capsys):
    assert main(["anonymize", "policy.toml"]) == 0
    assert (place / "release" / "data.csv").is_file()


def test_a_policy_that_is_not_there(place, capsys):
    (place / "policy.toml").unlink()
    assert "policy.toml" in ends(place, capsys, 2)


def test_a_policy_that_is_not_toml(place, capsys):
    (place / "policy.toml").write_text("version = = 1", encoding="utf-8")
    assert "policy.toml" in ends(place, capsys, 2)


def test_a_data_file_that_is_not_there(place, capsys):
    (place / "patients.csv").unlink()
    assert "patients.csv" in ends(place, capsys, 2)


def test_a_directory_is_called_one_whatever_its_name(place, capsys):
    policy(place, ('"patients.csv"', '"."'))
    assert "is a directory without Parquet files." in ends(place, capsys, 2)


def check_ends(capsys, code: int, *words: str) -> str:
    """Check the good table with further words; give what was said."""
    asked = ["check", "patients.csv", "--quasi", "job", "--k", "2", *words]
    assert main(asked) == code
    return capsys.readouterr().err


def test_a_private_record_that_is_not_there(place, capsys):
    said = check_ends(capsys, 2, "--groups", "rows.parquet")
    assert "There is no file 'rows.parquet'." in said


def test_a_private_record_that_is_no_parquet_file(place, capsys):
    said = check_ends(capsys, 2, "--groups", "policy.toml")
    assert "'policy.toml' is not a whole Parquet file." in said


def test_a_private_record_that_is_another_table(place, capsys):
    pq.write_table(pa.table({"group": [1] * ROWS}), "other.parquet")
    said = check_ends(capsys, 2, "--groups", "other.parquet")
    assert "it has no column 'published_row' among its 1." in said


def test_a_directory_instead_of_a_file(place, capsys):
    (place / "patients.csv").unlink()
    (place / "patients.csv").mkdir()
    assert "patients.csv" in ends(place, capsys, 2)


def test_an_empty_file(place, capsys):
    (place / "patients.csv").write_bytes(b"")
    assert "empty" in ends(place, capsys, 2)


def test_a_header_and_nothing_else(place, capsys):
    (place / "patients.csv").write_text(patients(0), encoding="utf-8")
    assert "no rows" in ends(place, capsys, 2)


@pytest.mark.parametrize("line", ["Ann,30,Nurse\n", "Ann,30,Nurse,Flu,more\n"])
def test_ragged_rows(place, capsys, line):
    (place / "patients.csv").write_text(patients() + line, encoding="utf-8")
    said = ends(place, capsys, 2)
    assert "4" in said
    assert str(ROWS + 2) in said
    assert "Ann" not in said


def test_two_columns_of_one_name(place, capsys):
    text = patients().replace("name,age,job,diagnosis", "name,age,job,job")
    (place / "patients.csv").write_text(text, encoding="utf-8")
    assert "columns 3, 4 of 4 share a name" in ends(place, capsys, 2)


def test_bytes_that_are_no_text(place, capsys):
    policy(
        place, ('path = "patients.csv"', 'path = "patients.csv"\nencoding = "utf-8"')
    )
    broken = patients().encode().replace(b"Nurse", b"N\xffrse", 1)
    (place / "patients.csv").write_bytes(broken)
    assert "utf-8" in ends(place, capsys, 2).lower()


def test_a_role_for_a_column_that_is_not_there(place, capsys):
    policy(place, more='[columns.agee]\nrole = "quasi"\n')
    assert "columns.agee" in ends(place, capsys, 2)


def test_a_column_without_a_role(place, capsys):
    policy(place, ('[columns.job]\nrole = "quasi"\n', ""))
    assert "'job'" in ends(place, capsys, 2)


def test_an_unknown_key_of_the_policy(place, capsys):
    policy(place, ("[columns.age]\nrole", "[columns.age]\nroel"))
    assert "columns.age" in ends(place, capsys, 2)


def test_an_unknown_model(place, capsys):
    policy(place, ('"k-anonymity"', '"k-anonimity"'))
    assert "k-anonymity" in ends(place, capsys, 2)


def test_a_k_larger_than_the_table(place, capsys):
    said = ends(place, capsys, 3, "--set", "require.0.k=41")
    assert "41" in said
    assert "40" in said


def test_an_l_larger_than_the_number_of_values(place, capsys):
    policy(place, more='[[require]]\nmodel = "l-diversity"\nl = 4\n')
    said = ends(place, capsys, 3)
    assert "4" in said
    assert "3" in said


def with_hierarchy(place: Path, text: str) -> None:
    (place / "jobs.csv").write_text(text, encoding="utf-8")
    policy(
        place,
        (
            '[columns.job]\nrole = "quasi"',
            '[columns.job]\nrole = "quasi"\nhierarchy = "jobs.csv"',
        ),
    )


def test_a_good_hierarchy_is_good(place, capsys):
    with_hierarchy(place, TREE)
    assert main(["anonymize", "policy.toml"]) == 0


def test_a_hierarchy_that_misses_values(place, capsys):
    with_hierarchy(place, TREE.replace("Baker;Food;*\n", ""))
    said = ends(place, capsys, 2)
    assert "'job'" in said
    assert "Baker" not in said


def test_a_missed_value_is_shown_to_who_asks(place, capsys):
    with_hierarchy(place, TREE.replace("Baker;Food;*\n", ""))
    assert "Values: 'Baker'" in ends(place, capsys, 2, "--show-values")


def test_a_hierarchy_with_two_parents(place, capsys):
    two_levels = "Nurse;A;X;*\nCook;A;Y;*\nClerk;B;Y;*\nBaker;B;Y;*\n"
    with_hierarchy(place, two_levels)
    assert "'job'" in ends(place, capsys, 2)


def test_a_hierarchy_file_that_is_not_there(place, capsys):
    with_hierarchy(place, TREE)
    (place / "jobs.csv").unlink()
    assert "jobs.csv" in ends(place, capsys, 2)


def test_an_output_directory_that_exists(place, capsys):
    (place / "release").mkdir()
    assert "'release' exists already." in ends(place, capsys, 2)


def test_an_output_directory_in_no_directory(place, capsys):
    assert "is not a directory" in ends(place, capsys, 2, "--out", "nowhere/release")


def test_an_output_directory_inside_a_file(place, capsys):
    out = "patients.csv/release"
    assert "is not a directory" in ends(place, capsys, 2, "--out", out)


def test_a_disk_that_fills_up(place, capsys, monkeypatch):
    def full(*_: object, **__: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sfumato.pipeline.prove_written_files, "hash_bytes", full)
    assert "No space left on device" in ends(place, capsys, 2)


@pytest.mark.parametrize(
    ("module", "part"),
    [
        (sfumato.pipeline.release, "write_table"),
        (sfumato.pipeline.release, "prove_files"),
        (sfumato.pipeline.prove_written_files, "hash_bytes"),
    ],
)
def test_ctrl_c_in_the_middle_of_writing(place, capsys, monkeypatch, module, part):
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, part, stop)
    before = sorted(place.rglob("*"))
    assert main(["anonymize", "policy.toml"]) == 130
    assert capsys.readouterr().err == "Error: Stopped. Nothing is left half-written.\n"
    assert sorted(place.rglob("*")) == before


def test_an_error_of_init_writes_no_policy(place, capsys):
    assert main(["init", "nobody.csv", "-o", "other.toml"]) == 2
    assert "nobody.csv" in capsys.readouterr().err
    assert not (place / "other.toml").exists()


def test_init_does_not_write_over_a_policy(place, capsys):
    assert main(["init", "patients.csv", "-o", "policy.toml"]) == 2
    assert "'policy.toml' exists already." in capsys.readouterr().err
    assert (place / "policy.toml").read_text(encoding="utf-8") == POLICY


def test_a_demo_that_exists_is_left_alone(place, capsys):
    (place / "sfumato-demo").mkdir()
    assert main(["demo"]) == 2
    assert "'sfumato-demo' exists already." in capsys.readouterr().err


@pytest.mark.parametrize("name", ["nobody.csv", "."])
def test_a_file_to_check_that_is_not_there(place, capsys, name):
    assert main(["check", name, "--quasi", "age", "--k", "2"]) == 2
    assert "Hint: " in capsys.readouterr().err


def test_a_column_to_check_that_is_not_there(place, capsys):
    assert main(["check", "patients.csv", "--quasi", "agee", "--k", "2"]) == 2
    assert "'agee'" in capsys.readouterr().err
