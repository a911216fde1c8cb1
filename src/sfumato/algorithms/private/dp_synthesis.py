"""DP synthesis: draw synthetic records from noisy counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sfumato.algorithms.base import Request, Solution
from sfumato.algorithms.private.node_labels import shown_axes
from sfumato.algorithms.private.noisy_tree import (
    MOST_COUNTS,
    WHOLE_DEPTH,
    CellTree,
    grow,
)
from sfumato.algorithms.private.private_algorithm import (
    PrivateAlgorithm,
    ledger_of,
    require,
    whole,
)
from sfumato.algorithms.private.tree_plan import TreePlan
from sfumato.data.arrays import Counts, Floats
from sfumato.data.grouping import SUPPRESSED, Grouping
from sfumato.data.option_examples import OptionExamples
from sfumato.data.seeds import Seed
from sfumato.dp.additive_noise import Geometric
from sfumato.dp.cost import Cost
from sfumato.dp.ledger import Ledger
from sfumato.errors import InfeasibleError, PolicyError, RefusedError
from sfumato.hierarchies.axis import CodedAxis

MOST_RECORDS = 100_000_000
MOST_SHOWN = 10**18
"""Numbers above this are not printed."""
PARTS = {"selection": 0.0, "count": 0.5, "values": 0.5}


@dataclass(frozen=True, kw_only=True)
class DpSynthesis(PrivateAlgorithm):
    """Cuts the domain into cells, counts values in them with noise, draws records.

    Guarantee: the whole release is ε-differentially private under added or removed rows,
        δ = 0: depth × (ε_selection + ε_count) for the cuts, plus ε_values for the
        counts. Everything after that is post-processing.
    Method: the tree of `dp-anonym` on all rows; noisy counts of every cell × every
        combination of the other columns' values, occurring or not; the nearest
        non-negative counts that add up, per cell and in all; as many records, with
        quasi-identifiers drawn evenly from their cell.
    Cost: rows × depth; noise for every cell × combination.
    Limits: no record is a real person. Within a cell quasi-identifiers are even and
        independent of the rest; relations finer than the cells are lost.
    Reference: the fall-back of Kuksina 2023, section 7.2, made sound; Qardaji, Yang and
        Li 2013 for counts in cells.
    """

    name: ClassVar[str] = "dp-synthesis"
    sentence: ClassVar[str] = (
        "Publishes synthetic records, drawn from noisy counts of cells and values."
    )
    examples: ClassVar[OptionExamples] = ({"rows_per_subject": 2, "depth": 3},)
    synthetic: ClassVar[bool] = True
    covers: ClassVar[str] = "the whole release"
    leaves_open: ClassVar[str] = (
        "Nothing of the release is outside the guarantee; what is in private/ is."
    )

    depth: int = 6
    """How often cells are cut in two, at most; each level costs budget."""
    hierarchies: bool = True
    """Whether cuts fall between the children of hierarchy nodes; or between any values."""
    show: Literal["values", "cells"] = "values"
    """Whether a record shows values drawn from its cell, or the cell."""

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self, "depth")
        require(1 <= self.depth <= WHOLE_DEPTH, self, "depth", f"1 to {WHOLE_DEPTH}")
        require(self.show in ("values", "cells"), self, "show", "one of: values, cells")

    def check_models(self, request: Request) -> None:
        if request.models:
            raise RefusedError(
                f"Synthetic records are not people; {request.models[0].name} has "
                "nothing to count.",
                hint="Require differential-privacy alone.",
            )
        shares = self.model(request).shares(PARTS)
        self._plan(ledger_of(request), shares)
        if shares["values"] <= 0:
            raise PolicyError(
                "No budget is left to count the values in cells.",
                hint="Give budget.values a share above 0.",
            )

    def search(self, request: Request) -> Solution:
        used, _ = self.used(request)
        account = self.row_account(request)
        shares = self.model(request).shares(PARTS)
        tree = self._tree(used, account, shares)
        epsilon = account.budget.epsilon * shares["values"]
        noisy = _noisy_counts(used, tree, Geometric(epsilon=epsilon), account)
        self.settle(request, account)
        counts = consistent(noisy)
        if counts.sum() == 0:
            raise InfeasibleError(
                "differential-privacy: the noisy counts add up to 0 records, of "
                f"{counts.size:,} combinations.",
                hint="Raise epsilon, lower depth, or publish fewer columns.",
            )
        if counts.sum() > MOST_RECORDS:
            raise InfeasibleError(
                "differential-privacy: the noisy counts add up to more than "
                f"{MOST_RECORDS:,} records: the noise outweighs the data.",
                hint="Raise epsilon, lower depth, or publish fewer columns.",
            )
        nobody = np.full(request.rows, SUPPRESSED, dtype=np.int32)
        return Solution(
            grouping=Grouping(nobody, 0),
            facts={"cells": tree.count, "combinations": int(counts.size)},
            synthetic=self._records(used, tree, counts),
        )

    def _tree(
        self, request: Request, account: Ledger, shares: dict[str, float]
    ) -> CellTree:
        plan = self._plan(account, shares)
        return grow(request.quasi, plan, account, request.progress)

    def _plan(self, account: Ledger, shares: dict[str, float]) -> TreePlan:
        cuts = shares["selection"] + shares["count"]
        return TreePlan.within(
            account.budget.epsilon * cuts,
            depth=self.depth,
            selection=shares["selection"],
            count=shares["count"],
            relation=self.relation,
            hierarchies=self.hierarchies,
            relaxed=False,
        )

    def _records(
        self, request: Request, tree: CellTree, counts: Counts
    ) -> tuple[CodedAxis, ...]:
        cell, values = np.divmod(
            np.repeat(np.arange(counts.size), counts.ravel()), counts.shape[1]
        )
        others = _unpacked(values, request.beside)
        if self.show == "values":
            drawn = _drawn_inside(request.quasi, tree, cell)
            return (*drawn, *others)
        axes, nodes = shown_axes(
            request.quasi, tree.low, tree.high, hierarchies=self.hierarchies
        )
        shown = tuple(
            CodedAxis(coded.axis, nodes[cell, place])
            for place, coded in enumerate(axes)
        )
        return (*shown, *others)


def _noisy_counts(
    request: Request, tree: CellTree, noise: Geometric, account: Ledger
) -> Counts:
    """(cells, combinations): noisy counts, those of absent combinations included."""
    width = math.prod(coded.axis.size for coded in request.beside)
    if tree.count * width > MOST_COUNTS:
        # A number of thousands of digits cannot be printed.
        shown = f"{width:,}" if width < MOST_SHOWN else f"more than {MOST_SHOWN:,}"
        raise RefusedError(
            f"{tree.count:,} cells × {shown} combinations of the other columns' values "
            f"need more noisy counts than {MOST_COUNTS:,}.",
            hint="Lower depth, coarsen or drop columns that are no quasi-identifiers.",
        )
    account.charge(
        "counts of every combination of values in every cell",
        Cost(noise.epsilon),
        rows="disjoint cells",
    )
    key = tree.cell_of.astype(np.int64)
    for coded in request.beside:
        key = key * coded.axis.size + coded.codes
    counts = np.bincount(key, minlength=tree.count * width)
    noisy: Counts = noise.release(counts).reshape(tree.count, width)
    return noisy


def consistent(noisy: Counts) -> Counts:
    """Non-negative whole counts near the noisy ones: cells add up, and so does all.

    The total is the sum of the noisy counts, which is unbiased; each cell's count is
    brought to the nearest that add up to it, and then the counts within each cell.
    Cutting off negative counts alone would invent records wherever nobody is.
    """
    total = max(int(noisy.sum()), 0)
    cells = _nearest(noisy.sum(axis=1).astype(np.float64), total)
    inside = [
        _nearest(line.astype(np.float64), int(size))
        for line, size in zip(noisy, cells, strict=True)
    ]
    return np.array(inside, dtype=np.int64).reshape(noisy.shape)


def _nearest(values: Floats, total: int) -> Counts:
    """The nearest non-negative numbers with that sum, rounded with the sum kept."""
    if total == 0:
        return np.zeros(len(values), dtype=np.int64)
    falling = np.sort(values)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(values) + 1)
    support = int(np.flatnonzero(falling > excess)[-1])
    exact = np.maximum(values - excess[support], 0.0)
    whole: Counts = np.floor(exact).astype(np.int64)
    missing = total - int(whole.sum())
    order = np.argsort(whole - exact, kind="stable")
    whole[order[:missing]] += 1
    return whole


def _unpacked(values: Counts, beside: tuple[CodedAxis, ...]) -> list[CodedAxis]:
    """The codes of each other column, from the numbers of combinations."""
    found = []
    for coded in reversed(beside):
        values, code = np.divmod(values, coded.axis.size)
        found.append(CodedAxis(coded.axis, code.astype(np.int32)))
    return found[::-1]


def _drawn_inside(
    quasi: tuple[CodedAxis, ...], tree: CellTree, cell: Counts
) -> list[CodedAxis]:
    """Leaves drawn evenly from each record's cell."""
    found = []
    for axis, coded in enumerate(quasi):
        low = tree.low[cell, axis]
        width = tree.high[cell, axis] - low + 1
        step = np.floor(Seed.fresh().uniform(len(cell)) * width).astype(np.int32)
        found.append(CodedAxis(coded.axis, low + step))
    return found
