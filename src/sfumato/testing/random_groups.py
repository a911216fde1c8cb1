"""Small random tables of groups and sensitive values, for models and their rules."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sfumato.data.rules import View
from sfumato.data.schema import Kind
from sfumato.hierarchies.axis import Axis, CodedAxis, Shape
from sfumato.models.base import Groups, OutputModel
from sfumato.models.common.groups import build_groups
from sfumato.testing.model_oracles import OracleRows, SensitiveDomain

COLUMN = "illness"
OTHER = "income"


@dataclass(frozen=True, eq=False)
class Sample:
    """A random table: groups, two sensitive columns, perhaps persons."""

    group_of: npt.NDArray[np.int32]
    count: int
    sensitive: dict[str, CodedAxis]
    subject: npt.NDArray[np.int32] | None = None
    missing_any: bool = False

    def groups(self, *models: OutputModel, **more: object) -> Groups:
        """As the models see it."""
        views = [view for m in models for view in m.views(tuple(self.sensitive))]
        return build_groups(
            self.group_of,
            self.count,
            sensitive=self.sensitive,
            views=views,
            subject=self.subject,
            missing_any=self.missing_any,
            **more,  # type: ignore[arg-type]
        )

    def rows(self, *, others_known: bool = False) -> OracleRows:
        """As the oracles see it."""
        other = self.sensitive.get(OTHER)
        known = other.codes.tolist() if others_known and other else None
        return OracleRows(
            group=self.group_of.tolist(),
            value=self.sensitive[COLUMN].codes.tolist(),
            person=None if self.subject is None else self.subject.tolist(),
            others=known,
            missing_any=self.missing_any,
        )

    @property
    def domain(self) -> SensitiveDomain:
        """The column's values as the oracles see them: codes."""
        axis = self.sensitive[COLUMN].axis
        codes = range(axis.size)
        tree = axis.shape is Shape.TREE and axis.positions is None
        numbers: dict[Hashable, float] | None = None
        if axis.positions is not None:
            numbers = {c: float(axis.positions[c]) for c in codes if c != axis.missing}
        return SensitiveDomain(
            order=tuple(codes),
            paths={c: tuple(axis.levels[:, c].tolist()) for c in codes}
            if tree
            else None,
            numbers=numbers,
            missing=axis.missing if axis.missing >= 0 else None,
        )


def random_sample(
    generator: np.random.Generator,
    *,
    shape: str = "flat",
    values: int = 5,
    rows: int = 14,
    groups: int = 3,
    persons: bool = False,
    missing: bool = False,
    missing_any: bool = False,
    left_out: bool = False,
) -> Sample:
    """A table drawn at random; every group has a row."""
    group_of = generator.integers(0, groups, rows).astype(np.int32)
    group_of[:groups] = np.arange(groups)
    if left_out:
        group_of[groups:][generator.random(rows - groups) < 0.2] = -1
    axis = random_axis(generator, shape=shape, values=values, missing=missing)
    skewed = generator.dirichlet(np.full(axis.size, 0.8))
    codes = generator.choice(axis.size, rows, p=skewed).astype(np.int32)
    other = flat_axis(OTHER, 2)
    return Sample(
        group_of=group_of,
        count=groups,
        sensitive={
            COLUMN: CodedAxis(axis, codes),
            OTHER: CodedAxis(other, generator.integers(0, 2, rows).astype(np.int32)),
        },
        subject=generator.integers(0, rows // 2, rows).astype(np.int32)
        if persons
        else None,
        missing_any=missing_any,
    )


def random_axis(
    generator: np.random.Generator, *, shape: str, values: int, missing: bool
) -> Axis:
    """A flat, ordered, tree or line axis; the missing value, if any, comes last."""
    gap = values - 1 if missing else -1
    if shape == "tree":
        return random_tree(generator, values, missing=gap)
    if shape == "line":
        numbers = np.sort(generator.choice(50 + values, values, replace=False)).astype(
            float
        )
        if missing:
            numbers[gap] = np.nan
        return flat_axis(
            COLUMN,
            values,
            kind=Kind.INTEGER,
            shape=Shape.FREE,
            positions=numbers,
            missing=gap,
        )
    kind = Kind.ORDERED if shape == "ordered" else Kind.CATEGORY
    return flat_axis(COLUMN, values, kind=kind, missing=gap)


def flat_axis(
    name: str,
    values: int,
    *,
    kind: Kind = Kind.CATEGORY,
    shape: Shape = Shape.FLAT,
    positions: npt.NDArray[np.float64] | None = None,
    missing: int = -1,
) -> Axis:
    """An axis with two levels, raw and all."""
    leaves = np.arange(values, dtype=np.int32)
    labels = tuple(f"v{code}" for code in range(values))
    loss = np.append(np.zeros(values), 1.0)
    return Axis(
        name=name,
        kind=kind,
        shape=shape,
        labels=labels,
        levels=np.array([leaves, np.full(values, values, dtype=np.int32)]),
        node_labels=(*labels, "*"),
        node_ncp=loss,
        node_loss=loss,
        positions=positions,
        missing=missing,
    )


def random_tree(
    generator: np.random.Generator, values: int, *, missing: int = -1
) -> Axis:
    """A tree of four levels whose nodes are runs of leaves."""
    levels = [np.arange(values)]
    for _ in range(2):
        below = levels[-1]
        cuts = generator.random(int(below.max()) + 1) < 0.5
        levels.append(np.cumsum(cuts)[below] - int(cuts[0]))
    if missing >= 0:
        for level in levels[1:]:
            level[missing] = level[:missing].max(initial=-1) + 1
    return tree_axis(COLUMN, np.array([*levels, np.zeros(values, dtype=int)]), missing)


def tree_axis(
    name: str,
    ranks: npt.NDArray[np.int64],
    missing: int = -1,
    labels: tuple[str, ...] = (),
) -> Axis:
    """A tree axis from each leaf's rank at each level; nodes are numbered upward."""
    offset = 0
    levels = []
    for rank in ranks:
        levels.append(rank + offset)
        offset += int(rank.max()) + 1
    names = labels or tuple(f"v{code}" for code in range(ranks.shape[1]))
    upper = tuple(f"n{node}" for node in range(ranks.shape[1], offset))
    return Axis(
        name=name,
        kind=Kind.CATEGORY,
        shape=Shape.TREE,
        labels=names,
        levels=np.array(levels, dtype=np.int32),
        node_labels=(*names, *upper),
        node_ncp=np.zeros(offset),
        node_loss=np.zeros(offset),
        missing=missing,
    )


def view_of(model: OutputModel) -> View:
    """The first view that a model asks for on a sample."""
    return model.views((COLUMN, OTHER))[0]


def sample_of(
    groups: Sequence[Hashable], values: Sequence[str], axis: Axis | None = None
) -> Sample:
    """A table from the group and the sensitive value of each row, in words.

    Without an axis the values are a flat column in alphabetical order.
    """
    numbers = {label: at for at, label in enumerate(dict.fromkeys(groups))}
    labels = tuple(sorted(set(values))) if axis is None else axis.labels
    chosen = (
        replace(flat_axis(COLUMN, len(labels)), labels=labels) if axis is None else axis
    )
    codes = np.array([labels.index(value) for value in values], dtype=np.int32)
    return Sample(
        group_of=np.array([numbers[group] for group in groups], dtype=np.int32),
        count=len(numbers),
        sensitive={COLUMN: CodedAxis(chosen, codes)},
    )
