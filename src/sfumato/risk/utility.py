"""Every metric of a published table beside its original."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isnan
from typing import Any

import numpy as np

from sfumato.data.arrays import Flags, Floats
from sfumato.metrics.base import ComparisonMetric, Measured, Metric, MetricInput, Need
from sfumato.metrics.common.compared_tables import ComparedColumn, ComparedTables
from sfumato.risk.table_pair import Pair, PublishedForm

AnyMetric = type[Metric] | type[ComparisonMetric]


@dataclass(frozen=True)
class Utility:
    """The figures of a table; what was not measured says why."""

    figures: dict[str, float] = field(default_factory=dict)
    parts: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    not_measured: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, measured: Measured) -> None:
        """Keep the figure of a metric, or that there is none."""
        if isnan(measured.value):
            self.not_measured[name] = "needs cells that show numbers"
        else:
            self.figures[name] = float(measured.value)
            self.parts[name] = measured.parts

    def record(self) -> dict[str, Any]:
        """The figures by name, then what they are made of and what is lacking."""
        return {
            **self.figures,
            "parts": self.parts,
            "not_measured": self.not_measured,
        }


def comparison(pair: Pair) -> ComparedTables:
    """A pair as metrics look at it."""
    synthetic = pair.form is PublishedForm.SYNTHETIC
    return ComparedTables(
        rows_in=pair.rows,
        columns={
            name: ComparedColumn(
                original=pair.original[name], codes=each.codes, reading=each.reading
            )
            for name, each in pair.published.items()
        },
        quasi=pair.quasi,
        sensitive=pair.sensitive,
        groups=pair.groups,
        hidden=pair.hidden,
        recorded=pair.recorded,
        source_row=None if synthetic else pair.source_row,
        covers=pair.form.truthful,
        people=not synthetic,
    )


def utility(pair: Pair, metrics: Mapping[str, AnyMetric], *, k: int) -> Utility:
    """Measure a pair by metrics; `k` is the one asked for, 1 if none."""
    found, compared = Utility(), comparison(pair)
    outcome = metric_input(compared, k=k)
    for name, metric in metrics.items():
        lacking = _lacking(metric, compared)
        if lacking is not None:
            found.not_measured[name] = f"needs {lacking}"
        elif issubclass(metric, Metric):
            found.figures[name] = float(metric().measure(outcome))
        else:
            found.add(name, metric().compare(compared))
    if "ncp" in found.figures:
        found.parts["ncp"] = _by_column(compared, outcome.ncp, outcome)
    return found


def metric_input(compared: ComparedTables, *, k: int) -> MetricInput:
    """The release in numbers, group by group.

    Rows that show nothing count as suppressed, unless a private record says which rows
    were left out.
    """
    shown = ~compared.hidden
    if compared.recorded:
        shown[:] = True
    sizes = np.bincount(compared.groups[shown])
    published = np.flatnonzero(sizes)
    return MetricInput(
        rows_in=compared.rows_in,
        rows_out=int(shown.sum()),
        group_rows=sizes[published].astype(np.int64),
        ncp=_mean_losses(compared, shown, "ncp")[published],
        loss=_mean_losses(compared, shown, "loss")[published],
        published_sizes=sizes[published].astype(np.int64),
        k=k,
    )


def _mean_losses(compared: ComparedTables, shown: Flags, measure: str) -> Floats:
    """(groups, quasi-identifiers): the mean loss of the shown cells of each group."""
    groups = compared.groups[shown]
    rows = np.maximum(np.bincount(groups), 1)
    means = np.empty((len(rows), len(compared.quasi)))
    for index, name in enumerate(compared.quasi):
        column = compared.columns[name]
        losses = getattr(column.reading, measure)()[column.codes[shown]]
        means[:, index] = np.bincount(groups, weights=losses) / rows
    return means


def _by_column(
    compared: ComparedTables, losses: Floats, outcome: MetricInput
) -> dict[str, float]:
    return {
        name: outcome.mean_cell(losses[:, [place]])
        for place, name in enumerate(compared.quasi)
    }


def _lacking(metric: AnyMetric, compared: ComparedTables) -> Need | None:
    """Return the first thing that a metric needs and a comparison does not have."""
    if issubclass(metric, Metric):
        needs = [Need.PEOPLE, Need.COVERS] if metric.reads_losses else [Need.PEOPLE]
    else:
        needs = sorted(metric.needs)
    return next((need for need in needs if not need.met(compared)), None)
