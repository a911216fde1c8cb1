"""Marks of missing values and decimal commas are proposed where they are found."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sfumato.cli import main
from sfumato.io.decimals import pointed, with_points
from sfumato.io.read import read_source
from sfumato.policy import Policy
from sfumato.policy.missing_marks import found_marks

AGES = [str(20 + row % 60) for row in range(40)]


def marks_of(**columns):
    return found_marks(pa.table(columns))


def test_a_question_mark_is_one_wherever_it_stands():
    assert marks_of(job=["clerk", "?", "nurse"]) == ("", "?")


@pytest.mark.parametrize("mark", ["-9", "999", "NA", "."])
def test_a_mark_among_numbers_is_found(mark):
    assert marks_of(age=[*AGES, mark]) == ("", mark)


def test_a_number_by_type_may_be_a_mark():
    assert marks_of(age=[*range(60), -9]) == ("", "-9")


def test_a_number_that_is_no_outlier_is_a_value():
    assert marks_of(salary=[str(n) for n in range(0, 3000, 37)] + ["999"]) == ("",)


def test_a_negative_number_among_negative_ones_is_a_value():
    assert marks_of(degrees=["-12", "-9", "3"]) == ("",)


def test_a_mark_that_is_a_value_in_another_column_is_none():
    rooms = [str(n) for n in range(990, 1030)]
    assert marks_of(age=[*AGES[:39], "999"], room=rooms) == ("",)


def test_letters_that_may_be_a_word_are_a_value():
    assert marks_of(country=["DE", "NA", "FR"]) == ("",)


def test_decimal_commas_become_points():
    table = pa.table(
        {"bmi": ["21,5", "30", "?", ""], "name": ["Doe, J", "1,5", "", ""]}
    )
    assert with_points(table).to_pydict() == {
        "bmi": ["21.5", "30", "?", ""],
        "name": ["Doe, J", "1,5", "", ""],
    }


def test_thousands_in_parts_are_not_proposed_as_decimals():
    table = pa.table({"salary": ["1,234", "20,500"]})
    assert pointed(table) == (table, ".")


def test_init_proposes_decimal_commas_and_marks(tmp_path):
    data, policy = tmp_path / "data.csv", tmp_path / "policy.toml"
    rows = [f"{20 + n % 30};{20 + n % 9},{n % 10};u" for n in range(50)]
    data.write_text("age;bmi;illness\n" + "\n".join([*rows, "-9;?;v"]) + "\n")
    assert main(["init", str(data), "-o", str(policy)]) == 0
    found = Policy.load(policy)
    assert found.data.decimal == ","
    assert found.data.missing == ("", "?", "-9")
    assert found.column("bmi").kind == "decimal"
    assert main(["anonymize", str(policy), "--out", str(tmp_path / "release")]) == 0
    released = read_source(tmp_path / "release" / "data.csv", delimiter=";")
    assert not any("," in cell for cell in released["illness"].to_pylist())


def test_init_reads_as_it_is_told(tmp_path):
    data, policy = tmp_path / "data.csv", tmp_path / "policy.toml"
    data.write_bytes("age:städt\n20:a\n21:x\n".encode("latin-1"))
    words = ["--encoding", "latin-1", "--delimiter", ":", "--missing", "x"]
    assert main(["init", str(data), "-o", str(policy), *words]) == 0
    found = Policy.load(policy).data
    assert (found.encoding, found.delimiter) == ("iso8859-1", ":")
    assert found.missing == ("x",)
