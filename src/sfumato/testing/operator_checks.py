"""What every publication operator must meet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.grouping import Grouping
from sfumato.data.schema import Attribute, Kind, Role, Schema
from sfumato.data.seeds import Seed
from sfumato.data.table import Table
from sfumato.errors import PolicyError, RefusedError
from sfumato.hierarchies.axis import STAR, Axis, Shape
from sfumato.publish.base import Draft, Form, Material, Operator
from sfumato.testing.awkward_tables import Awkward, awkward_tables, request_for
from sfumato.testing.cell_reference import (
    QuasiDomain,
    cell_loss,
    cell_ncp,
    covers,
    k_of,
)
from sfumato.testing.conformance_check import (
    CALM,
    Check,
    must,
    must_be_named,
    must_try_every_option,
    variants,
)
from sfumato.testing.strategies import groupings, tables

OperatorCase = tuple[Awkward, Material]
Options = Mapping[str, Any]


def check_operator(
    operator_class: type[Operator], *, options: Mapping[str, Options] | None = None
) -> list[Check]:
    """Every check of an operator; `options` as for `check_algorithm`."""
    named = variants(operator_class) if options is None else options
    checks = [
        Check(
            "has a name and a sentence",
            partial(must_be_named, operator_class, operator_class.sentence),
        ),
        Check(
            "every option is tried",
            partial(must_try_every_option, operator_class, named),
        ),
    ]
    statements = {**_EVERY_FORM, **_STATEMENTS[operator_class.form]}
    for name, chosen in named.items():
        operator = operator_class(**chosen)
        checks += [
            Check(statement, partial(_ask, operator, judge), name)
            for statement, judge in statements.items()
        ]
    return checks


Judge = Callable[[Awkward, Material, Draft], None]


def _ask(operator: Operator, judge: Judge) -> None:
    """Judge what an operator makes of every awkward table and of drawn ones."""
    for table in awkward_tables():
        for material in _materials(table):
            _judge(operator, judge, table, material)

    @CALM
    @given(drawn_cases())
    def judged(case: OperatorCase) -> None:
        _judge(operator, judge, *case)

    judged()


def _judge(
    operator: Operator, judge: Judge, table: Awkward, material: Material
) -> None:
    try:
        draft = operator.publish(material)
    except (PolicyError, RefusedError) as error:
        must(error.hint, "a refusal has no hint")
        must(_may_refuse(operator, table), f"'{table}' was refused")
    else:
        judge(table, material, draft)


def _may_refuse(operator: Operator, table: Awkward) -> bool:
    """Only what permutes or counts sensitive values may ask for some."""
    return operator.form is not Form.CELLS and not table.names(Role.SENSITIVE)


def _materials(table: Awkward) -> Iterator[Material]:
    """The table as one group, in neighbors of five rows, and with a row left out."""
    for width in (table.rows, 5):
        yield material_for(table, np.arange(table.rows) // width)
    if table.rows > 1:
        labels = np.arange(table.rows) % max(table.rows // 4, 1)
        labels[0] = -1
        yield material_for(table, labels)


@st.composite
def drawn_cases(draw: st.DrawFn) -> OperatorCase:
    """A drawn table and something to publish of it."""
    table = draw(tables())
    grouping = draw(groupings(table.rows))
    return table, material_for(table, grouping.group_of)


def material_for(table: Awkward, labels: npt.NDArray[np.integer[Any]]) -> Material:
    """What an operator works on, with rows in an order that is not the source's."""
    grouping = Grouping.renumbered(labels)
    kept = np.flatnonzero(grouping.kept)
    seed = Seed.guessable(3)
    return Material(
        table=_typed(table),
        quasi=request_for(table, ()).quasi,
        grouping=grouping,
        rows=kept[seed.child("order").permutation(len(kept))],
        seed=seed,
    )


def _typed(table: Awkward) -> Table:
    attributes = tuple(
        Attribute(name=name, role=table.roles[name], kind=table.kinds[name])
        for name in table.source.column_names
    )
    return Table(Schema(attributes), table.source, table.columns())


# What must hold for every draft.


