"""The results of one run: solution, draft and proof."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import Request, Solution
from sfumato.data.arrays import Counts, Ints
from sfumato.data.distinct_keys import first_rows
from sfumato.data.table import Table
from sfumato.hierarchies.axis import CodedAxis
from sfumato.metrics.base import MetricInput
from sfumato.pipeline.earlier_release_proof import CandidateProof
from sfumato.pipeline.expand_requirements import smallest_group
from sfumato.pipeline.linked_persons import LinkedPersons
from sfumato.pipeline.open_bits import OpenBits, open_bits
from sfumato.pipeline.private_run import Certificate
from sfumato.pipeline.repeated_identifiers import (
    RepeatedIdentifier,
    repeated_identifier,
)
from sfumato.pipeline.run import Run
from sfumato.pipeline.verification import Claim
from sfumato.publish.base import CellOperator, Draft, Form, Material
from sfumato.publish.group_spans import Extent
from sfumato.verify import Proof


@dataclass(frozen=True, eq=False, kw_only=True)
class Findings:
    """What a run found: its groups, its draft, and the proof of the draft."""

    run: Run
    certificate: Certificate | None
    """The certificate of a process model, where one is required."""
    table: Table
    """The rows that took part, coded."""
    source_rows: npt.NDArray[np.int64]
    """The source row of each row that took part."""
    request: Request
    solution: Solution
    material: Material
    draft: Draft
    claim: Claim
    """What the draft must prove, and the written file again."""
    proof: Proof
    persons: LinkedPersons | None
    """Who is behind each source row, where a key is declared."""
    together: CandidateProof | None
    """The proof beside earlier releases, where there are any."""

    @property
    def rows_in(self) -> int:
        return int(self.run.source.num_rows)

    @property
    def rows_out(self) -> int:
        return int(self.draft.table.num_rows)

    @property
    def published_rows(self) -> npt.NDArray[np.int64]:
        """The source row of each row of the draft."""
        return rows_of_source(self.run, self.source_rows, self.draft.rows)

    @property
    def shown(self) -> tuple[CodedAxis, ...]:
        """The columns that are shown as cells."""
        return self.solution.quasi or self.request.quasi

    @property
    def shown_tuples(self) -> Ints | None:
        """The number of each published row's cells, as the proof found it.

        None where rows of a group do not share their cells.
        """
        evidence = self.proof.evidence
        if self.run.operator.form is not Form.CELLS or evidence is None:
            return None
        return None if evidence.times is not None else evidence.group_of

    @cached_property
    def shown_rows(self) -> tuple[Ints, Counts] | None:
        """A published row for each of the proof's groups, and how many show the same."""
        tuples = self.shown_tuples
        if tuples is None:
            return None
        sizes = np.bincount(tuples)
        return first_rows(tuples, len(sizes)), sizes

    @cached_property
    def made(self) -> set[str]:
        """The published columns that the operator added."""
        source = self.table.source.column_names
        return set(self.draft.table.column_names).difference(source)

    @cached_property
    def repeated(self) -> RepeatedIdentifier | None:
        """The identifier that seems to count persons and repeats.

        None under a process model. Out of memory, identifiers are not read.
        """
        if self.certificate is not None or self.run.out_of_core is not None:
            return None
        return repeated_identifier(self.run.policy, self.run.source)

    @property
    def synthetic(self) -> bool:
        """Whether the published records are synthetic."""
        return self.solution.synthetic is not None

    @property
    def subjects_hidden(self) -> bool:
        """Return whether verdicts count subjects of several rows.

        The file does not show them, and the ledger was not charged for them.
        """
        if self.certificate is None or self.request.subject is None:
            return False
        algorithm = self.certificate.algorithm
        return algorithm.rows_per_subject > 1 and not algorithm.every_column

    @property
    def compares(self) -> bool:
        """Return whether cells may be compared with the source's, value by value."""
        exact = self.run.operator.form is not Form.CELLS
        return self.certificate is None and not (self.synthetic or exact)

    @property
    def least(self) -> int:
        """The smallest count that may be published: k, or the size of the smallest
        group; never 1, which would tell the value of one row or person."""
        k, sizes = smallest_group(self.request.models), self.proof.groups.sizes
        return k if k > 1 else max(2, int(sizes.min()) if len(sizes) else 2)

    @cached_property
    def open_bits(self) -> list[OpenBits]:
        """The bits about source values that cells leave open, by column.

        None where cells may not be compared with the source.
        """
        if not self.compares:
            return []
        return open_bits(self.extents, self.draft.ncp)

    @property
    def extents(self) -> tuple[Extent, ...]:
        """What the groups cover of each column that is shown as cells."""
        return self.material.extents

    @cached_property
    def measured(self) -> MetricInput:
        """The release in numbers, for the metrics.

        With a certificate, only published rows count: the ledger was not charged for
        the number of rows left out.
        """
        sizes = self.solution.grouping.sizes()
        first, group = self._published_groups
        return MetricInput(
            rows_in=self.rows_in if self.certificate is None else self.rows_out,
            rows_out=self.rows_out,
            group_rows=np.bincount(group, weights=sizes).astype(np.int64),
            ncp=self.draft.ncp[first],
            loss=self.draft.loss[first],
            published_sizes=self.proof.groups.rows,
            k=smallest_group(self.request.models),
        )

    @property
    def _published_groups(self) -> tuple[Ints, Ints]:
        """A group for each that a recipient can tell apart, and which each group is."""
        operator, groups = self.run.operator, self.solution.grouping.count
        if not isinstance(operator, CellOperator):
            return np.arange(groups), np.arange(groups)
        _, first, group = np.unique(
            operator.looks(self.material), return_index=True, return_inverse=True
        )
        return first, group


def rows_of_source(run: Run, source_rows: Ints, rows: Ints) -> Ints:
    """The source row of each of some rows; `source_rows` are those that took part."""
    # Not looked up where all took part: then each row is a source row.
    return rows if len(source_rows) == run.source.num_rows else source_rows[rows]
