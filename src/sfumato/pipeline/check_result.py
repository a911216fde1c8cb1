"""The result of checking a published table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sfumato.data.result_classes import comes_from
from sfumato.data.safe_repr import SafeRepr, counted


@comes_from("sfumato.check(data, quasi=[…], k=5)")
@dataclass(frozen=True, repr=False)
class CheckResult(SafeRepr):
    """The result of checking a published table.

    Example:
        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> table = pa.table({"age": ["[20, 30]"] * 3, "ill": list("aba")})
        >>> found = sf.check(table, quasi="age", sensitive="ill", k=3)
        >>> found.holds, found.rows, found.groups
        (True, 3, 1)
    """

    verdicts: list[dict[str, Any]]
    """Each requirement: `model`, `parameters`, `holds`, `measured`, `offending_groups`."""
    rows: int
    """Rows of the table."""
    groups: int
    """Groups that the cells show."""
    risk: dict[str, Any]
    """The remaining risk; `columns` has the rows that other columns single out."""
    judged: tuple[str, ...] | None = None
    """The sensitive columns that a requirement is about; empty: nothing is judged for
    what can be learned about a person. None under a process model."""
    withheld: tuple[str, ...] = ()
    """Columns in the table that the policy withholds."""
    exact_cells: Mapping[str, int] = field(default_factory=dict)
    """By column of the policy with bands or tails: cells that show something else."""
    kinds: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """How each sensitive column was read: kind, distance, and where that came from."""
    unmentioned: tuple[str, ...] = ()
    """Columns that the policy does not mention."""
    row_numbers: bool = False
    """Whether its file has a first column without a name, which was not checked."""
    loss: Mapping[str, float] = field(default_factory=dict)
    """NCP and the share of bits lost, where the original was given; private."""
    loss_not_measured: Mapping[str, str] = field(default_factory=dict)
    """Why a loss is missing."""
    unit: str = "rows"
    """What the requirements count: "rows", or "persons" where a subject is named."""
    by_manifest: bool = False
    """Whether roles and requirements are those that the manifest names."""
    same_as_manifest: bool | None = None
    """Whether it is the table that the manifest describes, by its SHA-256.

    None: there is no manifest, it has no hash, or the table is not a file or a table of a
    database.
    """

    def _summary(self) -> str:
        held = sum(verdict["holds"] for verdict in self.verdicts)
        return (
            f"{counted(self.rows, 'row')} in {counted(self.groups, 'group')}; "
            f"{held} of {counted(len(self.verdicts), 'requirement')} met"
        )

    @property
    def holds(self) -> bool:
        """Whether every requirement holds, no cell is exact where the policy publishes
        bands, and the table is the one of the manifest."""
        holds = self.requirements_hold and not self.exact_cells
        return holds and self.same_as_manifest is not False

    @property
    def requirements_hold(self) -> bool:
        """Whether every requirement holds, whatever the manifest says of the file."""
        return all(verdict["holds"] for verdict in self.verdicts)
