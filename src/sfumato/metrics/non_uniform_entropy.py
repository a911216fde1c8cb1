"""Non-uniform entropy: the bits about the original that cells lost."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sfumato.data.arrays import Counts, Floats
from sfumato.metrics.base import ComparisonMetric, Measured, Need
from sfumato.metrics.common.compared_tables import ComparedColumn, ComparedTables


class NonUniformEntropy(ComparisonMetric):
    """The share of the original's bits that cells no longer tell (Gionis and Tassa 2009).

    Method: guessing a value from its cell takes −log2 of its share among the rows whose
    value the cell could be. These bits are added up over all quasi-identifier cells
    and divided by those of a table that shows nothing.
    Limits: where it is not known which row is which, each cell counts the bits of an
    average row among those that it could be.
    """

    name: ClassVar[str] = "non_uniform_entropy"
    sentence: ClassVar[str] = (
        "Share of the bits about the original's values that cells no longer tell."
    )
    needs = frozenset({Need.COVERS, Need.PEOPLE})

    def compare(self, compared: ComparedTables) -> Measured:
        lost, there = {}, {}
        for name in compared.quasi:
            column = compared.columns[name]
            there[name] = whole_bits(column.before)
            lost[name] = _lost_bits(column, compared)
        parts = {name: lost[name] / (there[name] or 1.0) for name in lost}
        total = sum(there.values())
        return Measured(sum(lost.values()) / total if total else 0.0, parts)


def whole_bits(counts: Counts) -> float:
    """The bits that all rows need, given how often each value occurs."""
    known = counts[counts > 0]
    return float((known * np.log2(known.sum() / known)).sum())


def _lost_bits(column: ComparedColumn, compared: ComparedTables) -> float:
    if compared.source_row is not None:
        return _bits_by_row(column, compared)
    mean = whole_bits(column.before) / max(compared.rows_in, 1)
    return float(column.after @ text_bits(column)) + compared.left_out * mean


def _bits_by_row(column: ComparedColumn, compared: ComparedTables) -> float:
    """The bits of each published row's own value, and of the rows left out."""
    assert compared.source_row is not None
    rows = column.original.codes[compared.source_row]
    own = np.log2(column.before)[rows]
    inside = np.log2(np.maximum(_matching(column), 1.0))[column.codes]
    gone = np.ones(compared.rows_in, dtype=np.bool_)
    gone[compared.source_row] = False
    alone = np.log2(compared.rows_in / column.before[column.original.codes[gone]])
    return float(np.maximum(inside - own, 0.0).sum() + alone.sum())


def text_bits(column: ComparedColumn) -> Floats:
    """The bits that a row with each text leaves open, on average."""
    counts = column.before.astype(np.float64)
    weighted = counts * np.log2(np.maximum(counts, 1.0))
    matching, bits = _matching(column), _summed(column, weighted)
    open_bits = np.log2(np.maximum(matching, 1.0)) - bits / np.maximum(matching, 1.0)
    return np.asarray(np.maximum(open_bits, 0.0))


def _matching(column: ComparedColumn) -> Floats:
    """The original rows that each text could stand for."""
    return _summed(column, column.before.astype(np.float64))


def _summed(column: ComparedColumn, numbers: Floats) -> Floats:
    """The sum of one number per leaf over the leaves of each text."""
    reading, sums = column.reading, np.concatenate([[0.0], np.cumsum(numbers)])
    first = np.where(column.blank, 0, reading.first)
    last = np.where(column.blank, column.axis.size - 1, reading.last)
    found = sums[last + 1] - sums[first]
    for text, mask in reading.scattered.items():
        if not column.blank[text]:
            found[text] = numbers[mask].sum()
    return np.asarray(found)
