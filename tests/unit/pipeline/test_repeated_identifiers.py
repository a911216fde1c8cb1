"""An identifier that repeats is not silent where k counts rows."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.cli import main
from sfumato.errors import PersonWarning

ROWS = 40
AGES = [20 + row % 4 for row in range(ROWS)]
ILLS = ["flu", "gout"] * (ROWS // 2)
FIVE_EACH = [f"p{row // 5}" for row in range(ROWS)]
ROW_NUMBERS = list(range(ROWS))
TOLD = r"k counts rows; by the identifier '{}', one person occurs up to 5 times"
POLICY = """
version = 1
[data]
path = "visits.csv"
[columns.id]
role = "identifier"
[columns.age]
role = "quasi"
[columns.ill]
role = "sensitive"
[[require]]
model = "k-anonymity"
k = 5
[algorithm]
name = "mondrian"
"""


def made(**columns: Any) -> sf.Release:
    table = pa.table(columns | {"age": AGES, "ill": ILLS})
    return sf.anonymize(
        table,
        identifier=list(columns),
        quasi="age",
        sensitive="ill",
        k=5,
        algorithm="mondrian",
        insecure_seed=1,
    )


def silent(**columns: Any) -> sf.Release:
    """A release of a table whose identifiers raise no warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", PersonWarning)
        release = made(**columns)
    assert release.warnings == ()
    assert "repeated_identifier" not in release.audit
    return release


def test_python_warns_and_offers_the_subject():
    with pytest.warns(PersonWarning, match=TOLD.format("id")) as caught:
        release = made(id=FIVE_EACH)
    assert caught[0].filename == __file__
    assert "Give 'id' the role \"subject\", and persons" in release.warnings[0]


def test_how_often_one_person_occurs_is_private():
    with pytest.warns(PersonWarning):
        release = made(id=FIVE_EACH)
    assert release.audit["repeated_identifier"] == {
        "column": "id",
        "values": 8,
        "known": 40,
        "most_rows": 5,
    }
    limits = [e for e in release.manifest["known_limits"] if "not persons" in e]
    assert len(limits) == 1
    assert "5" not in limits[0]


@pytest.mark.parametrize(
    "values",
    [
        [row // 5 for row in range(ROWS)],
        [f"{row // 5:05}" for row in range(ROWS)],
        [f"{row // 5}@example.org" for row in range(ROWS)],
        [None, *FIVE_EACH[1:]],
    ],
)
def test_numbers_codes_and_addresses_count_persons(values):
    with pytest.warns(PersonWarning, match="by the identifier 'id'"):
        made(id=values)


@pytest.mark.parametrize(
    "values",
    [
        ["John Smith", "Ann Lee"] * (ROWS // 2),
        [f"2020-01-{1 + row // 2:02}" for row in range(ROWS)],
        [f"p{row}" for row in range(ROWS)],
        ["7"] * ROWS,
        [""] * 20 + [f"p{row}" for row in range(20)],
    ],
)
def test_names_dates_single_values_and_missing_cells_do_not(values):
    silent(id=values)


def test_an_identifier_of_rows_explains_one_that_repeats():
    silent(visit=ROW_NUMBERS, phone=FIVE_EACH)


def test_the_number_of_a_person_counts_persons_beside_one_of_rows():
    with pytest.warns(PersonWarning, match=TOLD.format("patient_id")):
        made(visit=ROW_NUMBERS, patient_id=FIVE_EACH)


def test_a_subject_is_counted_and_raises_no_warning():
    table = pa.table({"id": FIVE_EACH, "age": AGES, "ill": ILLS})
    with warnings.catch_warnings():
        warnings.simplefilter("error", PersonWarning)
        release = sf.anonymize(
            table, subject="id", quasi="age", sensitive="ill", k=5, insecure_seed=1
        )
    assert release.manifest["unit"] == "persons"


def written(place: Path, policy: str = POLICY) -> Path:
    lines = zip(FIVE_EACH, AGES, ILLS, strict=True)
    text = "\n".join(f"{name},{age},{ill}" for name, age, ill in lines)
    (place / "visits.csv").write_text(f"id,age,ill\n{text}\n")
    (place / "policy.toml").write_text(policy)
    return place / "policy.toml"


def test_the_command_warns_on_stderr_and_names_what_is_counted(tmp_path, capsys):
    policy, out = written(tmp_path), tmp_path / "out"
    assert main(["anonymize", str(policy), "--out", str(out)]) == 0
    told = capsys.readouterr()
    assert "Warning: k counts rows; by the identifier 'id', one person" in told.err
    assert told.err.count("k counts rows") == 1
    assert "Proven from the published file; requirements count rows:" in told.out
    public, private = out / "report.html", out / "private" / "report.html"
    assert (
        "measured on the published table. Requirements count rows."
        in public.read_text()
    )
    assert "count rows, not persons" in public.read_text()
    assert "up to 5 rows" not in public.read_text()
    assert "one person has up to 5 rows" in private.read_text()


def test_json_has_the_warning_and_the_unit(tmp_path, capsys):
    policy, out = written(tmp_path), tmp_path / "out"
    assert main(["anonymize", str(policy), "--out", str(out), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["manifest"]["unit"] == "rows"
    assert "up to 5 times" in found["warnings"][0]


@pytest.mark.parametrize(
    ("role", "unit"), [("identifier", "rows"), ("subject", "persons")]
)
def test_a_check_names_what_is_counted(tmp_path, capsys, role, unit):
    policy = written(tmp_path, POLICY.replace('"identifier"', f'"{role}"'))
    out = tmp_path / "out"
    assert main(["anonymize", str(policy), "--out", str(out), "--quiet"]) == 0
    capsys.readouterr()
    record = out / "private" / "rows.parquet"
    asked = ["check", str(out / "data.csv"), "--policy", str(policy)]
    assert main([*asked, "--groups", str(record)]) == 0
    said = capsys.readouterr().out
    assert (
        said.splitlines()[-1] == f"Every requirement holds. Requirements count {unit}."
    )
    assert main([*asked, "--groups", str(record), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["unit"] == unit


def test_the_card_of_a_notebook_names_what_is_counted():
    release = silent(id=ROW_NUMBERS)
    assert "requirements count rows." in release._repr_html_()


def test_the_release_of_a_comparison_warns_too():
    compared = sf.compare(
        pa.table({"id": FIVE_EACH, "age": AGES, "ill": ILLS}),
        identifier="id",
        quasi="age",
        sensitive="ill",
        k=5,
        workers=1,
        insecure_seed=1,
    )
    with pytest.warns(PersonWarning, match=TOLD.format("id")) as caught:
        compared.release("min-loss")
    assert caught[0].filename == __file__
