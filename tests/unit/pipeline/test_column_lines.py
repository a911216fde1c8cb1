"""Rows by value, before and after: what may be told, and what it says."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.schema import Kind
from sfumato.hierarchies.axis import Axis, CodedAxis, Shape
from sfumato.pipeline.column_lines import private_lines, public_lines
from sfumato.pipeline.shown_cells import ShownCells

SIZE = 6


def flat_axis(size: int = SIZE, positions: np.ndarray | None = None) -> Axis:
    names = tuple("abcdefghijklmnopqrstuvwxyz"[:size])
    return Axis(
        name="x",
        kind=Kind.CATEGORY if positions is None else Kind.DECIMAL,
        shape=Shape.FLAT if positions is None else Shape.FREE,
        labels=names,
        levels=np.array([range(size), [size] * size], dtype=np.int32),
        node_labels=(*names, "*"),
        node_ncp=np.zeros(size + 1),
        node_loss=np.zeros(size + 1),
        positions=positions,
    )


def shown(
    sets: list[tuple[int, ...]], rows: list[int], source: list[int]
) -> ShownCells:
    """Cells that are sets of leaves, the rows that show each, and the source's counts."""
    return ShownCells(
        coded=CodedAxis(flat_axis(), np.repeat(np.arange(SIZE), source).astype("i4")),
        first=np.array([each[0] for each in sets], dtype=np.int32),
        last=np.array([each[-1] for each in sets], dtype=np.int32),
        members={
            at: each for at, each in enumerate(sets) if each[-1] - each[0] >= len(each)
        },
        rows=np.array(rows),
        example=np.zeros(len(sets), dtype=np.int64),
    )


def unions(lines: list[set[int]]) -> list[set[int]]:
    """Every union of some lines, but not of none and not of all."""
    some = chain.from_iterable(
        combinations(lines, size) for size in range(1, len(lines))
    )
    return [set().union(*each) for each in some]


people = st.lists(
    st.tuples(st.integers(0, SIZE - 1), st.integers(0, 5), st.booleans()),
    min_size=1,
    max_size=60,
)


@given(people, st.integers(2, 8))
def test_no_union_of_lines_tells_of_few_rows(drawn, least):
    """Whatever is told is compared with the rows themselves, union by union."""
    # Each person has a value, shows a set that holds it, or is left out.
    wider = [(), (0, 2), (1, 3, 4), (0, 5), (2, 3), tuple(range(SIZE))]
    cells: dict[tuple[int, ...], int] = {}
    for value, form, published in drawn:
        shown_set = tuple(sorted({value, *wider[form]}))
        if published:
            cells[shown_set] = cells.get(shown_set, 0) + 1
    sets = list(cells)
    source = np.bincount([value for value, _, _ in drawn], minlength=SIZE)
    gone = sum(not published for *_, published in drawn)
    column = shown(sets, list(cells.values()), source.tolist())
    names = {f"cell {at}": set(each) for at, each in enumerate(sets)}
    lines = public_lines(column, lambda cell: f"cell {cell}", least=least, gone=gone)
    named = [names[line["label"]] for line in lines if line["label"] is not None]
    rest = set(range(SIZE)).difference(*named) if named else set()
    for union in unions([*named, rest]) if lines else []:
        rows = sum(source[leaf] for leaf in union)
        inside = sum(n for each, n in cells.items() if set(each) <= union)
        possible = sum(n for each, n in cells.items() if set(each) & union)
        for count in (rows, rows - inside, possible - rows):
            assert count == 0 or abs(count) >= least


def test_a_line_says_what_the_source_has_and_what_the_release_shows():
    column = shown([(0,), (0, 1), (2,)], [20, 15, 30], [30, 5 + 20, 30, 0, 0, 0])
    first = public_lines(column, "abc".__getitem__, least=10, gone=20)[0]
    assert first == {"label": "c", "before": 30, "inside": 30, "possible": 30}


def test_lines_that_would_tell_of_few_rows_are_pooled():
    column = shown([(0,), (1,)], [20, 20], [20, 23, 0, 0, 0, 0])
    assert public_lines(column, "ab".__getitem__, least=10, gone=3) == []


def test_private_lines_spread_a_cell_evenly_over_its_values():
    column = shown([(0, 1), (3, 5)], [10, 4], [7, 3, 0, 2, 0, 2])
    found = {line["label"]: line["after"] for line in private_lines(column)}
    assert found == {"a": 5.0, "b": 5.0, "d": 2.0, "f": 2.0}


def test_numbers_are_cut_into_lines_of_equal_length():
    numbers = np.array([0.0, 5, 10, 15, 20, 25, 30, 35, 40])
    axis = flat_axis(9, numbers)
    codes = np.arange(9, dtype=np.int32)
    column = ShownCells(
        coded=CodedAxis(axis, codes),
        first=codes,
        last=codes,
        rows=np.ones(9, "i8"),
        example=codes.astype(np.int64),
    )
    labels = [line["label"] for line in private_lines(column)]
    assert labels[:2] == ["0 to 5", "5 to 10"]


def test_a_table_with_persons_tells_no_counts_of_its_source():
    table = pa.table(
        {
            "who": [f"p{i // 2}" for i in range(80)],
            "age": [20 + i // 8 for i in range(80)],
        }
    )
    release = sf.anonymize(table, quasi=["age"], subject="who", k=4, insecure_seed=1)
    assert release.facts["marginals"] == {}
