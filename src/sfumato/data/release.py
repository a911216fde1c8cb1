"""What a proven release consists of, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.data.safe_repr import Quiet, counted


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Proven(Quiet):
    """A published table that passed verification, and everything known about it."""

    table: pa.Table
    beside: Mapping[str, pa.Table]
    """Further tables of the release, by file name."""
    notes: Mapping[str, str]
    """Further texts of the release, by file name."""
    manifest: Mapping[str, Any]
    """Publishable: policy without paths, verdicts, facts, versions."""
    facts: Mapping[str, Any]
    """Publishable: what the report shows beyond the manifest."""
    audit: Mapping[str, Any]
    """Private: seed, input hash, full facts."""
    source_rows: npt.NDArray[np.int64]
    """Private: the source row of each published row."""
    group_of: npt.NDArray[np.int32]
    """Private: the group of each source row, −1 for suppressed ones."""
    subject_of: npt.NDArray[np.int32] | None = None
    """Private: the person behind each source row, as a number."""
    source_values: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Private: counts of the source that requirements compare with."""
    categories: frozenset[str] = frozenset()
    """Columns of categories, which files with types write as such."""
    alternatives: tuple[Mapping[str, Any], ...] = field(default=())

    def _told(self) -> str:
        rows, groups = self.manifest["rows_out"], self.manifest["groups"]
        held = [each["holds"] for each in self.manifest["requirements"]]
        return (
            f"{counted(rows, 'row')} in {counted(groups, 'group')}; "
            f"{sum(held)} of {counted(len(held), 'requirement')} met"
        )
