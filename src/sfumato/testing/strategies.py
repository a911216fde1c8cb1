"""Hypothesis strategies: small tables, groupings, axes and models.

Small is deliberate: with a dozen rows and few values, ties, empty groups and missing
cells meet in nearly every example.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from hypothesis import strategies as st

from sfumato import registry
from sfumato.data.grouping import SUPPRESSED, Grouping
from sfumato.data.schema import Kind, Role
from sfumato.errors import UsageError
from sfumato.hierarchies.axis import STAR, Axis, Shape
from sfumato.models.base import Model
from sfumato.testing.awkward_tables import Awkward

Parameters = st.SearchStrategy[dict[str, Any]]
"""Keyword arguments of a model."""

_CELLS: Mapping[Kind, st.SearchStrategy[Any]] = MappingProxyType(
    {
        Kind.INTEGER: st.integers(-3, 9),
        Kind.DECIMAL: st.integers(-8, 8).map(lambda eighths: eighths / 8),
        Kind.CATEGORY: st.sampled_from(["a", "b", "c", "é", "東"]),
        Kind.CODE: st.sampled_from(["0010", "0012", "0100", "1000"]),
        Kind.DATE: st.integers(-400, 400).map(
            lambda days: date(1970, 1, 1) + timedelta(days=days)
        ),
    }
)


@st.composite
def tables(
    draw: st.DrawFn,
    *,
    max_rows: int = 12,
    max_columns: int = 3,
    missing: bool = True,
    subjects: bool | None = None,
    sensitive: int | None = None,
) -> Awkward:
    """Tables of up to `max_rows` rows and `max_columns` quasi-identifiers.

    `subjects` None leaves it open whether there is a subject column, and `sensitive`
    None whether there are no, one or two sensitive columns.
    """
    rows = draw(st.integers(1, max_rows))
    kinds = {
        f"q{j}": draw(st.sampled_from(list(_CELLS)))
        for j in range(draw(st.integers(1, max_columns)))
    }
    roles = dict.fromkeys(kinds, Role.QUASI)
    for j in range(draw(st.integers(0, 2)) if sensitive is None else sensitive):
        kinds[f"s{j}"] = draw(st.sampled_from([Kind.CATEGORY, Kind.INTEGER]))
        roles[f"s{j}"] = Role.SENSITIVE
    cells = {name: draw(_column(kind, rows, missing)) for name, kind in kinds.items()}
    if draw(st.booleans()) if subjects is None else subjects:
        cells["person"] = pa.array(draw(_some(st.sampled_from("pqrstu"), rows)))
        kinds["person"], roles["person"] = Kind.CATEGORY, Role.SUBJECT
    return Awkward("drawn", pa.table(cells), roles, kinds)


def _column(kind: Kind, rows: int, missing: bool) -> st.SearchStrategy[pa.Array]:
    cell = st.none() | _CELLS[kind] if missing else _CELLS[kind]
    return _some(cell, rows).map(lambda cells: pa.array(cells, type=_ARROW[kind]))


def _some(cell: st.SearchStrategy[Any], rows: int) -> st.SearchStrategy[list[Any]]:
    return st.lists(cell, min_size=rows, max_size=rows)


@st.composite
def groupings(
    draw: st.DrawFn, rows: int, *, max_groups: int = 4, suppression: bool = True
) -> Grouping:
    """Groupings of `rows` rows; with `suppression` some rows may be left out."""
    lowest = SUPPRESSED if suppression else 0
    labels = draw(_some(st.integers(lowest, max_groups - 1), rows))
    return Grouping.renumbered(np.array(labels, dtype=np.int32))


def axes(
    *, shape: Shape | None = None, max_leaves: int = 8, missing: bool = True
) -> st.SearchStrategy[Axis]:
    """Axes of one shape, or of any: tree, free, flat."""
    by_shape = {
        Shape.TREE: trees(max_leaves=max_leaves),
        Shape.FREE: lines(max_leaves=max_leaves, missing=missing),
        Shape.FLAT: bags(max_leaves=max_leaves),
    }
    return st.one_of(*by_shape.values()) if shape is None else by_shape[shape]


@st.composite
def trees(draw: st.DrawFn, *, max_leaves: int = 8) -> Axis:
    """Axes under a random hierarchy of up to four levels between leaves and root."""
    size = draw(st.integers(1, max_leaves))
    levels = [np.arange(size)]
    while len(levels) < 4 and draw(st.booleans()):
        levels.append(_coarser(levels[-1], draw(_some(st.booleans(), size))))
    return _tree_axis([*levels, np.zeros(size, dtype=np.int64)])


def _coarser(level: npt.NDArray[np.int64], joined: list[bool]) -> npt.NDArray[np.int64]:
    """A level whose runs join neighboring runs of `level` where `joined` says so."""
    starts = np.diff(level, prepend=-1) != 0
    keep = starts & ~np.array(joined)
    keep[0] = True
    runs: npt.NDArray[np.int64] = np.cumsum(keep) - 1
    return runs


def _tree_axis(runs: list[npt.NDArray[np.int64]]) -> Axis:
    """Number the nodes of nested runs level by level and price them by leaves."""
    size = len(runs[0])
    first = np.cumsum([0, *(int(run[-1]) + 1 for run in runs)])
    levels = np.stack([run + at for run, at in zip(runs, first, strict=False)])
    under = np.concatenate([np.bincount(run) for run in runs])
    root = len(under) - 1
    ncp = np.where(under > 1, under / size, 0.0)
    ncp[root] = 1.0
    loss = (under - 1) / max(size - 1, 1)
    loss[root] = 1.0
    labels = tuple(f"leaf {code}" for code in range(size))
    inner = tuple(f"node {node}" for node in range(size, root))
    return Axis(
        name="tree",
        kind=Kind.CATEGORY,
        shape=Shape.TREE,
        labels=labels,
        levels=levels.astype(np.int32),
        node_labels=(*labels, *inner, STAR),
        node_ncp=ncp,
        node_loss=loss,
    )


@st.composite
def lines(draw: st.DrawFn, *, max_leaves: int = 8, missing: bool = True) -> Axis:
    """Free axes: numbers, and perhaps a missing leaf at the end."""
    found = draw(st.sets(st.integers(-20, 20), min_size=1, max_size=max_leaves))
    numbers = [float(number) for number in sorted(found)]
    gap = missing and draw(st.booleans())
    labels = (*(str(int(number)) for number in numbers), *([""] if gap else []))
    positions = np.array([*numbers, *([np.nan] if gap else [])])
    return _two_levels(
        Shape.FREE, Kind.INTEGER, labels, positions, len(numbers) if gap else -1
    )


@st.composite
def bags(draw: st.DrawFn, *, max_leaves: int = 8) -> Axis:
    """Flat axes: categories without an order."""
    size = draw(st.integers(1, max_leaves))
    labels = tuple(f"value {code}" for code in range(size))
    return _two_levels(Shape.FLAT, Kind.CATEGORY, labels, None, -1)


def _two_levels(
    shape: Shape,
    kind: Kind,
    labels: tuple[str, ...],
    positions: npt.NDArray[np.float64] | None,
    missing: int,
) -> Axis:
    size = len(labels)
    levels = np.stack([np.arange(size), np.full(size, size)]).astype(np.int32)
    cost = np.append(np.zeros(size), 1.0)
    return Axis(
        name=shape.name.lower(),
        kind=kind,
        shape=shape,
        labels=labels,
        levels=levels,
        node_labels=(*labels, STAR),
        node_ncp=cost,
        node_loss=cost,
        positions=positions,
        missing=missing,
        fitted=True,
    )


def models(*names: str) -> st.SearchStrategy[Any]:
    """Models of the catalogue (all of them, or those named) with their examples."""
    chosen = names or tuple(registry.names("models"))
    return st.one_of(*(instances(registry.load("models", name)) for name in chosen))


def instances(
    model_class: type[Model], parameters: Parameters | None = None
) -> st.SearchStrategy[Any]:
    """Instances of one model, with the parameters given or those of its examples."""
    drawn = example_parameters(model_class) if parameters is None else parameters
    return drawn.map(lambda chosen: model_class(**chosen))


def example_parameters(model_class: type[Model]) -> Parameters:
    """Keyword arguments drawn from the examples of a model."""
    if not model_class.examples:
        raise UsageError(
            f"The model '{model_class.name}' has no examples to check.",
            hint="Give the class `examples`, or pass `parameters`, a strategy of "
            "keyword arguments.",
        )
    return st.one_of(
        *(
            st.fixed_dictionaries(
                {name: st.sampled_from(values) for name, values in each.items()}
            )
            for each in model_class.examples
        )
    )


_ARROW: Mapping[Kind, pa.DataType] = MappingProxyType(
    {
        Kind.INTEGER: pa.int64(),
        Kind.DECIMAL: pa.float64(),
        Kind.CATEGORY: pa.string(),
        Kind.CODE: pa.string(),
        Kind.DATE: pa.date32(),
    }
)
