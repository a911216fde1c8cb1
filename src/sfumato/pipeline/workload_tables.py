"""Put a workload's queries to a source and to its releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from sfumato.hierarchies.axis import Axis
from sfumato.pipeline.code_table import axes, coded_column
from sfumato.policy import Policy
from sfumato.verify import require_columns
from sfumato.workload.answer_errors import RESAMPLES, WorkloadError, compare
from sfumato.workload.queries import Query, Workload
from sfumato.workload.queryable_tables import RowTable, original, published
from sfumato.workload.random_queries import written_out


@dataclass(frozen=True, eq=False, kw_only=True)
class QueriedSource:
    """The original, coded once, and the queries to answer on it."""

    table: RowTable
    axes: Mapping[str, Axis]
    queries: tuple[Query, ...]
    missing: tuple[str, ...]

    def error(
        self,
        table: pa.Table,
        beside: Mapping[str, pa.Table],
        *,
        queries: Sequence[Query] | None = None,
        resamples: int = RESAMPLES,
        seed: int = 0,
    ) -> WorkloadError:
        """Measure the error of a release, on all queries or on some."""
        asked = self.queries if queries is None else queries
        shown = published(table, beside, self.axes, missing=self.missing)
        return compare(
            self.table, shown, asked, self.axes, resamples=resamples, seed=seed
        )


def queried_source(
    policy: Policy, source: pa.Table, workload: Workload, base: Path | None
) -> QueriedSource:
    """Code the columns that a workload asks about, and draw its random queries."""
    names = workload.columns
    require_columns(source, names, what="The workload cannot be answered: the source")
    columns = [coded_column(policy, source, name, exact=True) for name in names]
    coded = {each.name: each for each in axes(policy, columns, base)}
    shapes = {name: each.axis for name, each in coded.items()}
    return QueriedSource(
        table=original(coded, source.num_rows),
        axes=shapes,
        queries=written_out(workload, shapes),
        missing=tuple(policy.data.missing),
    )
