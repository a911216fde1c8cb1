"""Anatomize: quasi-identifiers and sensitive values in two tables, joined by group."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from textwrap import wrap
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.data.cell_text import distinct
from sfumato.data.schema import Role
from sfumato.publish.base import (
    Draft,
    Form,
    Material,
    Operator,
    exact_column,
    refuse_without_sensitive,
)

GROUP = "group"
COUNT = "count"
README = """\
How to read this release
========================

The file `data` has one line per row of the source: the columns that are published
exactly, and the number of the row's group in the column `group`. The file
`sensitive` says which sensitive values occur in each group, and in `count` how often.
Group numbers and the order of the lines of `sensitive` were drawn at random and mean
nothing.

To estimate how often a value goes with a property, join the two on `group` and weigh
each pair by the value's share of its group:

    SELECT s.<value>, SUM(1.0 * s.count / g.rows)
    FROM data AS d
    JOIN sensitive AS s ON s."group" = d."group"
    JOIN (SELECT "group", SUM(count) AS rows FROM sensitive GROUP BY "group") AS g
      ON g."group" = d."group"
    WHERE <a condition on d>
    GROUP BY s.<value>

"""


@dataclass(frozen=True, kw_only=True)
class Anatomize(Operator):
    """Quasi-identifiers with a group number here, sensitive counts per group there.

    Guarantee: of a person's sensitive values a recipient learns only the histogram of
    the person's group. Quasi-identifiers are published exactly.
    Limits: membership is not hidden; k-anonymity does not apply.
    Reference: Xiao and Tao 2006; Boger 2020, section 2.
    """

    name: ClassVar[str] = "anatomize"
    sentence: ClassVar[str] = (
        "Two tables: exact quasi-identifiers with a group number, and the sensitive "
        "values of each group with their counts."
    )
    form: ClassVar[Form] = Form.ANATOMIZED

    def own_names(
        self, roles: Mapping[str, Role], numeric: Callable[[str], bool]
    ) -> list[str]:
        counted = roles.get(COUNT) is Role.SENSITIVE
        return [GROUP] * (GROUP in roles) + [COUNT] * counted

    def publish(self, material: Material) -> Draft:
        refuse_without_sensitive(self.name, material.table.schema.sensitive)
        names = _random_numbers(material)
        shape = (material.grouping.count, len(material.quasi))
        return Draft(
            table=_people(material, names),
            rows=material.rows,
            quasi=material.table.schema.quasi,
            ncp=np.zeros(shape),
            loss=np.zeros(shape),
            beside={"sensitive": _values(material, names)},
            notes={"README.txt": README + _wrapped(self.form.promise)},
        )


def _wrapped(text: str) -> str:
    return "\n".join(wrap(f"What is promised: {text}", width=80)) + "\n"


def _random_numbers(material: Material) -> npt.NDArray[np.int64]:
    """Number groups at random, so that numbers say nothing about the search."""
    return material.seed.child("groups").permutation(material.grouping.count)


def _people(material: Material, names: npt.NDArray[np.int64]) -> pa.Table:
    columns: dict[str, pa.Array | pa.ChunkedArray] = {}
    for attribute in material.table.schema:
        if attribute.role is not Role.SENSITIVE:
            columns |= exact_column(material, attribute, material.rows)
    columns[GROUP] = pa.array(names[material.groups])
    return pa.table(columns)


def _values(material: Material, names: npt.NDArray[np.int64]) -> pa.Table:
    sensitive = material.table.schema.sensitive
    table = material.table.source.select(list(sensitive)).take(material.rows)
    plain = pa.table({n: _decoded(table.column(n)) for n in sensitive})
    groups = pa.array(names[material.groups])
    counted = plain.add_column(0, GROUP, groups).group_by([GROUP, *sensitive])
    result = counted.aggregate([([], "count_all")])
    order = material.seed.child("values").permutation(result.num_rows)
    named = result.rename_columns([GROUP, *sensitive, COUNT]).take(order)
    categories = [name for name in sensitive if name not in material.plain_texts]
    return _as_they_came(named, table.select(categories))


def _as_they_came(values: pa.Table, source: pa.Table) -> pa.Table:
    """Restore categories, in their order if they have one."""
    for field in source.schema:
        if pa.types.is_dictionary(field.type):
            known, _ = distinct(source.column(field.name), name=field.name)
            column = values.column(field.name).combine_chunks()
            places = pc.index_in(column, value_set=known)
            cells = pa.DictionaryArray.from_arrays(
                places, known, ordered=field.type.ordered
            )
            place = values.column_names.index(field.name)
            values = values.set_column(place, field.name, cells)
    return values


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    return column
