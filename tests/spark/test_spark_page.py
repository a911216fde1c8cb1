"""The program of docs/how-to/spark.md runs as it is printed, on other places."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sfumato as sf
from sfumato.demo import hospital
from tests.conftest import ROOT
from tools.run_page import blocks

PAGE = (ROOT / "docs" / "how-to" / "spark.md").read_text(encoding="utf-8")
PROGRAM = next(each.text for each in blocks(PAGE) if each.language == "python")
ROWS = 600


def write_patients(place: Path) -> None:
    """Patients with the columns that the program names, in two files."""
    known = hospital().slice(0, ROWS)
    numbers = np.arange(ROWS)
    table = known.select(["name", "birth_date", "sex", "zip", "diagnosis"])
    table = table.append_column("patient_id", pa.array(numbers))
    table = table.append_column("ward", pa.array([f"W{n % 2}" for n in numbers]))
    place.mkdir()
    for number, part in enumerate((table.slice(0, 250), table.slice(250))):
        pq.write_table(part, place / f"{number}.parquet")


def test_the_program_of_the_page_releases_a_spark_frame(spark, tmp_path, capsys):
    write_patients(tmp_path / "patients")
    names: dict[str, Any] = {}
    exec(PROGRAM.replace("/shared", str(tmp_path)), names)
    assert names["spark"] is spark
    assert names["release"].data.count() == ROWS
    assert "sex|count|" in capsys.readouterr().out
    published = pq.read_table(tmp_path / "release" / "data.parquet")
    assert published.num_rows == ROWS
    quasi = ["birth_date", "sex", "zip"]
    assert sf.check(published, quasi=quasi, sensitive="diagnosis", k=5, l=3).holds
