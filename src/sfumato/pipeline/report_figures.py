"""What a report shows beyond the manifest: public figures, and private ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import isfinite
from typing import Any

import numpy as np

from sfumato.data.arrays import Codes, Counts, Ints
from sfumato.data.distinct_keys import numbered_keys
from sfumato.data.published_cells import packed_key
from sfumato.hierarchies.axis import CodedAxis
from sfumato.metrics.common.moments import coded_correlations
from sfumato.models.common.groups import packed, run_lengths, total_times
from sfumato.pipeline.cell_forms import cell_forms
from sfumato.pipeline.column_lines import (
    FEWEST,
    PublicLine,
    lines_as_published,
    private_lines,
    public_lines,
)
from sfumato.pipeline.example_bounds import example_bounds
from sfumato.pipeline.expand_requirements import smallest_group
from sfumato.pipeline.findings import Findings
from sfumato.pipeline.open_bits import mixed_sets, share_lost
from sfumato.pipeline.shown_cells import (
    CellOfRows,
    ShownCells,
    cell_text,
    kept_cells,
    shown_quasi,
)
from sfumato.publish.base import Form
from sfumato.risk.figures.reidentification import people
from sfumato.risk.figures.thresholds import SLACK, THRESHOLDS
from sfumato.verify import Evidence, Proof

MOST_NUMBERS = 6
"""Columns of numbers whose correlations are measured."""
MOST_VALUES = 1_000
"""Sensitive columns with more values are not guessed value by value."""
ShownColumns = Mapping[str, tuple[ShownCells, CellOfRows]]
"""By column its cells, and the cell of each published row."""


class ReportFigures:
    """The figures of one run; what both editions share is computed once."""

    def __init__(self, found: Findings) -> None:
        self.found = found
        self.shown: ShownColumns = {}
        if found.solution.synthetic is None:
            rows = found.draft.rows
            kept = {n: kept_cells(c, rows) for n, c in found.request.sensitive.items()}
            self.shown = shown_quasi(found) | kept
        self.exposed = self._after()

    def public(self) -> dict[str, Any]:
        """What follows from the published table, and counts of many source rows."""
        found = self.found
        forms = cell_forms(found)
        figures: dict[str, Any] = {
            "cells": forms,
            "examples": example_bounds(found, forms),
        }
        cells = found.run.operator.form is Form.CELLS
        if self.exposed and cells and found.request.subject is None:
            figures["exposure"] = self.exposed
        if found.certificate is None:
            figures["marginals"] = self._marginals()
            figures["least"] = self._least
        return figures

    def private(self) -> dict[str, Any]:
        """What is computed from the source."""
        if not self.shown:
            return {"algorithm": dict(self.found.solution.facts)}
        return {
            "algorithm": dict(self.found.solution.facts),
            "exposure": {"before": self._before(), "after": self.exposed},
            "marginals": {
                name: private_lines(cells) for name, (cells, _) in self.shown.items()
            },
            "correlations": self._correlations(),
            "mixed": mixed_sets(self.found.open_bits),
            "utility": self._bits(),
        }

    @property
    def _least(self) -> int:
        return max(smallest_group(self.found.request.models), FEWEST)

    def _marginals(self) -> dict[str, list[PublicLine]]:
        """Public lines by column; none where a difference would tell of few rows."""
        found, least = self.found, self._least
        taking_part = found.table.rows
        gone = taking_part - found.rows_out
        steps = (found.rows_in - taking_part, gone)
        if found.request.subject is not None or (
            steps[0] and any(0 < each < least for each in steps)
        ):
            return {}
        return {
            name: self._lines(name, cells, least, gone)
            for name, (cells, _) in self.shown.items()
        }

    def _lines(
        self, name: str, cells: ShownCells, least: int, gone: int
    ) -> list[PublicLine]:
        found = self.found
        sensitive = name in found.request.sensitive
        if sensitive and not gone and cells.axis.positions is not None:
            lines = lines_as_published(cells)
            if lines:
                return lines
        table = found.draft.table
        if table.schema.get_field_index(name) < 0:
            table = found.draft.beside.get("sensitive", table)
        labels = cells.axis.labels

        def text(cell: int) -> str | None:
            if sensitive:
                return labels[int(cells.first[cell])]
            return cell_text(table, name, int(cells.example[cell]))

        return public_lines(cells, text, least=least, gone=gone)

    def _before(self) -> dict[str, Any]:
        request = self.found.request
        codes = [coded.codes for coded in request.quasi]
        found = exposure(codes, request.sensitive, request.subject, request.rows)
        self.found.run.arrays.release()
        return found

    def _after(self) -> dict[str, Any]:
        """How exposed people are by the published cells, or in the groups of a swap."""
        found, evidence = self.found, self.found.proof.evidence
        if not self.shown or evidence is None or found.subjects_hidden:
            return {}
        if found.run.operator.form is Form.CELLS:
            return _judged(found.proof, evidence)
        rows, request = found.draft.rows, found.request
        sensitive = {
            name: CodedAxis(coded.axis, coded.codes[rows])
            for name, coded in request.sensitive.items()
        }
        subject = None if request.subject is None else request.subject[rows]
        codes = [coded.codes[rows] for coded in request.quasi]
        groups = found.solution.grouping.group_of[rows]
        return exposure(codes, sensitive, subject, len(rows), groups=groups)

    def _bits(self) -> dict[str, float]:
        """The share of bits that cells leave open.

        Not published: it depends on how often each value occurs in the source.
        """
        columns = self.found.open_bits
        return {"non_uniform_entropy": share_lost(columns)} if columns else {}

    def _correlations(self) -> list[dict[str, Any]]:
        """Pearson's correlation of each two columns of numbers, before and after."""
        names = [n for n, (c, _) in self.shown.items() if c.axis.positions is not None]
        names = names[:MOST_NUMBERS]
        before, after = {}, {}
        for name in names:
            cells, of_row = self.shown[name]
            self.found.run.arrays.release()
            before[name] = np.asarray(cells.axis.positions), cells.coded.codes
            after[name] = cells.centers(), self.found.run.arrays.keep(of_row())
        # Numbers near the largest overflow; what is no number then is not told.
        with np.errstate(all="ignore"):
            earlier = coded_correlations([before[name] for name in names])
            later = coded_correlations([after[name] for name in names])
        pairs = combinations(range(len(names)), 2)
        return [
            {
                "columns": [names[one], names[two]],
                "before": float(earlier[one, two]),
                "after": float(later[one, two]),
            }
            for one, two in pairs
            if isfinite(earlier[one, two]) and isfinite(later[one, two])
        ]


