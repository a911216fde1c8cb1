"""A column of every type that Arrow, pandas and polars have, each with awkward cells."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

ROWS = 12
DAY = dt.date(2020, 1, 1)
NOON = dt.datetime(2020, 1, 1, 12)
LATER = NOON + dt.timedelta(hours=1)
NAN = float("nan")


def cycle(*values):
    """The values over and over, one per row."""
    return [values[row % len(values)] for row in range(ROWS)]


def _cells(kind, *values):
    return pa.array(cycle(*values), kind)


def _viewed(kind, *numbers):
    """Cells of a type from the numbers behind them, however far out."""
    return pa.array(cycle(*numbers), pa.int64()).view(kind)


def _whole_numbers():
    widths = (8, 16, 32, 64)
    kinds = [f"{sign}int{width}" for sign in ("", "u") for width in widths]
    return {kind: _cells(getattr(pa, kind)(), 1, 2, 3, None) for kind in kinds} | {
        "largest uint64": _cells(pa.uint64(), 2**64 - 1, 2**63, 5),
        "ends of int64": _cells(pa.int64(), -(2**63), 2**63 - 1, 5),
        "bool": _cells(pa.bool_(), True, False, None),
    }


def _fractions():
    halves = np.array(cycle(1.5, 2.5, 3.0), dtype=np.float16)
    return {
        "float16": pa.array(halves),
        "float32 with NaN and null": _cells(pa.float32(), 1.5, NAN, None, 0.1),
        "float64 with NaN and null": _cells(pa.float64(), 1.5, NAN, None, 0.1),
        "zeros of both signs": _cells(pa.float64(), 0.0, -0.0),
        "zeros, NaN and null": _cells(pa.float64(), 0.0, -0.0, NAN, None),
        "infinity": _cells(pa.float64(), 0.0, float("inf"), 1.0),
        "giants": _cells(pa.float64(), 1e300, -1e300, 1.0),
        "denormals": _cells(pa.float64(), 1e-320, 2e-320, 0.0),
    }


def _decimals():
    near = Decimal("12345678901234567890.1")
    far = Decimal("1" + "0" * 45 + ".1")
    tenth = Decimal("0.1")
    price = (Decimal("1.10"), Decimal("2.20"), None)
    found = {
        "decimal128": _cells(pa.decimal128(10, 2), *price),
        "decimal128 closer than floats": _cells(
            pa.decimal128(38, 1), near, near + tenth
        ),
        "decimal256": _cells(pa.decimal256(50, 2), *price),
        "decimal256 closer than floats": _cells(
            pa.decimal256(60, 1), far, far.next_plus()
        ),
        "decimal of hundreds": _cells(
            pa.decimal128(10, -2), Decimal(100), Decimal(200), None
        ),
    }
    for name in ("decimal32", "decimal64"):
        # Older releases of Arrow have none.
        if hasattr(pa, name):
            found[name] = _cells(getattr(pa, name)(5, 2), *price)
    return found


def _texts():
    long = "a text that is longer than a view holds in place"
    return {
        "null": pa.nulls(ROWS),
        "string": _cells(pa.string(), "a", "b", None, ""),
        "large_string": _cells(pa.large_string(), "a", "b", None, ""),
        "string_view": _cells(pa.string_view(), "a", "b", None, long),
        "numbers in string_view": _cells(pa.string_view(), "1", "2", None, "30"),
        "binary": _cells(pa.binary(), b"a", b"b", None),
        "binary that is no text": _cells(pa.binary(), b"\xff\xfe", b"b", None),
        "large_binary": _cells(pa.large_binary(), b"a", b"b", None),
        "binary_view": _cells(pa.binary_view(), b"a", b"b", None),
        "binary of one length": _cells(pa.binary(2), b"ab", b"cd", None),
    }


def _moments():
    day_later = DAY + dt.timedelta(3)
    ends = (dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999999))
    close = (1577836800000000001, 1577836800000000002)
    found = {
        "date32": _cells(pa.date32(), DAY, day_later, None),
        "date64": _cells(pa.date64(), DAY, day_later, None),
        "first and last day": _cells(pa.date32(), dt.date.min, dt.date.max, DAY),
        "days beyond the calendar": pa.array(
            cycle(-(2**31), 2**31 - 1, 5), pa.int32()
        ).view(pa.date32()),
        "zone by offset": _cells(pa.timestamp("us", tz="+05:30"), NOON, LATER),
        "zone that is unknown": _cells(pa.timestamp("us", tz="Mars/Base"), NOON, LATER),
        "nanoseconds apart": _viewed(pa.timestamp("ns"), *close),
        "first and last moment": _cells(pa.timestamp("us"), *ends, NOON),
        "seconds beyond the calendar": _viewed(pa.timestamp("s"), -(2**62), 2**62, 5),
        "time32": _cells(pa.time32("s"), dt.time(1, 2, 3), dt.time(4), None),
        "time64": _cells(pa.time64("ns"), dt.time(1, 2, 3), dt.time(4), None),
        "months, days and nanoseconds": _cells(
            pa.month_day_nano_interval(), (1, 2, 3), (2, 3, 4), None
        ),
    }
    for unit in ("s", "ms", "us", "ns"):
        zoned = pa.timestamp(unit, tz="Europe/Berlin")
        hours = (dt.timedelta(hours=1), dt.timedelta(hours=2), None)
        found[f"timestamp in {unit}"] = _cells(pa.timestamp(unit), NOON, LATER, None)
        found[f"timestamp in {unit} with zone"] = _cells(zoned, NOON, LATER, None)
        found[f"duration in {unit}"] = _cells(pa.duration(unit), *hours)
    return found


def _nested():
    ends, owners = pa.array([4, 8, 12], pa.int32()), pa.array([0, 1] * 6, pa.int8())
    offsets = pa.array([row // 2 for row in range(ROWS)], pa.int32())
    letters = pa.array(list("abcdefabcdef"))
    point = pa.struct([("x", pa.int64())])
    return {
        "list": _cells(pa.list_(pa.int64()), [1, 2], [3], None),
        "large_list": _cells(pa.large_list(pa.string()), ["a"], ["b"], None),
        "list of views": _cells(pa.list_(pa.string_view()), ["a"], ["b"], None),
        "list_view": _cells(pa.list_view(pa.int64()), [1, 2], [3], None),
        "list of one length": _cells(pa.list_(pa.int64(), 2), [1, 2], [3, 4], None),
        "list of categories": _cells(
            pa.list_(pa.dictionary(pa.int8(), pa.string())), ["a"], ["b"], None
        ),
        "struct": _cells(point, {"x": 1}, {"x": 2}, None),
        "struct of views": _cells(
            pa.struct([("x", pa.string_view())]), {"x": "1"}, {"x": "2"}, None
        ),
        "struct of nothing": _cells(pa.struct([]), {}, None),
        "map": _cells(pa.map_(pa.string(), pa.int64()), [("a", 1)], [("b", 2)], None),
        "runs of texts": pa.RunEndEncodedArray.from_arrays(
            ends, pa.array(["a", "b", "c"])
        ),
        "runs of numbers": pa.RunEndEncodedArray.from_arrays(
            ends, pa.array([1, 2, None])
        ),
        "dense union": pa.UnionArray.from_dense(
            owners, offsets, [pa.array(range(6)), letters]
        ),
        "sparse union": pa.UnionArray.from_sparse(
            owners, [pa.array(range(ROWS)), letters]
        ),
    }


def _dictionary(values, *, index=None, ordered=False):
    places = pa.array(cycle(0, 1, None), index or pa.int8())
    return pa.DictionaryArray.from_arrays(places, values, ordered=ordered)


def _dictionaries():
    nothing = pa.array([None] * ROWS, pa.int8())
    moments = _viewed(pa.timestamp("ns"), 1577836800000000001, 1577836800000000002)
    return {
        "category": _dictionary(pa.array(["a", "b", "unused"])),
        "category in order": _dictionary(pa.array(["lo", "hi", "no"]), ordered=True),
        "category of whole numbers": _dictionary(pa.array([1, 2])),
        "category of whole numbers in order": _dictionary(
            pa.array([10, 5]), ordered=True
        ),
        "category of fractions": pa.array(
            cycle(1.5, NAN, None, 0.0, -0.0)
        ).dictionary_encode(),
        "category of dates": _dictionary(pa.array([DAY, dt.date(2021, 1, 1)])),
        "category of nanoseconds": moments.dictionary_encode(),
        "category of truths": _dictionary(pa.array([True, False])),
        "category without categories": pa.DictionaryArray.from_arrays(
            nothing, pa.array([], pa.string())
        ),
        "category of null": pa.DictionaryArray.from_arrays(nothing, pa.nulls(0)),
        "category with twins": _dictionary(pa.array(["a", "a"])),
        "category with wide codes": _dictionary(
            pa.array(["a", "b"]), index=pa.uint64()
        ),
        "category of large texts": _dictionary(pa.array(["a", "b"], pa.large_string())),
        "category of views": _dictionary(pa.array(["a", "b"], pa.string_view())),
        "category of bytes": _dictionary(pa.array([b"a", b"\xff"])),
        "category of structs": _dictionary(pa.array([{"x": 1}, {"x": 2}])),
    }


def _extensions():
    keys = _cells(pa.binary(16), UUID(int=1).bytes, UUID(int=2).bytes, None)
    pairs = _cells(pa.list_(pa.int32(), 2), [1, 2], [3, 4])
    tensor = pa.fixed_shape_tensor(pa.int32(), [2])
    found = {"tensor": pa.ExtensionArray.from_storage(tensor, pairs)}
    known = {
        "uuid": lambda: (pa.uuid(), keys),
        "json_": lambda: (pa.json_(), _cells(pa.string(), '{"a": 1}', "[]", None)),
        "bool8": lambda: (pa.bool8(), _cells(pa.int8(), 0, 1, None)),
        "opaque": lambda: (
            pa.opaque(pa.int64(), "type", "vendor"),
            _cells(pa.int64(), 1, 2, None),
        ),
    }
    for name, make in known.items():
        # Older releases of Arrow have none.
        if hasattr(pa, name):
            found[name] = pa.ExtensionArray.from_storage(*make())
    return found


def arrow_columns():
    """Arrow arrays by what they are."""
    return {
        **_whole_numbers(),
        **_fractions(),
        **_decimals(),
        **_texts(),
        **_moments(),
        **_nested(),
        **_dictionaries(),
        **_extensions(),
    }


def _objects():
    """Cells that pandas keeps as Python objects."""
    tokyo = pd.Timestamp("2020-01-01", tz="Asia/Tokyo")
    cells = {
        "mixed": (1, "a", 2.5),
        "whole numbers beyond 64 bits": (1, 2**70, 3),
        "whole numbers beyond 128 bits": (2**200, 2**201),
        "decimals": (Decimal("1.1"), Decimal("2.22"), None),
        "decimals with NaN": (Decimal("1.1"), Decimal("NaN"), None),
        "decimals far apart": (Decimal("1e100"), Decimal("2.22"), None),
        "dates": (DAY, None),
        "first and last day": (dt.date.min, dt.date.max),
        "first and last moment": (dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31)),
        "times": (dt.time(1), None),
        "bytes": (b"a", b"\xff"),
        "lists": ([1], [2]),
        "dicts": ({"a": 1}, {"b": 2}),
        "sets": ({1}, {2}),
        "uuids": (UUID(int=1), UUID(int=2)),
        "plain objects": (object(), object()),
        "kinds of missing": (pd.NA, "a", None, NAN),
        "truths": (True, None, False),
        "paths": (Path("a"), Path("b")),
        "zones": (pd.Timestamp("2020-01-01", tz="UTC"), tokyo),
        "surrogates": ("\ud800", "b"),
        "zero characters": ("a\x00b", "b"),
        "nothing": (None,),
    }
    return {
        f"objects: {name}": pd.Series(cycle(*values), dtype=object)
        for name, values in cells.items()
    }


def pandas_columns():
    """Series of pandas by what they are."""
    days = pd.to_datetime(cycle("2020-01-01", None))
    views = pa.array(cycle("a", "b", None), pa.string_view())
    lists = pa.array(cycle([1], [2], None))
    return _objects() | {
        "period": pd.Series(pd.period_range("2020-01", periods=ROWS, freq="M")),
        "interval": pd.Series(pd.interval_range(0, ROWS)),
        "cut": pd.cut(pd.Series(range(ROWS)), 3),
        "sparse": pd.Series(pd.arrays.SparseArray(cycle(1, 0, 0))),
        "complex": pd.Series(cycle(1j, 2j)),
        "timedelta": pd.Series(pd.to_timedelta(cycle(1, 2, 3), unit="h")),
        "string": pd.Series(cycle("a", "b", None), dtype="string"),
        "Int8": pd.Series(cycle(1, 2, None), dtype="Int8"),
        "Float32": pd.Series(cycle(1, 2, None), dtype="Float32"),
        "boolean": pd.Series(cycle(True, False, None), dtype="boolean"),
        "float16": pd.Series(cycle(1, 2, 3), dtype="float16"),
        "long double": pd.Series(np.array(cycle(1, 2, 3), dtype=np.longdouble)),
        "Arrow lists": pd.Series(pd.arrays.ArrowExtensionArray(lists)),
        "Arrow views": pd.Series(pd.arrays.ArrowExtensionArray(views)),
        "category of numbers": pd.Series(
            pd.Categorical(cycle(1, 2, 3), categories=[3, 2, 1, 9])
        ),
        "category in order": pd.Series(
            pd.Categorical(
                cycle("a", "b", None), categories=["b", "a", "z"], ordered=True
            )
        ),
        "category without categories": pd.Series(pd.Categorical([None] * ROWS)),
        "category of mixed": pd.Series(pd.Categorical(cycle(1, "a", None))),
        "category of moments": pd.Series(pd.Categorical(days)),
        "moments with zone": pd.Series(
            pd.date_range("2020", periods=ROWS, tz="Europe/Berlin")
        ),
        "moments in seconds": pd.Series(days).astype("datetime64[s]"),
        "all NaN": pd.Series([NAN] * ROWS),
    }


def polars_columns():
    """Series of polars by what they are."""
    utc = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
    cells = {
        "Int8": (pl.Int8, 1, 2, None),
        "UInt64": (pl.UInt64, 2**64 - 1, 2, None),
        "Int128": (pl.Int128, 2**100, 5, None),
        "Float32": (pl.Float32, 0.1, 2.0, None),
        "Float64": (pl.Float64, 0.0, -0.0, NAN, None),
        "Decimal": (pl.Decimal(38, 2), Decimal("1.1"), Decimal("2.2"), None),
        "String": (pl.String, "a", "b", None, ""),
        "Categorical": (pl.Categorical, "a", "b", None),
        "Enum": (pl.Enum(["b", "a", "z"]), "a", "b", None),
        "Enum without values": (pl.Enum([]), None),
        "Boolean": (pl.Boolean, True, None, False),
        "Binary": (pl.Binary, b"a", b"\xff", None),
        "Date": (pl.Date, DAY, dt.date.max, None),
        "Datetime": (pl.Datetime("ns"), NOON, LATER, None),
        "Datetime with zone": (pl.Datetime("us", "UTC"), utc, None),
        "Duration": (pl.Duration("ns"), dt.timedelta(1), None),
        "Time": (pl.Time, dt.time(1), None),
        "List": (pl.List(pl.String), ["a"], ["b"], None),
        "Array": (pl.Array(pl.Int64, 1), [1], [2], None),
        "Struct": (pl.Struct({"a": pl.String}), {"a": "1"}, {"a": "2"}),
        "Null": (pl.Null, None),
        "Object": (pl.Object, object(), 1),
    }
    return {
        name: pl.Series(cycle(*values), dtype=kind)
        for name, (kind, *values) in cells.items()
    }
