"""A bare table contains no byte of anything that its cells do not show."""

from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from sfumato.errors import DataError
from sfumato.io.strip_hidden import bare
from sfumato.io.write import write_table

CANARY = "canary-7Qx"
NUMBER = 0x0111C4E7C0DE5EC7
"""A number whose bytes occur nowhere by chance."""
SECRET = (CANARY.encode(), NUMBER.to_bytes(8, "little"))


def texts():
    return pa.array([CANARY, f"{CANARY} and a long tail of text", "shown", "seen"])


def texts_behind_nulls():
    hidden = texts()
    return behind_nulls(hidden, [False, False, True, True])


def numbers():
    return pa.array([NUMBER, NUMBER, 1, 2])


def numbers_behind_nulls():
    return behind_nulls(pa.array([1, NUMBER, NUMBER, 2]), [True, False, False, True])


def behind_nulls(array, valid):
    bits = pa.array(valid).buffers()[1]
    return pa.Array.from_buffers(array.type, len(array), [bits, *array.buffers()[1:]])


LEAVES = {
    "text": texts,
    "large text": lambda: texts().cast(pa.large_string()),
    "text view": lambda: texts().cast(pa.string_view()),
    "bytes": lambda: texts().cast(pa.binary()),
    "bytes view": lambda: texts().cast(pa.binary()).cast(pa.binary_view()),
    "text behind nulls": texts_behind_nulls,
    "numbers": numbers,
    "numbers behind nulls": numbers_behind_nulls,
    "times": lambda: numbers().cast(pa.timestamp("us")),
    "decimals": lambda: decimals(),
    "fixed bytes": lambda: pa.array([CANARY.encode(), b"0123456789"], pa.binary(10)),
    "dictionary": lambda: texts().dictionary_encode(),
    "dictionary of views": lambda: pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 2, 3]), texts().cast(pa.string_view())
    ),
    "ordered dictionary": lambda: pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 2, 3]), texts(), ordered=True
    ),
    "dictionary of numbers": lambda: numbers().dictionary_encode(),
    "dictionary of nulls": lambda: pa.DictionaryArray.from_arrays(
        behind_nulls(pa.array([1, 1, 2, 3]), [False, True, True, True]),
        texts_behind_nulls(),
    ),
    "json": lambda: pa.ExtensionArray.from_storage(pa.json_(), texts()),
}


def dictionary(values):
    return pa.DictionaryArray.from_arrays(pa.array(np.arange(len(values))), values)


def one_each(values, kind):
    ends = pa.array(np.arange(len(values) + 1), kind)
    return ends, values


def lists(values):
    return pa.ListArray.from_arrays(*one_each(values, pa.int32()))


def masked_lists(values):
    mask = pa.array([True] * (len(values) - 1) + [False])
    return pa.ListArray.from_arrays(*one_each(values, pa.int32()), mask=mask)


def large_lists(values):
    return pa.LargeListArray.from_arrays(*one_each(values, pa.int64()))


def list_views(values):
    rows = len(values)
    starts, lengths = pa.array(np.arange(rows), pa.int32()), np.ones(rows, np.int32)
    return pa.ListViewArray.from_arrays(starts, pa.array(lengths), values)


def fixed_lists(values):
    return pa.FixedSizeListArray.from_arrays(values, 1)


def masked_fixed_lists(values):
    mask = pa.array([True] * (len(values) - 1) + [False])
    return pa.FixedSizeListArray.from_arrays(values, 1, mask=mask)


def structs(values):
    field = pa.field("f", values.type, metadata={"note": CANARY})
    return pa.StructArray.from_arrays([values], fields=[field])


def masked_structs(values):
    mask = pa.array([True] * (len(values) - 1) + [False])
    return pa.StructArray.from_arrays([values], names=["f"], mask=mask)


def maps(values):
    keys = pa.array([CANARY] + ["key"] * (len(values) - 1))
    return pa.MapArray.from_arrays(pa.array(np.arange(len(values) + 1)), keys, values)


SHAPES = {
    shape.__name__: shape
    for shape in (
        dictionary,
        lists,
        masked_lists,
        large_lists,
        list_views,
        fixed_lists,
        masked_fixed_lists,
        structs,
        masked_structs,
        maps,
    )
}


def decimals():
    return pa.Array.from_buffers(
        pa.decimal128(38, 2), 2, [None, numbers().buffers()[1]]
    )


