"""What a privacy model is.

A model checked on the *output* judges all groups of a published table at once from
their sizes and sensitive histograms (`OutputModel.verify`). Algorithms use its
compiled rule (`OutputModel.rules`) to judge one group at a time inside kernels. The
two forms are compared on random groups by the conformance checks. A model certified
by the *process* (`ProcessModel`) cannot be seen in a table at all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sfumato.data.rules import Rule, View
from sfumato.errors import PolicyError
from sfumato.hierarchies.axis import Axis

TOLERANCE = 1e-9
"""Two measures closer than this are equal: a limit that is met exactly is met."""

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Scope(StrEnum):
    """What a model must see to judge."""

    GROUP = "group"
    POPULATION = "population"
    TABLE = "table"


@dataclass(frozen=True, eq=False, kw_only=True)
class Histogram:
    """How often each value of one view occurs in each group.

    Sparse: the values of group g are `codes[starts[g]:starts[g + 1]]`, ascending and
    without zeros, with `counts` beside them. With subjects, a count is of persons.
    Its groups are the table's groups, except with `others_known`, where they are finer.
    """

    axis: Axis
    """The values: their order, numbers and hierarchy, at the view's level."""
    starts: Counts
    codes: npt.NDArray[np.int32]
    counts: Counts
    sizes: Counts
    """Rows, or persons, per group: the denominator of every share."""
    reference: Floats
    """The share of each value in the reference table."""

    @property
    def owners(self) -> Counts:
        """The group of each entry."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def dense(self) -> Counts:
        """(groups, values) counts; for small tables and tests."""
        table = np.zeros((len(self.starts) - 1, self.axis.size), dtype=np.int64)
        table[self.owners, self.codes] = self.counts
        return table


@dataclass(frozen=True, eq=False, kw_only=True)
class Groups:
    """All groups of a table, as a model sees them."""

    sizes: Counts
    """Rows per group, or persons where a subject column is declared."""
    rows: Counts
    """Rows per group, always."""
    histograms: Mapping[View, Histogram] = field(default_factory=dict)
    cells: npt.NDArray[np.int32] | None = None
    """(groups, quasi-identifiers): the published cell of each group, as codes."""
    population: Counts | None = None
    """Rows of the population table that match each group's cells."""
    weights: Floats | None = None
    """Sum of the sampling weights per group, where a weight column is declared."""
    sensitive: tuple[str, ...] = ()
    """All sensitive columns of the table."""

    @property
    def count(self) -> int:
        return len(self.sizes)


@dataclass(frozen=True)
class Verdict:
    """What a model found on a published table."""

    holds: bool
    measured: float | None
    """The tightest parameter that the table satisfies (k, l, t, …)."""
    offending: int = 0
    """How many groups break the requirement."""
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Feasibility:
    """Whether a whole table can meet a model at all.

    `best` is the best value any release could reach. `remove` says how many rows of
    which sensitive value have to be left out first ({} if none).
    """

    feasible: bool
    best: float | None = None
    message: str = ""
    hint: str = ""
    remove: Mapping[tuple[str, int], int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Model(ABC):
    """A named privacy model with its parameters, validated when made."""

    name: ClassVar[str]
    sentence: ClassVar[str]
    """What it promises, in one plain sentence."""
    blind_spot: ClassVar[str]
    """What it does not protect from, in one plain sentence."""

    def parameters(self) -> dict[str, Any]:
        """The parameters as the policy file writes them."""
        return {key: value for key, value in asdict(self).items() if value is not None}

    def __str__(self) -> str:
        inside = ", ".join(f"{k}={v}" for k, v in self.parameters().items())
        return f"{self.name}({inside})"

    def _require(self, condition: bool, message: str, hint: str) -> None:
        if not condition:
            raise PolicyError(f"{self.name}: {message}", hint=hint)


@dataclass(frozen=True, kw_only=True)
class OutputModel(Model):
    """A model that a recipient can check on the published table."""

    scope: ClassVar[Scope] = Scope.GROUP
    sensitive: ClassVar[bool] = False
    """Whether it judges sensitive values, and so has `on`."""
    monotone_generalization: ClassVar[bool] = True
    """Whether merging groups that meet it gives a group that meets it."""
    monotone_suppression: ClassVar[bool] = False
    """Whether leaving out any whole group keeps it met for the others."""

    def views(self, sensitive: Sequence[str]) -> tuple[View, ...]:
        """The histograms it needs on a table with these sensitive columns."""
        return ()

    @abstractmethod
    def verify(self, groups: Groups) -> Verdict:
        """Judge a whole table."""

    @abstractmethod
    def rules(self, sensitive: Sequence[str], *, subjects: bool) -> tuple[Rule, ...]:
        """The rules that, met by every group, make the table meet the model.

        For a table-scope model the rules are sufficient, not necessary.
        """

    @abstractmethod
    def feasibility(self, whole: Groups, *, removable: int) -> Feasibility:
        """Judge the table as one group, with up to `removable` rows left out."""


@dataclass(frozen=True, kw_only=True)
class SensitiveModel(OutputModel):
    """An output model on the values of one or more sensitive columns."""

    sensitive: ClassVar[bool] = True
    on: str | tuple[str, ...] | None = None
    """The columns; left out: every sensitive column."""
    level: int = 0
    """The level of the column's hierarchy on which values are told apart."""
    others_known: bool = False
    """Whether an attacker is taken to know the other sensitive columns."""

    def views(self, sensitive: Sequence[str]) -> tuple[View, ...]:
        names = sensitive if self.on is None else _listed(self.on)
        return tuple(View(name, self.level, self.others_known) for name in names)

    def histograms(self, groups: Groups) -> tuple[Histogram, ...]:
        """The histograms it judges on a table."""
        return tuple(groups.histograms[v] for v in self.views(groups.sensitive))


@dataclass(frozen=True, kw_only=True)
class ProcessModel(Model):
    """A model certified by how a release was made (a ledger), not by its cells."""


def parameter_names(model: type[Model]) -> tuple[str, ...]:
    """The names of a model's parameters, for the policy and the command line."""
    return tuple(f.name for f in fields(model))


def _listed(names: str | tuple[str, ...]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else names
