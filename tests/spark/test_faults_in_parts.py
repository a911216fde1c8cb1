"""Every fault of what writes parts with Spark is noticed, and nothing stays behind."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.engines import spark_files
from sfumato.errors import GuaranteeError
from sfumato.io.write import write_table
from tests.spark.random_people import REQUIREMENTS, people, policy


def constant(frame):
    return (
        frame.selectExpr("*", "'flu' as sick")
        .drop("ill")
        .withColumnRenamed("sick", "ill")
    )


def changed(name, expression):
    def fault(frame):
        return frame.selectExpr(
            *(f"{expression} as {name}" if c == name else c for c in frame.columns)
        )

    return fault


def swapped(frame):
    turned = {"ill": "note", "note": "ill"}
    return frame.selectExpr(*(f"{turned.get(c, c)} as {c}" for c in frame.columns))


def row_twice(frame):
    """The second row of the order is the first one again."""
    first = frame.filter("place = 0").selectExpr(
        *(f"1L as {c}" if c == "place" else c for c in frame.columns)
    )
    return frame.filter("place <> 1").unionByName(first)


def exchanged(frame):
    """Two rows have changed places, so that every column holds the same cells."""
    return frame.selectExpr(
        *(
            "case place when 0 then 1L when 1 then 0L else place end as place"
            if c == "place"
            else c
            for c in frame.columns
        )
    )


FAULTS = {
    "constant": (constant, None),
    "coarsened": (changed("age", "'*'"), "age"),
    "swapped": (swapped, "ill"),
    "row twice": (row_twice, None),
    "row lost": (lambda frame: frame.filter("place > 0"), None),
    "null filled": (changed("note", "coalesce(note, '')"), "note"),
    "carried cells changed": (changed("score", "score + 1"), "score"),
    "type changed": (changed("ward", "cast(ward as string)"), "ward"),
    "rows exchanged": (exchanged, None),
}


@pytest.fixture(scope="module")
def release(spark, tmp_path_factory):
    place = tmp_path_factory.mktemp("people") / "people.parquet"
    pq.write_table(people(3, 60), place)
    asked = policy({"name": "mondrian"}, REQUIREMENTS["k"])
    return sf.anonymize(place, asked, engine="spark", insecure_seed=1)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_parts_is_noticed(release, tmp_path, monkeypatch, name):
    fault, column = FAULTS[name]
    write = spark_files.write_parts
    monkeypatch.setattr(
        "sfumato.pipeline.spark_release.write_parts",
        lambda frame, place, **options: write(fault(frame), place, **options),
    )
    with pytest.raises(GuaranteeError, match="does not match the draft") as caught:
        release.save(tmp_path / "out")
    if column is not None:
        assert f"column '{column}' of" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_fault_in_what_spark_is_given_is_noticed(release, tmp_path, monkeypatch):
    """Spark's own draft then has the fault, too."""

    def careless(table, place, form, **options):
        write_table(
            table.set_column(0, "c0", table["c0"].take([0] * len(table))), place
        )

    monkeypatch.setattr("sfumato.pipeline.spark_rows.write_table", careless)
    with pytest.raises(GuaranteeError, match=r"column 'age' of 'data\.parquet'"):
        release.save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
