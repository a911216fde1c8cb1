"""How far the answers of a release are from those of the original."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sfumato.data.arrays import Floats
from sfumato.data.result_classes import comes_from
from sfumato.data.safe_repr import SafeRepr
from sfumato.errors import UsageError
from sfumato.hierarchies.axis import Axis
from sfumato.workload.answers import CollapsedTable, blocks
from sfumato.workload.queries import Query
from sfumato.workload.queryable_tables import QueryableTable

ErrorMeasure = Literal["chi2", "relative", "absolute"]
MEASURES: tuple[ErrorMeasure, ...] = ("chi2", "relative", "absolute")
RESAMPLES = 1000
CONFIDENCE = 0.95
DRAWS_AT_ONCE = 2**21
TINY = 1e-200
"""Stands for no error where a ratio divides by it; errors over it stay finite."""


@dataclass(frozen=True)
class Estimate:
    """A figure, and the interval in which it would lie for similar queries."""

    value: float
    """The figure."""
    low: float
    """The lower end of its 95% interval."""
    high: float
    """The upper end of its 95% interval."""

    def record(self) -> dict[str, float]:
        """The figure and its interval as one JSON object."""
        return {"value": self.value, "low": self.low, "high": self.high}


@comes_from("sfumato.workload_error(original, release, workload)")
@dataclass(frozen=True, eq=False, repr=False)
class WorkloadError(SafeRepr):
    """The error of each query, and figures over all of them.

    Intervals are percentile bootstrap intervals at 95% over queries. They say how far
    the figure depends on the queries that were asked, not on the draw of a swap.

    Example:
        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> people = pa.table({"age": [23, 25, 31, 34], "ill": list("abab")})
        >>> from sfumato.workload.queries import Query
        >>> release = sf.anonymize(people, quasi="age", sensitive="ill", k=2)
        >>> asked = sf.Workload(queries=(Query(histogram="ill"),))
        >>> found = sf.workload_error(people, release, asked)
        >>> found.actual.tolist(), found.average_relative.value
        ([4.0], 0.0)
    """

    actual: Floats
    """Per query the number of rows in the original."""
    estimated: Floats
    """Per query the number of rows by the release."""
    chi2: Floats
    """Per query Σ (x − y)² / (x + y) over its cells (Boger 2020, equation 1)."""
    absolute: Floats
    """Per query the sum of `|x − y|` over its cells."""
    resamples: int = RESAMPLES
    """How many bootstrap samples the intervals are from."""
    seed: int = 0
    """The seed of the bootstrap."""

    def _summary(self) -> str:
        return f"{len(self.actual):,} queries, {self.empty:,} of them empty"

    @property
    def relative(self) -> Floats:
        """Per query the absolute error over the actual count, or over 1 if that is 0."""
        return np.asarray(self.absolute / np.maximum(self.actual, 1.0))

    @property
    def empty(self) -> int:
        """How many queries select no row of the original."""
        return int((self.actual == 0).sum())

    def of(self, measure: ErrorMeasure) -> Floats:
        """The error of each query by one measure."""
        errors: Floats = getattr(self, measure)
        return errors

    @property
    def total_chi2(self) -> Estimate:
        """Σ χ² over all queries (Boger 2020, equations 2 and 3)."""
        return self._estimate(self.chi2, lambda e: np.asarray(e.sum(axis=-1)))

    @property
    def mean_chi2(self) -> Estimate:
        """The mean χ² per query."""
        return self._estimate(self.chi2, _mean)

    @property
    def mean_absolute(self) -> Estimate:
        """The mean absolute error per query."""
        return self._estimate(self.absolute, _mean)

    @property
    def median_absolute(self) -> Estimate:
        """The median absolute error per query."""
        return self._estimate(self.absolute, _median)

    @property
    def average_relative(self) -> Estimate:
        """A.R.E., the average relative error (Loukides and Shao 2008, section 4.1)."""
        return self._estimate(self.relative, _mean)

    @property
    def median_relative(self) -> Estimate:
        """The median relative error per query."""
        return self._estimate(self.relative, _median)

    def against(
        self, base: WorkloadError, *, measure: ErrorMeasure = "chi2"
    ) -> Estimate:
        """100 × this error / max(the base's, 1), in percent (Boger 2020, equation 4)."""
        return ratio(
            self.of(measure),
            base.of(measure),
            floor=1.0 if measure == "chi2" else 0.0,
            resamples=self.resamples,
            seed=self.seed,
        )

    def record(self) -> dict[str, Any]:
        """Return every figure, machine-readable."""
        figures = {
            "total_chi2": self.total_chi2,
            "mean_chi2": self.mean_chi2,
            "average_relative": self.average_relative,
            "median_relative": self.median_relative,
            "mean_absolute": self.mean_absolute,
            "median_absolute": self.median_absolute,
        }
        counted = {"queries": len(self.actual), "empty_queries": self.empty}
        return counted | {name: each.record() for name, each in figures.items()}

    def _estimate(
        self, errors: Floats, statistic: Callable[[Floats], Floats]
    ) -> Estimate:
        return bootstrap(
            errors[None, :],
            lambda drawn: statistic(drawn[0]),
            resamples=self.resamples,
            seed=self.seed,
        )


def compare(
    original: QueryableTable,
    release: QueryableTable,
    queries: Sequence[Query],
    axes: Mapping[str, Axis],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> WorkloadError:
    """Put every query to both tables and measure the difference."""
    if not queries:
        raise UsageError("The workload has no query.", hint="Add one to its file.")
    figures = np.zeros((4, len(queries)))
    truth, shown = CollapsedTable(original), CollapsedTable(release)
    for block in blocks(queries, axes):
        x, y = truth.answer(block), shown.answer(block)
        figures[:, block.places] = x.sum(axis=1), y.sum(axis=1), chi2(x, y), l1(x, y)
    actual, estimated, distance, absolute = figures
    return WorkloadError(
        actual, estimated, distance, absolute, resamples=resamples, seed=seed
    )


def chi2(x: Floats, y: Floats) -> Floats:
    """The χ² distance of each row of x from that of y; 0 / 0 counts as 0."""
    both = x + y
    squares = (x - y) ** 2
    return np.asarray(
        np.divide(squares, both, out=np.zeros_like(both), where=both > 0).sum(axis=1)
    )


def l1(x: Floats, y: Floats) -> Floats:
    """The sum of absolute differences of each row of x from that of y."""
    return np.asarray(np.abs(x - y).sum(axis=1))


def ratio(
    errors: Floats,
    base: Floats,
    *,
    floor: float = 0.0,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Estimate:
    """100 × one total error over another, queries drawn in pairs."""
    if len(errors) != len(base):
        raise UsageError(
            f"{len(errors):,} queries cannot be compared with {len(base):,}.",
            hint="Put the same workload to both releases.",
        )

    def percent(drawn: Floats) -> Floats:
        test, against = drawn.sum(axis=-1)
        least = floor or TINY
        return np.asarray(100.0 * test / np.maximum(against, least))

    return bootstrap(np.stack([errors, base]), percent, resamples=resamples, seed=seed)


def bootstrap(
    errors: Floats,
    statistic: Callable[[Floats], Floats],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Estimate:
    """A statistic of (series, queries), and its percentile interval over queries."""
    count = errors.shape[1]
    random = np.random.default_rng(seed)
    drawn: list[Floats] = []
    step = max(1, DRAWS_AT_ONCE // count)
    for start in range(0, resamples, step):
        size = (min(step, resamples - start), count)
        drawn.append(statistic(errors[:, random.integers(count, size=size)]))
    tail = (1.0 - CONFIDENCE) / 2
    low, high = np.quantile(np.concatenate(drawn), [tail, 1.0 - tail])
    return Estimate(float(statistic(errors)), float(low), float(high))


def _mean(errors: Floats) -> Floats:
    return np.asarray(errors.mean(axis=-1))


def _median(errors: Floats) -> Floats:
    return np.asarray(np.median(errors, axis=-1))