def _rows_are_those_asked_for(
    _table: Awkward, material: Material, draft: Draft
) -> None:
    must(draft.table.num_rows == len(material.rows), "rows were lost or added")
    must(np.array_equal(draft.rows, material.rows), "the rows are in another order")


def _nothing_is_added(table: Awkward, material: Material, draft: Draft) -> None:
    """No column beside the quasi-identifiers' and those of the source."""
    hidden = {*table.names(Role.SUBJECT), *table.names(Role.IDENTIFIER)}
    groups = {"group"} if _has_group_numbers(material, draft) else set()
    allowed = {*draft.quasi, *table.source.column_names, *groups} - hidden
    names = draft.table.column_names
    must(set(names) <= allowed, f"columns {set(names) - allowed} are not of the source")
    must(len(set(names)) == len(names), "two columns have one name")


def _has_group_numbers(material: Material, draft: Draft) -> bool:
    """Whether there is a second table, joined by a number that names the group."""
    if not draft.beside or "group" not in draft.table.column_names:
        return False
    numbers = draft.table.column("group").to_pylist()
    groups = material.grouping.group_of[material.rows].tolist()
    pairs = set(zip(numbers, groups, strict=True))
    return len(pairs) == len(set(numbers)) == len(set(groups))


def _losses_are_shares(_table: Awkward, material: Material, draft: Draft) -> None:
    shape = (material.grouping.count, len(material.quasi))
    for losses in (draft.ncp, draft.loss):
        must(losses.shape == shape, "losses have a wrong shape")
        must(((losses >= 0) & (losses <= 1 + 1e-12)).all(), "a loss is outside 0 … 1")


def _sensitive_leave_as_they_came(
    table: Awkward, material: Material, draft: Draft
) -> None:
    _must_be_exact(table, Role.SENSITIVE, material, draft)


def _quasi_leave_as_they_came(table: Awkward, material: Material, draft: Draft) -> None:
    _must_be_exact(table, Role.QUASI, material, draft)


def _must_be_exact(
    table: Awkward, role: Role, material: Material, draft: Draft
) -> None:
    for name in table.names(role):
        source = table.source.column(name).take(pa.array(material.rows))
        published = draft.table.column(name)
        must(published.type == source.type, f"'{name}' has another type")
        must(published.to_pylist() == source.to_pylist(), f"'{name}' has other cells")


# Where rows of a group share their published cells.


def _groups_share_a_tuple(_table: Awkward, material: Material, draft: Draft) -> None:
    rows = published_rows(draft)
    groups = material.grouping.group_of[material.rows].tolist()
    shown = set(zip(groups, rows, strict=True))
    must(len(shown) == len(set(groups)), "a group shows two tuples")
    if rows:
        must(
            k_of(rows) >= int(material.grouping.sizes().min()),
            "a published group is smaller than its rows",
        )


def published_rows(draft: Draft) -> list[tuple[str, ...]]:
    """The published quasi-identifiers as texts; a missing cell is empty."""
    columns = [texts(draft.table.column(name)) for name in draft.quasi]
    return list(zip(*columns, strict=True))


def texts(column: pa.ChunkedArray) -> list[str]:
    """Cells as the texts that a CSV file would show."""
    plain = column.cast(pa.string()) if column.type != pa.string() else column
    return ["" if cell is None else cell for cell in plain.to_pylist()]


def _cells_contain_the_source(
    _table: Awkward, material: Material, draft: Draft
) -> None:
    for coded in material.quasi:
        domain = domain_of(coded.axis)
        source = [coded.axis.labels[code] for code in coded.codes[material.rows]]
        pairs = set(zip(_cells(coded.name, draft), source, strict=True))
        outside = sum(not covers(cell, value, domain) for cell, value in pairs)
        must(not outside, f"{outside} cells of '{coded.name}' do not cover their value")


def _cells(name: str, draft: Draft) -> list[str]:
    """The cells of a quasi-identifier; two columns of bounds read as one interval."""
    if name in draft.quasi:
        return texts(draft.table.column(name))
    ends = (texts(draft.table.column(f"{name}_{end}")) for end in ("from", "to"))
    return [_interval(low, high) for low, high in zip(*ends, strict=True)]


