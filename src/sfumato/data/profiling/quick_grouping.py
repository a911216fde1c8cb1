"""Group some rows quickly, as a release would, to see what exact columns single out.

Boxes of rows are cut at the median of their widest column while both sides keep k rows
(Mondrian, LeFevre et al. 2006), in NumPy alone, because no proposal waits for a compiler.
Of a large table all rows are cut into small boxes, and only some of these to the end: a
sample of rows would make groups that are much wider than those of the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Floats, Ints
from sfumato.data.table import Column
from sfumato.data.unique_rows import joined

SMALL_BOX = 500
"""Boxes of at most so many rows are sampled; larger ones are all cut."""
SAMPLE = 4_000
"""About so many rows in small boxes are grouped to the end."""


@dataclass(frozen=True, eq=False)
class QuickGroups:
    """The groups of some rows, and how many rows of the table each row stands for."""

    rows: Ints
    group_of: Ints
    stands_for: Floats
    k: int

    def made_unique(self, columns: Sequence[Ints]) -> float:
        """The share of rows that the codes of columns make unique in their group.

        A search that takes its time makes smaller groups than this one: where a group has
        fewer than 2k rows, the share is that of k rows drawn from it.
        """
        parts = [self.group_of, *(codes[self.rows] for codes in columns)]
        together = joined(parts, len(self.rows))
        alike = np.bincount(together)[together]
        sizes = np.bincount(self.group_of)[self.group_of]
        alone = np.where(
            sizes < 2 * self.k, _alone_among(self.k, sizes, alike), alike == 1
        )
        return float(alone @ self.stands_for / max(self.stands_for.sum(), 1))


def _alone_among(k: int, sizes: Ints, alike: Ints) -> Floats:
    """The chance that of k rows drawn from a group, with one row, none is like it.

    Of `sizes` rows, `alike` are like the row, with itself.
    """
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, 2 * k + 1)))])
    n, others = np.clip(sizes, k, 2 * k), sizes - alike
    possible = (others >= k - 1) & (sizes < 2 * k)
    rest = np.where(possible, others, k - 1)
    chances = logs[rest] - logs[rest - k + 1] - logs[n - 1] + logs[n - k]
    return np.where(possible, np.exp(chances), 0.0)


def quick_groups(quasi: Sequence[Column], rows: int, *, k: int) -> QuickGroups:
    """Group rows by their quasi-identifiers, k and more together."""
    codes = np.empty((rows, len(quasi)), dtype=np.int32)
    for at, column in enumerate(quasi):
        codes[:, at] = column.codes
    scale = np.array([max(column.size - 1, 1) for column in quasi], dtype=np.float64)
    small, final = _cut(codes, [np.arange(rows)], scale, k=k, until=SMALL_BOX)
    step = max(1, sum(map(len, small)) // SAMPLE)
    sampled = small[::step]
    _, groups = _cut(codes, sampled, scale, k=k, until=0)
    weight = sum(map(len, small)) / max(sum(map(len, sampled)), 1)
    weights = [1.0] * len(final) + [weight] * len(groups)
    return _groups([*final, *groups], weights, k=k)


def _groups(boxes: Sequence[Ints], weights: Sequence[float], *, k: int) -> QuickGroups:
    sizes = [len(box) for box in boxes]
    return QuickGroups(
        rows=np.concatenate(boxes),
        group_of=np.repeat(np.arange(len(boxes)), sizes),
        stands_for=np.repeat(np.array(weights), sizes),
        k=k,
    )


def _cut(
    codes: npt.NDArray[np.int32],
    boxes: Sequence[Ints],
    scale: Floats,
    *,
    k: int,
    until: int,
) -> tuple[list[Ints], list[Ints]]:
    """Cut boxes: those with at most `until` rows, and those that no cut leaves k rows."""
    waiting, small, final = list(boxes), [], []
    while waiting:
        box = waiting.pop()
        if len(box) <= until:
            small.append(box)
            continue
        sides = _sides(codes, box, scale, k=k) if len(box) >= 2 * k else None
        if sides is None:
            final.append(box)
        else:
            waiting.extend(sides)
    return small, final


def _sides(
    codes: npt.NDArray[np.int32],
    box: Ints,
    scale: Floats,
    *,
    k: int,
) -> tuple[Ints, Ints] | None:
    """Both sides of the first cut that leaves each k rows, widest column first."""
    inside = codes[box]
    spans = np.ptp(inside, axis=0) / scale if inside.shape[1] else np.empty(0)
    for at in np.argsort(-spans, kind="stable"):
        if spans[at] <= 0:
            break
        values = inside[:, at]
        middle = np.partition(values, len(values) // 2)[len(values) // 2]
        # Many rows may share the median: it belongs to the side that needs it.
        for low in (values < middle, values <= middle):
            count = int(low.sum())
            if min(count, len(box) - count) >= k:
                return box[low], box[~low]
    return None
