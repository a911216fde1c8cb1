"""What every metric that compares a release with its original must meet."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sfumato.metrics.base import ComparisonMetric, Need
from sfumato.metrics.common.compared_tables import ComparedTables
from sfumato.pipeline.pair import PairFiles
from sfumato.policy import Policy
from sfumato.risk.table_pair import Pair
from sfumato.risk.utility import comparison
from sfumato.testing.conformance_check import CALM, Check, must


def comparison_checks(metric: ComparisonMetric) -> Iterator[Check]:
    """Every check of such a metric, on drawn pairs of tables."""
    for name, judge in _STATEMENTS.items():
        yield Check(name, partial(_ask, metric, judge))


class DrawnPair(NamedTuple):
    """An original, and the cells published for its rows, in the same order."""

    original: pa.Table
    published: pa.Table

    def taken(self, rows: Sequence[int]) -> DrawnPair:
        """The rows in another order, in both tables."""
        places = pa.array(rows)
        return DrawnPair(self.original.take(places), self.published.take(places))

    def compared(self) -> ComparedTables:
        """The pair as metrics look at it."""
        return comparison(self.paired())

    def paired(self) -> Pair:
        """The pair as it is read from files."""
        policy = Policy.build(quasi=["age", "city"], sensitive=["illness"], k=1)
        tables = PairFiles(
            policy=policy,
            original=self.original,
            published=self.published,
            same_order=True,
        )
        return tables.pair()


@st.composite
def pairs(draw: st.DrawFn) -> DrawnPair:
    """Up to three groups of two to four rows, and perhaps a row that shows nothing."""
    age, city, illness = (
        st.integers(20, 40),
        st.sampled_from("abcd"),
        st.sampled_from("xy"),
    )
    original: list[tuple[int, str, str]] = []
    published: list[tuple[str, str, str]] = []
    for _ in range(draw(st.integers(1, 3))):
        rows = draw(st.lists(st.tuples(age, city, illness), min_size=2, max_size=4))
        original += rows
        published += [(*_cells(rows), value) for _, _, value in rows]
    if draw(st.booleans()):
        original.append((30, "a", "x"))
        published.append(("*", "*", "x"))
    return DrawnPair(_table(original), _table(published))


def _cells(rows: Sequence[tuple[int, str, str]]) -> tuple[str, str]:
    """The smallest interval and set over the rows of a group."""
    ages = [age for age, _, _ in rows]
    cities = sorted({city for _, city, _ in rows})
    low, high = min(ages), max(ages)
    return (
        str(low) if low == high else f"[{low}, {high}]",
        cities[0] if len(cities) == 1 else "{" + "|".join(cities) + "}",
    )


def _table(rows: Sequence[tuple[object, ...]]) -> pa.Table:
    columns = zip(("age", "city", "illness"), zip(*rows, strict=True), strict=True)
    return pa.table({name: [str(cell) for cell in cells] for name, cells in columns})


ComparisonStatement = Callable[[ComparisonMetric, DrawnPair], None]


def _ask(metric: ComparisonMetric, judge: ComparisonStatement) -> None:
    @CALM
    @given(pairs())
    def judged(pair: DrawnPair) -> None:
        judge(metric, pair)

    judged()


def _is_a_number(metric: ComparisonMetric, pair: DrawnPair) -> None:
    compared = pair.compared()
    must(all(need.met(compared) for need in Need), "the drawn pair lacks something")
    must(math.isfinite(metric.compare(compared).value), "the measure is no number")


def _ignores_the_order(metric: ComparisonMetric, pair: DrawnPair) -> None:
    turned = pair.taken(range(pair.original.num_rows)[::-1])
    first = metric.compare(pair.compared()).value
    second = metric.compare(turned.compared()).value
    must(math.isclose(first, second, abs_tol=1e-9), "the order of rows matters")


def _leaves_input_alone(metric: ComparisonMetric, pair: DrawnPair) -> None:
    compared = pair.compared()
    before = {
        name: replace(column, codes=column.codes.copy())
        for name, column in compared.columns.items()
    }
    metric.compare(compared)
    same = all(
        np.array_equal(column.codes, compared.columns[name].codes)
        for name, column in before.items()
    )
    must(same, "an input array was changed")


_STATEMENTS: Mapping[str, ComparisonStatement] = MappingProxyType(
    {
        "the measure is a number": _is_a_number,
        "the order of rows does not matter": _ignores_the_order,
        "the input is left as it was": _leaves_input_alone,
    }
)