def _interval(low: str, high: str) -> str:
    if not low and not high:
        return STAR
    if low == high:
        return low
    if low and high:
        return f"[{low}, {high}]"
    return f">= {low}" if low else f"<= {high}"


def domain_of(axis: Axis) -> QuasiDomain:
    """What an axis may show, as plain texts."""
    paths = {
        label: [axis.node_labels[node] for node in axis.levels[:, code]]
        for code, label in enumerate(axis.labels)
    }
    return QuasiDomain(
        values=frozenset(axis.labels),
        paths=paths if axis.shape is Shape.TREE else None,
        numeric=axis.kind.numeric,
        missing=axis.labels[axis.missing] if axis.missing >= 0 else None,
        steps=axis.kind in (Kind.INTEGER, Kind.DATE),
    )


def _losses_follow_their_definition(
    _table: Awkward, material: Material, draft: Draft
) -> None:
    """Price every published cell again, from its text."""
    groups = material.grouping.group_of[material.rows]
    for index, coded in enumerate(material.quasi):
        domain = domain_of(coded.axis)
        for group, cell in set(
            zip(groups.tolist(), _cells(coded.name, draft), strict=True)
        ):
            ncp, loss = cell_ncp(cell, domain), cell_loss(cell, domain)
            _must_be_close(draft.ncp[group, index], ncp, coded.name, "NCP")
            _must_be_close(draft.loss[group, index], loss, coded.name, "loss")


def _must_be_close(told: float, defined: float, column: str, what: str) -> None:
    must(
        abs(told - defined) <= 1e-9,
        f"a cell of '{column}' has {what} {told}; by definition {defined}",
    )


# Where groups are kept apart from the cells.


def _values_stay_in_their_group(
    table: Awkward, material: Material, draft: Draft
) -> None:
    groups = material.grouping.group_of[material.rows].tolist()
    for name in table.names(Role.SENSITIVE):
        source = table.source.column(name).take(pa.array(material.rows))
        published = draft.table.column(name)
        must(published.type == source.type, f"'{name}' has another type")
        before = Counter(zip(groups, source.to_pylist(), strict=True))
        after = Counter(zip(groups, published.to_pylist(), strict=True))
        must(after == before, f"a value of '{name}' has left its group")


def _values_are_counted_apart(table: Awkward, material: Material, draft: Draft) -> None:
    names = list(table.names(Role.SENSITIVE))
    shown = [name for name in names if name in draft.table.column_names]
    must(not shown, "a sensitive column stands beside the rows")
    must(_has_group_numbers(material, draft), "a number does not name one group")
    source = table.source.select(names).take(pa.array(material.rows))
    rows = zip(
        draft.table.column("group").to_pylist(),
        *(source.column(name).to_pylist() for name in names),
        strict=True,
    )
    (beside,) = draft.beside.values()
    told: Counter[tuple[Any, ...]] = Counter()
    for line in beside.to_pylist():
        told[(line["group"], *(line[name] for name in names))] += line["count"]
    must(told == Counter(rows), "the counts are not those of the groups")


_EVERY_FORM: Mapping[str, Judge] = MappingProxyType(
    {
        "the rows are those asked for, in that order": _rows_are_those_asked_for,
        "no column is added": _nothing_is_added,
        "losses are shares": _losses_are_shares,
    }
)

_STATEMENTS: Mapping[Form, Mapping[str, Judge]] = MappingProxyType(
    {
        Form.CELLS: {
            "other columns leave as they came": _sensitive_leave_as_they_came,
            "all rows of a group show one tuple": _groups_share_a_tuple,
            "a cell contains the source value": _cells_contain_the_source,
            "losses agree with their definition": _losses_follow_their_definition,
        },
        Form.SWAPPED: {
            "quasi-identifiers leave as they came": _quasi_leave_as_they_came,
            "sensitive values stay in their group": _values_stay_in_their_group,
        },
        Form.ANATOMIZED: {
            "quasi-identifiers leave as they came": _quasi_leave_as_they_came,
            "sensitive values are counted per group": _values_are_counted_apart,
        },
    }
)
