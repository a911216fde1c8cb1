"""No returned object or written file contains a value that the release does not show.

Canaries stand in the cells of a row that is suppressed, in values that are generalized
away, and in every nested type; then every byte that leaves is searched for them.
"""

from __future__ import annotations

import json
import pickle
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import sfumato
from sfumato.report.html import render

CANARY = "canary7Qx"
NUMBER = 1_234_567_891_234
ROWS = 24
SECRET = (CANARY.encode(), str(NUMBER).encode(), NUMBER.to_bytes(8, "little"))


def words(start: str) -> list[str]:
    return [f"{start}{row % 2}" for row in range(ROWS)]


def plain_columns() -> dict[str, list[Any]]:
    """People alike, and one who stands out in every column."""
    return {
        "age": [30 + row % 2 for row in range(ROWS - 1)] + [NUMBER],
        "town": [*words("town")[:-1], f"{CANARY} town"],
        "ill": [*words("ill")[:-1], f"{CANARY} ill"],
        "note": ["same"] * (ROWS - 1) + [f"{CANARY} note"],
    }


def nested_columns() -> dict[str, pa.Array]:
    note = pa.array(plain_columns()["note"])
    coded = note.dictionary_encode()
    ends = pa.array(range(ROWS + 1), pa.int32())
    return {
        "list": pa.ListArray.from_arrays(ends, coded),
        "large_list": pa.LargeListArray.from_arrays(ends.cast(pa.int64()), coded),
        "fixed_list": pa.FixedSizeListArray.from_arrays(coded, 1),
        "struct": pa.StructArray.from_arrays([coded], ["part"]),
        "map": pa.MapArray.from_arrays(ends, pa.array(["k"] * ROWS), coded),
        "coded": coded,
        "twice": pa.DictionaryArray.from_arrays(coded.indices, coded.dictionary),
        "times": pa.array([1] * (ROWS - 1) + [NUMBER]).cast(pa.timestamp("ms")),
    }


def arrow_table() -> pa.Table:
    table = pa.table(plain_columns() | nested_columns())
    town = table["town"].combine_chunks().dictionary_encode()
    table = table.set_column(1, "town", town)
    return table.replace_schema_metadata({"pandas": CANARY, "origin": CANARY})


def pandas_frame() -> pd.DataFrame:
    frame = pd.DataFrame(plain_columns(), index=[CANARY] * ROWS)
    frame.attrs["origin"] = CANARY
    return frame.astype({"town": "category", "note": "category", "ill": "category"})


def polars_frame() -> pl.DataFrame:
    columns = plain_columns()
    declared = pl.Enum(sorted(set(columns["note"])))
    return pl.DataFrame(columns).with_columns(
        pl.col("note").cast(declared), pl.col("town").cast(pl.Categorical)
    )


def keys(data) -> list[str]:
    return list(data.column_names if isinstance(data, pa.Table) else data.columns)


def released(data, names, **settings):
    quasi, sensitive = ["age", "town"], ["ill"]
    others = [name for name in names if name not in (*quasi, *sensitive)]
    return sfumato.anonymize(
        data,
        quasi=quasi,
        sensitive=sensitive,
        insensitive=others,
        k=5,
        max_suppressed=0.1,
        **settings,
    )


def found(content: bytes) -> list[bytes]:
    return [secret for secret in SECRET if secret in content]


def handed_out(release) -> dict[str, bytes]:
    return {
        "table": pickle.dumps(release.table, protocol=4),
        "data": pickle.dumps(release.data, protocol=4),
        "manifest": json.dumps(release.manifest, default=str).encode(),
        "facts": json.dumps(release.facts, default=str).encode(),
        "alternatives": repr(release.alternatives).encode(),
        "printed": f"{release!r} {release._repr_html_()}".encode(),
        "page": render(release.manifest, release.facts).encode(),
    }


FRAMES = {"arrow": arrow_table, "pandas": pandas_frame, "polars": polars_frame}


@pytest.mark.parametrize("library", FRAMES)
def test_frames_hand_out_only_what_they_show(library):
    data = FRAMES[library]()
    release = released(data, keys(data))
    assert release.table.num_rows == ROWS - 1
    leaks = {part: found(content) for part, content in handed_out(release).items()}
    assert leaks == {part: [] for part in leaks}


def test_the_canaries_are_in_what_comes_in():
    for make in FRAMES.values():
        assert found(pickle.dumps(make(), protocol=4))


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
@pytest.mark.parametrize("format", ["csv", "parquet", "arrow"])
def test_files_hold_only_what_they_show(tmp_path, ending, format):
    table = arrow_table()
    if "csv" in (ending, format):
        table = table.select(list(plain_columns()))
    path = written(table, tmp_path / f"source.{ending}")
    release = released(path, table.column_names, format=format)
    release.save(tmp_path / "release")
    public = [p for p in (tmp_path / "release").iterdir() if p.is_file()]
    assert len(public) == 3
    leaks = {path.name: found(path.read_bytes()) for path in public}
    assert leaks == {part: [] for part in leaks}
    assert found(pickle.dumps(release.table, protocol=4)) == []


def written(table, path):
    if path.suffix == ".csv":
        sfumato.io.write.write_table(table, path)
    elif path.suffix == ".parquet":
        parquet.write_table(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    return path


def test_labels_that_are_generalized_away_are_not_in_the_table():
    data = pa.table(
        {"job": [f"{CANARY}{row}" for row in range(8)], "ill": ["a", "b"] * 4}
    )
    release = sfumato.anonymize(
        data, quasi=["job"], sensitive=["ill"], k=4, operator="suppress", max_loss=1
    )
    assert set(release.table["job"].to_pylist()) == {"*"}
    assert found(pickle.dumps(release.table, protocol=4)) == []


def test_both_tables_of_an_anatomy_hold_only_what_they_show():
    data = arrow_table().select(["age", "town", "ill"]).slice(0, ROWS - 1)
    release = sfumato.anonymize(
        data, quasi=["age", "town"], sensitive=["ill"], l=2, operator="anatomize"
    )
    tables = [release.table, *release.beside.values()]
    assert [found(pickle.dumps(table, protocol=4)) for table in tables] == [[], []]
