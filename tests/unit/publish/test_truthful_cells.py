"""Every published cell contains the value it stands for, at any magnitude."""

from collections import Counter
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.cell_text import as_text
from sfumato.data.coding import code_column
from sfumato.data.grouping import Grouping
from sfumato.data.schema import Attribute, Kind, Role, Schema
from sfumato.data.seeds import Seed
from sfumato.data.table import Table
from sfumato.errors import HierarchyError
from sfumato.hierarchies.build import build
from sfumato.hierarchies.cell_leaves import cover_matrix
from sfumato.hierarchies.declared_domain import Declared, declared_axis
from sfumato.publish.base import Material
from sfumato.publish.generalize import Generalize
from sfumato.publish.microaggregate import Microaggregate
from sfumato.publish.suppress import Suppress
from tests.unit.publish.exact_cells import between, contains, number_of

FARTHEST = 1e300
"""Numbers beyond this are refused."""
BIG = (2**53, 10**15, 10**17, 2**62, 1_609_459_259_999, 0)
SECOND = 10**9

integers = st.one_of(
    st.integers(-9, 9),
    st.builds(lambda big, near: big + near, st.sampled_from(BIG), st.integers(-9, 9)),
    st.builds(lambda big, near: near - big, st.sampled_from(BIG), st.integers(-9, 9)),
).filter(lambda number: abs(number) < 10**18)
decimals = st.one_of(
    integers.map(str),
    st.decimals(-1000, 1000, places=2).map(str),
    st.decimals(-2, 2, places=24).map(str),
    st.builds("{}e{}".format, st.integers(-99, 99), st.integers(-30, 30)),
    st.builds("{}e{}".format, st.integers(-9, 9), st.sampled_from([-999, -320, 299])),
    st.sampled_from(
        ["0.1", "0.3", "0.30000000000000000001", "99999999999999999999999"]
    ),
    st.floats(-FARTHEST, FARTHEST).map(repr),
)
dates = st.integers(1, 3_652_059).map(date.fromordinal)
dates |= st.builds(lambda days: date(2020, 2, 1) + timedelta(days), st.integers(0, 60))


@st.composite
def moments(draw):
    """A point in time as text, down to any part of a second."""
    day = draw(dates)
    clock = draw(st.sampled_from(["00:00:00", "12:00:00", "23:59:59"]))
    part = draw(
        st.one_of(st.just(""), st.from_regex(r"\.(0|9|[0-9]){1,12}", fullmatch=True))
    )
    return f"{day} {clock}{part}"


VALUES = {
    "integer": integers.map(str),
    "decimal": decimals,
    "date": dates.map(str),
    "datetime": moments(),
}
INTERVALS: dict[str, list[list[float]]] = {
    "integer": [[2], [5, 10], [7 * 10**6], [10**16, 10**17]],
    "decimal": [[0.1], [0.5, 1], [1000], [1e23]],
    "date": [[7], [30, 360]],
    "datetime": [[0.5], [3600, 86400]],
}


@st.composite
def hierarchies(draw, kind):
    """Every way to generalize a line of numbers."""
    options: list[Any] = ["free", "auto", {"quantiles": [4, 2]}, {"quantiles": [2]}]
    options += [{"intervals": widths} for widths in INTERVALS[kind]]
    if kind in ("date", "datetime"):
        options += [{"calendar": ["day", "month", "year"]}, {"calendar": ["quarter"]}]
        options += [{"calendar": ["decade"]}]
    spec = draw(st.sampled_from(options))
    if isinstance(spec, dict) and "intervals" in spec:
        spec = dict(spec)
        for end in draw(st.sets(st.sampled_from(["bottom", "top", "origin"]))):
            text = draw(VALUES[kind])
            spec[end] = int(text) if kind == "integer" else text
    return spec


@st.composite
def cases(draw, kind):
    """Values of a kind, a hierarchy, and a grouping with or without given levels."""
    values = draw(st.lists(VALUES[kind], min_size=1, max_size=12))
    rows = len(values)
    groups = draw(st.lists(st.integers(0, 2), min_size=rows, max_size=rows))
    missing = draw(st.lists(st.booleans(), min_size=rows, max_size=rows))
    some = draw(st.booleans())
    cells = [
        None if some and gone else v for v, gone in zip(values, missing, strict=True)
    ]
    return cells, draw(hierarchies(kind)), groups, draw(st.integers(0, 3))


