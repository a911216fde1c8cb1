"""The traceback of a failing call, with all its causes, quotes no cell."""

from __future__ import annotations

import traceback

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import SfumatoError

CANARY = "canary7Qx"
NUMBER = "9182736455"
ROWS = 12


def words():
    return [f"{CANARY}{row % 3}" for row in range(ROWS)]


def table(**more):
    columns = {"age": [str(20 + row % 3) for row in range(ROWS)], "ill": words()}
    return pa.table(columns | more)


def file(place, text, name="people.csv"):
    path = place / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


ASKED = {"quasi": ["age"], "sensitive": ["ill"], "k": 2}


def anonymize(data, **settings):
    return sf.anonymize(data, **(ASKED | settings))


def hierarchy(place, text):
    return str(file(place, text, "levels.csv"))


def anatomy(place, count):
    file(place, "age,group\n1,1\n2,1\n", "data.csv")
    path = file(place, f"group,ill,count\n1,a,{count}\n1,b,1\n", "sensitive.csv")
    return path.with_name("data.csv")


CALLS = {
    "ragged row": lambda p: anonymize(file(p, f"age,ill\n1,{CANARY},3\n2,b\n")),
    "open quote": lambda p: anonymize(file(p, f'age,ill\n1,"{CANARY}\n2,b\n')),
    "bad bytes": lambda p: anonymize(
        file(p, b"age,ill\n1," + CANARY.encode() + b"\xff\n2,b\n")
    ),
    "no header": lambda p: anonymize(file(p, f"1,{CANARY}\n2,{CANARY}\n")),
    "shared names": lambda p: anonymize(file(p, f"{CANARY},{CANARY}\nx,y\n")),
    "not Parquet": lambda p: anonymize(file(p, CANARY * 9, "t.parquet")),
    "not Arrow": lambda p: anonymize(file(p, CANARY * 9, "t.arrow")),
    "not gzip": lambda p: anonymize(file(p, CANARY * 9, "t.csv.gz")),
    "wrong kind": lambda p: anonymize(table(), kinds={"ill": "integer"}),
    "wrong date": lambda p: anonymize(table(), kinds={"ill": "date"}),
    "wrong order": lambda p: anonymize(
        table(), kinds={"ill": "ordered"}, orders={"ill": ["a", "b"]}
    ),
    "hierarchy misses values": lambda p: anonymize(
        table(),
        quasi=["ill"],
        sensitive=["age"],
        hierarchies={"ill": hierarchy(p, "a;*\nb;*\n")},
    ),
    "hierarchy contradicts itself": lambda p: anonymize(
        table(),
        quasi=["ill"],
        sensitive=["age"],
        hierarchies={
            "ill": hierarchy(p, f"{CANARY}0;x;*\n{CANARY}0;y;*\n{CANARY}1;x;+\n")
        },
    ),
    "intervals of words": lambda p: anonymize(
        table(),
        quasi=["ill"],
        sensitive=["age"],
        hierarchies={"ill": {"intervals": [5]}},
    ),
    "weights of words": lambda p: anonymize(
        table(w=words()),
        weight="w",
        require=[{"model": "k-map", "k": 2, "sampling_fraction": "weights"}],
    ),
    "near-unique column": lambda p: anonymize(
        table(code=[f"{CANARY}{row}" for row in range(ROWS)]), insensitive="code"
    ),
    "infeasible": lambda p: anonymize(table(), l=9),
    "infeasible closeness": lambda p: anonymize(table(), k=ROWS * 2),
    "mixed frame": lambda p: anonymize(
        pd.DataFrame({"age": [1, CANARY], "ill": [CANARY, {1: 2}]})
    ),
    "shared names of a frame": lambda p: anonymize(
        pd.DataFrame([[CANARY, NUMBER]] * 4, columns=["age", "age"])
    ),
    "strange frame": lambda p: anonymize([CANARY]),
    "lazy frame": lambda p: anonymize(pl.LazyFrame({"age": [CANARY]})),
    "star among values": lambda p: anonymize(
        table().set_column(0, "age", pa.array(["*", CANARY] * (ROWS // 2)))
    ),
    "huge number": lambda p: anonymize(
        table(), quasi=["n"], kinds={"n": "decimal"}, insensitive=[]
    ),
    "anatomy counts": lambda p: sf.check(
        anatomy(p, CANARY),
        quasi=["age"],
        sensitive=["ill"],
        l=2,
        operator="anatomize",
    ),
    "check of words": lambda p: sf.check(
        table(), quasi=["age"], sensitive=["ill"], t=0.1, kinds={"ill": "integer"}
    ),
    "workload of words": lambda p: sf.workload_error(
        table(), table(), file(p, f'[[query]]\nwhere = "{CANARY}"\n', "w.toml")
    ),
    "workload in SQL": lambda p: sf.workload_error(
        table(), table(), file(p, f"SELECT {CANARY} FRM x WHERE", "w.sql")
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_traceback_quotes_no_cell(name, tmp_path):
    with pytest.raises(SfumatoError) as caught:
        CALLS[name](tmp_path)
    told = "".join(
        line
        for line in traceback.TracebackException.from_exception(caught.value).format(
            chain=True
        )
        if "test_tracebacks.py" not in line
    )
    assert CANARY not in told
    assert NUMBER not in told