def exposure(
    columns: Sequence[Codes],
    sensitive: Mapping[str, CodedAxis],
    subject: Codes | None,
    rows: int,
    *,
    groups: Codes | None = None,
) -> dict[str, Any]:
    """How exposed the people of a table are to who knows some columns of them.

    `groups` are those within which sensitive values are looked for, where they are not
    the rows that agree in the columns.
    """
    # Figures of groups do not depend on the order of the groups.
    number, key = numbered_keys(packed_key(columns, rows))
    if subject is None:
        sizes = np.bincount(key, minlength=number)
    else:
        sizes = people(key, subject)
    within = key if groups is None else groups
    return _found(sizes) | {"values": _guesses(within, sensitive)}


def _judged(proof: Proof, evidence: Evidence) -> dict[str, Any]:
    """How exposed people are by cells, with the histograms of the proof."""
    values = {
        view.column: _best_guess(h.largest(h.counts), h.sizes, h.reference.max())
        for view, h in proof.groups.histograms.items()
        if view.level == 0 and not view.others_known and view.reference == "published"
    }
    left = {n: coded for n, coded in proof.sensitive.items() if n not in values}
    if left and evidence.cells:
        values |= _guesses(evidence.group_of, left, evidence.times)
    return _found(proof.groups.sizes) | {"values": values}


def _guesses(
    key: Codes | Ints, sensitive: Mapping[str, CodedAxis], times: Counts | None = None
) -> dict[str, dict[str, float]]:
    return {
        name: _guessed(key, coded, times)
        for name, coded in sensitive.items()
        if 0 < coded.axis.size <= MOST_VALUES
    }


def _found(sizes: Counts) -> dict[str, Any]:
    """The chance to find a person, by the sizes of groups."""
    total = max(int(sizes.sum()), 1)
    return {
        "groups": len(sizes),
        "sizes": _counted(sizes),
        "unique": int(sizes[sizes == 1].sum()) / total,
        "highest": float(1.0 / sizes.min(initial=total)),
        "mean": len(sizes) / total,
        "above": {
            each.name: int(sizes[1.0 / sizes > each.risk + SLACK].sum()) / total
            for each in THRESHOLDS
        },
    }


def _counted(sizes: Counts) -> list[dict[str, int]]:
    found, counts = np.unique(sizes, return_counts=True)
    return [
        {"size": int(size), "groups": int(count)}
        for size, count in zip(found, counts, strict=True)
    ]


def _guessed(
    key: Codes | Ints, coded: CodedAxis, times: Counts | None = None
) -> dict[str, float]:
    """How well a value is guessed as the commonest of the group, and of the table."""
    size = coded.axis.size
    pairs, number = packed([key, coded.codes], [int(key.max(initial=0)) + 1, size])
    found, counts = run_lengths(pairs, number, times)
    owner = found // size
    first = np.flatnonzero(np.diff(owner, prepend=-1))
    most = np.maximum.reduceat(counts, first)
    sizes = np.add.reduceat(counts, first)
    shares = total_times(coded.codes, times, size) / max(int(counts.sum()), 1)
    return _best_guess(most, sizes, shares.max(initial=0.0))


def _best_guess(most: Counts, sizes: Counts, baseline: float) -> dict[str, float]:
    """How well the commonest value of each group is guessed; `most` counts it."""
    total = max(int(sizes.sum()), 1)
    return {
        "highest": float((most / sizes).max(initial=0.0)),
        "mean": float(most.sum()) / total,
        "sure": int(sizes[most == sizes].sum()) / total,
        "baseline": float(baseline),
    }