def published(operator, cells, kind, spec, groups, level=0):
    """What an operator makes of one column; level 0 is the operator's own choice."""
    source = pa.table({"x": pa.chunked_array([pa.array(cells, pa.string())])})
    column = code_column("x", source["x"], kind=Kind(kind))
    try:
        coded = build(column, spec)
    except HierarchyError:
        assume(False)
    grouping = Grouping.renumbered(np.array(groups))
    if level:
        height = min(level, coded.axis.height - 1)
        levels = np.full((grouping.count, 1), height, dtype=np.int16)
        # A level covers its group only where all rows share its node.
        nodes = coded.axis.levels[height, coded.codes]
        grouping = Grouping.renumbered(nodes)
        levels = np.full((grouping.count, 1), height, dtype=np.int16)
        grouping = Grouping(grouping.group_of, grouping.count, levels=levels)
    schema = Schema((Attribute(name="x", role=Role.QUASI, kind=Kind(kind)),))
    table = Table(schema, source, {"x": column})
    rows = np.flatnonzero(grouping.kept)
    material = Material(
        table=table,
        quasi=(coded,),
        grouping=grouping,
        rows=rows,
        seed=Seed.guessable(1),
    )
    return operator.publish(material).table, grouping


def texts(table, name):
    return as_text(table[name]).to_pylist()


KINDS = ("integer", "decimal", "date", "datetime")
MANY = settings(max_examples=100)


@pytest.mark.parametrize(
    "operator", [Generalize(), Suppress()], ids=["generalize", "suppress"]
)
@pytest.mark.parametrize("kind", KINDS)
def test_every_cell_contains_its_value(kind, operator):
    @MANY
    @given(cases(kind))
    def holds(case):
        cells, spec, groups, level = case
        table, _ = published(operator, cells, kind, spec, groups, level)
        for shown, value in zip(texts(table, "x"), cells, strict=True):
            assert contains(shown, value, kind)

    holds()


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_enclose_their_value(kind):
    @MANY
    @given(cases(kind))
    def holds(case):
        cells, spec, groups, level = case
        operator = Generalize(numbers="bounds")
        table, _ = published(operator, cells, kind, spec, groups, level)
        lows, highs = texts(table, "x_from"), texts(table, "x_to")
        for low, high, value in zip(lows, highs, cells, strict=True):
            assert value is None or between(low, high, value, kind)

    holds()


@pytest.mark.parametrize("operator", [Generalize, Microaggregate])
@pytest.mark.parametrize("kind", KINDS)
def test_a_mean_is_the_groups_to_fifteen_digits_and_never_leaves_it(kind, operator):
    @MANY
    @given(cases(kind))
    def holds(case):
        cells, _, groups, _ = case
        table, grouping = published(
            operator(numbers="mean"), cells, kind, "free", groups
        )
        for group in range(grouping.count):
            rows = np.flatnonzero(grouping.group_of == group)
            numbers = [number_of(cells[r], kind) for r in rows if cells[r] is not None]
            shown = {texts(table, "x")[row] for row in rows}
            assert len(shown) == 1
            if not numbers:
                assert shown == {None}
                continue
            mean, cell = (
                sum(numbers) / len(numbers),
                number_of(shown.pop(), _mean_kind(kind)),
            )
            assert min(numbers) <= cell <= max(numbers)
            assert abs(cell - mean) <= _tolerance(kind, mean)

    holds()


def _mean_kind(kind):
    return "decimal" if kind == "integer" else kind


def _tolerance(kind, mean):
    if kind == "date":
        return Fraction(1, 2)
    return Fraction(1, 10**6) if kind == "datetime" else abs(mean) / 10**14


