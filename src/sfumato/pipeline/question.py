"""What is asked of a published table, whoever made it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.data.coding import code_column
from sfumato.data.schema import Role
from sfumato.data.table import Column
from sfumato.errors import DataError
from sfumato.hierarchies.axis import CodedAxis
from sfumato.models.base import OutputModel
from sfumato.pipeline.population import population_path, read_population
from sfumato.pipeline.prepare import axes, sensitive_axes
from sfumato.policy import Policy
from sfumato.verify import (
    Evidence,
    Population,
    Proof,
    coded_cells,
    prove,
    require_columns,
)

BOUNDS = ("_from", "_to")


@dataclass(frozen=True, eq=False, kw_only=True)
class Private:
    """What cells cannot show and the private record can, in publishing order."""

    subject: npt.NDArray[np.int32] | None = None
    groups: npt.NDArray[np.int32] | None = None


@dataclass(frozen=True, eq=False)
class Question:
    """A policy's roles, missing marks and requirements, asked of any table."""

    policy: Policy
    models: tuple[OutputModel, ...]
    base: Path | None = None
    private: Private = field(default_factory=Private)

    def ask(self, table: pa.Table) -> Proof:
        """Judge a published table by its cells."""
        return prove(self.evidence(table), self.models)

    def evidence(self, table: pa.Table) -> Evidence:
        """The table in codes, as a recipient sees it."""
        if table.num_rows == 0:
            raise DataError(
                "The table has no rows.", hint="There is nothing to judge or publish."
            )
        quasi = self.quasi_columns(table)
        missing = self.policy.data.missing
        return Evidence(
            cells=coded_cells(table, quasi, missing),
            sensitive=self._sensitive(table),
            subject=self._subject(table),
            weights=self._weights(table),
            groups=self.private.groups,
            population=self._population(),
            missing_any=self.policy.data.missing_as == "any",
            rows=table.num_rows,
        )

    def quasi_columns(self, table: pa.Table) -> tuple[str, ...]:
        """The published columns of the quasi-identifiers; bounds count as both."""
        found: list[str] = []
        for name in self.policy.names(Role.QUASI):
            pair = [name + end for end in BOUNDS]
            both = name not in table.column_names and set(pair) <= set(
                table.column_names
            )
            found += pair if both else [name]
        require_columns(table, found, what="The table")
        return tuple(found)

    def _sensitive(self, table: pa.Table) -> Mapping[str, CodedAxis]:
        names = self.policy.names(Role.SENSITIVE)
        require_columns(table, names, what="The table")
        columns = [self._column(table, name) for name in names]
        return sensitive_axes(self.policy, columns, self.base)

    def _population(self) -> Population | None:
        """The population table that a requirement names, on the policy's axes."""
        path = population_path(self.models)
        if path is None:
            return None
        source = read_population(self.policy, path, self.base)
        columns = [self._column(source, name) for name in self.policy.names(Role.QUASI)]
        return Population.of(axes(self.policy, columns, self.base), source.num_rows)

    def _column(self, table: pa.Table, name: str) -> Column:
        section = self.policy.column(name)
        return code_column(
            name,
            table.column(name),
            kind=section.kind,
            missing=self.policy.data.missing,
            order=section.order,
        )

    def _subject(self, table: pa.Table) -> npt.NDArray[np.int32] | None:
        if self.private.subject is not None:
            return self.private.subject
        names = self.policy.names(Role.SUBJECT)
        if not names or self.private.groups is not None:
            return None
        if names[0] not in table.column_names:
            raise DataError(
                f"The policy counts persons by '{names[0]}', which the table lacks.",
                hint="Give the private record: --groups private/rows.parquet.",
            )
        return self._column(table, names[0]).codes

    def _weights(self, table: pa.Table) -> npt.NDArray[np.float64] | None:
        names = self.policy.names(Role.WEIGHT)
        if not names or names[0] not in table.column_names:
            return None
        column = self._column(table, names[0])
        return None if column.numbers is None else column.numbers[column.codes]
