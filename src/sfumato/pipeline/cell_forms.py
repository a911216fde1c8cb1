"""The forms that the cells of each published column have, for the data dictionary."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.data.arrays import Codes, Counts
from sfumato.data.schema import Role
from sfumato.hierarchies.axis import STAR, Axis
from sfumato.models.common.groups import total_times
from sfumato.pipeline.findings import Findings
from sfumato.publish.base import Form, Operator
from sfumato.publish.generalize import BOUNDS, Generalize
from sfumato.publish.microaggregate import Microaggregate


class CellForm(StrEnum):
    """How a published cell is to be read."""

    VALUE = "value"
    BAND = "band"
    INTERVAL = "interval"
    HALF_OPEN = "half-open"
    SET = "set"
    PREFIX = "prefix"
    LABEL = "label"
    STAR = "star"
    MISSING = "missing"
    TYPICAL = "typical"
    LOW = "low"
    HIGH = "high"
    PSEUDONYM = "pseudonym"
    GROUP = "group"
    SWAPPED = "swapped"
    APART = "apart"
    SYNTHETIC = "synthetic"


FORMS = tuple(CellForm)
MISSING = FORMS.index(CellForm.MISSING)


def cell_forms(found: Findings) -> dict[str, dict[str, Any]]:
    """By published column: its role, its kind, and the forms of its cells."""
    table = found.draft.table
    axes = {coded.name: coded.axis for coded in found.shown}
    described = {name: _column(found, table, name, axes) for name in table.column_names}
    for beside in found.draft.beside.values():
        for name in beside.column_names:
            described.setdefault(name, _whole(found, name, CellForm.APART))
    return described


def _column(
    found: Findings, table: pa.Table, name: str, axes: Mapping[str, Axis]
) -> dict[str, Any]:
    if found.synthetic:
        return _whole(found, name, CellForm.SYNTHETIC)
    if name in found.made:
        return _whole(found, name, _made(name))
    role = found.table.schema[name].role
    if role in (Role.IDENTIFIER, Role.SUBJECT):
        return _whole(found, name, CellForm.PSEUDONYM)
    form = found.run.operator.form
    if form is Form.SWAPPED and role is Role.SENSITIVE:
        return _whole(found, name, CellForm.SWAPPED)
    if found.run.policy.bands(name) is not None:
        return _whole(found, name, CellForm.BAND)
    if name not in axes or form is not Form.CELLS:
        return _whole(found, name, CellForm.VALUE)
    return _described(found, name) | {"forms": _forms(found, table, name, axes[name])}


def _made(name: str) -> CellForm:
    low, high = BOUNDS
    if name.endswith(low):
        return CellForm.LOW
    return CellForm.HIGH if name.endswith(high) else CellForm.GROUP


def _described(found: Findings, name: str) -> dict[str, Any]:
    schema = found.table.schema
    source = name if name in schema else _without_bound(name)
    coded = found.table.columns.get(source)
    return {
        "role": schema[source].role.value if source in schema else None,
        "kind": None if coded is None else coded.kind.value,
    }


def _without_bound(name: str) -> str:
    """The column of the source that a column of lower or upper bounds is made from."""
    ending = next((end for end in BOUNDS if name.endswith(end)), "")
    return name.removesuffix(ending)


def _whole(found: Findings, name: str, form: CellForm) -> dict[str, Any]:
    return _described(found, name) | {"forms": [{"form": form.value}]}


def _forms(
    found: Findings, table: pa.Table, name: str, axis: Axis
) -> list[dict[str, Any]]:
    """The forms of a quasi-identifier's cells, how many rows have each, an example."""
    column = table.column(name).combine_chunks()
    if not pa.types.is_dictionary(column.type):
        return [{"form": CellForm.VALUE.value, "rows": len(column)}]
    texts = column.dictionary.cast(pa.string())
    rows = _counted(found, column.indices, len(texts))
    forms = np.append(_form_of(texts, axis, found.run.operator), MISSING)
    counted = np.bincount(forms, rows, minlength=len(FORMS)).astype(np.int64)
    found_forms = []
    for form in np.argsort(-counted, kind="stable").tolist():
        if counted[form]:
            common = int(np.argmax(np.where(forms == form, rows, -1)))
            example = texts[common].as_py() if common < len(texts) else None
            rows_of = int(counted[form])
            told = {"form": FORMS[form].value, "rows": rows_of, "example": example}
            found_forms.append(told)
    return found_forms


def _counted(found: Findings, indices: pa.Array, values: int) -> Counts:
    """How many rows show each value of a dictionary, and how many show none.

    Of rows whose cells are all the same, one is looked at.
    """
    alike = found.shown_rows
    if alike is not None:
        indices = indices.take(pa.array(alike[0]))
    # Indices may be unsigned words of 64 bits, which NumPy does not count.
    places = indices.cast(pa.int64()).fill_null(values).to_numpy(zero_copy_only=False)
    return total_times(places, None if alike is None else alike[1], values + 1)


def _form_of(texts: pa.Array, axis: Axis, operator: Operator) -> Codes:
    """The number of each text's form; the first that applies."""
    mean = isinstance(operator, Generalize) and operator.numbers == "mean"
    typical = isinstance(operator, Microaggregate) or (mean and axis.kind.numeric)
    interval = pc.starts_with(texts, "[")
    tests = {
        CellForm.MISSING: pc.is_null(texts),
        CellForm.STAR: pc.equal(texts, STAR),
        CellForm.TYPICAL: pa.array(np.full(len(texts), typical)),
        CellForm.VALUE: pc.is_in(texts, value_set=pa.array(axis.labels, pa.string())),
        CellForm.HALF_OPEN: pc.and_(interval, pc.ends_with(texts, ")")),
        CellForm.INTERVAL: interval,
        CellForm.SET: pc.starts_with(texts, "{"),
        CellForm.PREFIX: pc.ends_with(texts, STAR),
    }
    flags = [
        each.fill_null(False).to_numpy(zero_copy_only=False) for each in tests.values()
    ]
    numbers = [FORMS.index(form) for form in tests]
    return np.select(flags, numbers, FORMS.index(CellForm.LABEL)).astype(np.int32)