@pytest.mark.parametrize("kind", KINDS)
def test_a_median_and_a_mode_are_values_of_the_group(kind):
    @MANY
    @given(cases(kind))
    def holds(case):
        cells, spec, groups, _ = case
        for choice in ("median", "mode"):
            operator = Microaggregate(numbers=choice)
            table, grouping = published(operator, cells, kind, spec, groups)
            for group in range(grouping.count):
                rows = np.flatnonzero(grouping.group_of == group)
                known = [
                    number_of(cells[r], kind) for r in rows if cells[r] is not None
                ]
                shown = {texts(table, "x")[row] for row in rows}
                assert len(shown) == 1
                (cell,) = shown
                assert (cell is None) == (not known)
                if not known:
                    continue
                number = number_of(cell, kind)
                if choice == "median":
                    assert number == sorted(known)[(len(known) - 1) // 2]
                else:
                    assert Counter(known)[number] == max(Counter(known).values())

    holds()


@pytest.mark.parametrize("kind", KINDS)
def test_a_published_cell_covers_exactly_the_values_it_contains(kind):
    @MANY
    @given(cases(kind))
    def holds(case):
        cells, spec, groups, level = case
        assume(any(cell is not None for cell in cells))
        known = [cell for cell in cells if cell is not None]
        groups = groups[: len(known)]
        table, _ = published(Generalize(), known, kind, spec, groups, level)
        column = code_column("x", pa.chunked_array([pa.array(known)]), kind=Kind(kind))
        calendar = isinstance(spec, dict) and "calendar" in spec
        axis = build(column, spec if calendar else "free").axis
        shown = texts(table, "x")
        matrix = cover_matrix(axis, shown)
        for row, cell in enumerate(shown):
            for leaf, label in enumerate(axis.labels):
                assert matrix[row, leaf] == contains(cell, label, kind)

    holds()


@MANY
@given(
    st.lists(decimals, min_size=1, max_size=8),
    st.sampled_from(["0", "0.3", "-1e-999"]),
    st.sampled_from(["0.30000000000000000001", "10", "99999999999999999999999"]),
    st.sampled_from([0.1, 3, 1e23]),
)
def test_declared_intervals_hold_what_is_put_into_them(cells, bottom, top, width):
    assume(Fraction(bottom) < Fraction(top))
    assume((Fraction(top) - Fraction(bottom)) / Fraction(str(width)) < 1000)
    spec = {"intervals": [width], "bottom": bottom, "top": top}
    declared = Declared(name="x", hierarchy=spec, kind=Kind.DECIMAL)
    coded = declared_axis(declared, pa.chunked_array([pa.array(cells)]))
    for code, value in zip(coded.codes, cells, strict=True):
        assert contains(coded.axis.labels[code], value, "decimal")


def test_a_declared_domain_does_not_take_one_number_for_another():
    cells = pa.chunked_array([pa.array(["9007199254740993", "9007199254740992"])])
    domain = ["9007199254740992", "9007199254740993"]
    declared = Declared(
        name="x", hierarchy={"tree": {"all": domain}}, domain=domain, kind=Kind.INTEGER
    )
    coded = declared_axis(declared, cells)
    assert [coded.axis.labels[code] for code in coded.codes] == [domain[1], domain[0]]


typed = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=4, max_size=8).map(
        lambda v: ("integer", pa.array(v, pa.int64()))
    ),
    st.lists(st.integers(2**64 - 9, 2**64 - 1), min_size=4, max_size=8).map(
        lambda v: ("integer", pa.array(v, pa.uint64()))
    ),
    st.lists(st.floats(-FARTHEST, FARTHEST), min_size=4, max_size=8).map(
        lambda v: ("decimal", pa.array(v, pa.float64()))
    ),
    st.lists(st.decimals(-9, 9, places=20), min_size=4, max_size=8).map(
        lambda v: ("decimal", pa.array(v, pa.decimal128(30, 20)))
    ),
    st.lists(st.integers(-5, 5), min_size=4, max_size=8).map(
        lambda v: ("datetime", pa.array([SECOND + n for n in v], pa.timestamp("ns")))
    ),
    st.lists(st.integers(-(2**62), 2**62), min_size=4, max_size=8).map(
        lambda v: ("datetime", pa.array(v, pa.timestamp("ns")))
    ),
)


@settings(max_examples=30)
@given(typed, st.sampled_from(["interval", "bounds"]), st.sampled_from([None, "auto"]))
def test_a_release_of_typed_numbers_contains_every_one_of_them(case, numbers, spec):
    kind, values = case
    table = pa.table({"x": values, "row": pa.array(range(len(values)))})
    settings = {"quasi": ["x"], "k": 2, "numbers": numbers, "max_loss": 1}
    settings |= {"insensitive": "row", "keep_as_is": "row"}
    settings |= {"algorithm": "mondrian", "hierarchies": {"x": spec}} if spec else {}
    release = sf.anonymize(table, seed=Seed.guessable(1), **settings).table
    came = as_text(pa.chunked_array([values])).to_pylist()
    names = ["x"] if numbers == "interval" else ["x_from", "x_to"]
    columns = [as_text(release[name]).to_pylist() for name in names]
    for row, *shown in zip(release["row"].to_pylist(), *columns, strict=True):
        if numbers == "interval":
            assert contains(shown[0], came[row], kind)
        else:
            assert between(shown[0], shown[1], came[row], kind)