WORDS = (
    CANARY,
    str(NUMBER),
    repr(numbers().cast(pa.timestamp("us"))[0].as_py()),
    repr(decimals()[0].as_py()),
)
"""How the canaries look in Python."""


def shown_part(array):
    """Rows that show no canary, as a slice: the rest stays in the buffers."""
    cells = array.to_pylist()
    dirty = [at for at, cell in enumerate(cells) if secret_in(repr(cell))]
    first = dirty[-1] + 1 if dirty else 0
    return array.slice(first)


def secret_in(text):
    return any(word in text for word in WORDS)


def leaks(content: bytes) -> list[bytes]:
    return [secret for secret in SECRET if secret in content]


def raw(thing) -> bytes:
    """Every buffer that Arrow would hand on, dictionaries and children included."""
    return pickle.dumps(thing, protocol=4)


def case(leaf, *shapes):
    array = LEAVES[leaf]()
    for shape in shapes:
        array = SHAPES[shape](array)
    return shown_part(array)


NESTED: list[tuple[str, tuple[str, ...]]] = [(leaf, ()) for leaf in LEAVES]
NESTED += [(leaf, (shape,)) for leaf in LEAVES for shape in SHAPES]
NESTED += [
    (leaf, (inner, outer))
    for leaf in ("dictionary", "numbers behind nulls")
    for inner in SHAPES
    for outer in SHAPES
]


@pytest.mark.parametrize(("leaf", "shapes"), NESTED)
def test_what_is_not_shown_is_in_no_buffer(leaf, shapes):
    array = case(leaf, *shapes)
    table = pa.table({"a": array}).replace_schema_metadata({"pandas": CANARY})
    clean = bare(table)
    clean.validate(full=True)
    assert clean["a"].to_pylist() == array.to_pylist()
    assert leaks(raw(clean)) == []


def writable(table) -> bool:
    try:
        parquet.write_table(table, pa.BufferOutputStream())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return False
    return True


@pytest.mark.parametrize("ending", ["arrow", "parquet"])
@pytest.mark.parametrize(("leaf", "shapes"), NESTED)
def test_what_is_not_shown_is_in_no_file(leaf, shapes, ending, tmp_path):
    array = case(leaf, *shapes)
    path = tmp_path / f"t.{ending}"
    table = pa.table({"a": array}).replace_schema_metadata({"pandas": CANARY})
    if ending == "parquet" and not writable(table):
        pytest.skip("Parquet has no such type.")
    write_table(table, path)
    assert leaks(path.read_bytes()) == []


def test_the_canaries_are_there_to_be_found():
    found = [case(leaf, *shapes) for leaf, shapes in NESTED]
    dirty = [array for array in found if leaks(raw(array))]
    assert len(dirty) > 0.9 * len(found)


def test_chunks_become_one_and_their_dictionaries_too():
    one = lists(pa.array([CANARY, "b"]).dictionary_encode()).slice(1)
    two = lists(pa.array(["c", "a", CANARY]).dictionary_encode()).slice(0, 2)
    clean = bare(pa.table({"a": pa.chunked_array([one, two])}))["a"]
    assert clean.num_chunks == 1
    assert clean.to_pylist() == [["b"], ["c"], ["a"]]
    assert clean.chunk(0).values.dictionary.to_pylist() == ["a", "b", "c"]


RUNS = pa.RunEndEncodedArray.from_arrays(pa.array([2], pa.int32()), pa.array(["x"]))
UNION = pa.UnionArray.from_sparse(pa.array([0, 0], pa.int8()), [pa.array([1, 2])])


@pytest.mark.parametrize("array", [RUNS, UNION])
@pytest.mark.parametrize("shape", [None, lists, structs, fixed_lists])
def test_types_that_cannot_be_cleaned_are_refused(array, shape):
    table = pa.table({"a": shape(array) if shape else array})
    with pytest.raises(DataError, match=r"Column 'a' has the type .* more than"):
        bare(table)


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("kind", [pa.int64(), pa.string(), pa.list_(pa.int64())])
def test_small_columns_stay_as_they_are(kind, rows):
    column = pa.nulls(rows, kind)
    assert bare(pa.table({"a": column}))["a"].to_pylist() == [None] * rows


def test_a_column_of_no_chunks_stays_empty():
    column = pa.chunked_array([], pa.dictionary(pa.int32(), pa.string()))
    assert bare(pa.table({"a": column}))["a"].type == column.type
