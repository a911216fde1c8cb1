"""What a privacy model is.

A model checked on the *output* judges all groups of a published table at once from
their sizes and sensitive histograms (`OutputModel.verify`). Algorithms use its
compiled rule (`OutputModel.rules`) to judge one group at a time inside kernels. The
two forms are compared on random groups by the conformance checks. A model certified
by the *process* (`ProcessModel`) cannot be seen in a table at all.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Counts, Floats
from sfumato.data.option_examples import ParameterExamples
from sfumato.data.rules import SUBJECT, Rule, RuleKind, View
from sfumato.dp.cost import Cost
from sfumato.dp.ledger import Ledger
from sfumato.errors import PolicyError
from sfumato.hierarchies.axis import Axis

TOLERANCE = 1e-9
"""Two measures closer than this are equal: a limit that is met exactly is met."""

Target = tuple[tuple[str, str], ...]
"""Columns and the value that a cell of each has to show, in the order of columns."""


class Scope(StrEnum):
    """What a model needs to see to judge a table."""

    GROUP = "group"
    POPULATION = "population"
    TABLE = "table"


@dataclass(frozen=True, eq=False, kw_only=True)
class Histogram:
    """How often each value of one view occurs in each group.

    Sparse: the values of group g are `codes[starts[g]:starts[g + 1]]`, ascending and
    without zeros, with `counts` in parallel. With subjects, counts are persons.
    Its groups are the table's groups, except with `others_known`, where they are finer.
    No group is empty.
    """

    axis: Axis
    """The values: their order, numbers and hierarchy, at the view's level."""
    starts: Counts
    codes: npt.NDArray[np.int32]
    counts: Counts
    sizes: Counts
    """Rows, or persons, per group: the denominator of every share."""
    reference: Floats
    """The share of each value in the reference table (of its known cells alone, with
    `missing_any`)."""
    groups: Counts | None = None
    """The table's group of each of its groups; None: they are the same."""
    missing_any: bool = False
    """Whether a missing cell (`axis.missing`) may be any value, the worst one."""
    persons: npt.NDArray[Any] | None = None
    """With subjects: the persons that each entry counts, entry by entry."""

    @property
    def count(self) -> int:
        """How many groups it has."""
        return len(self.starts) - 1

    @property
    def owners(self) -> Counts:
        """The group of each entry."""
        return np.repeat(np.arange(self.count), np.diff(self.starts))

    def dense(self) -> Counts:
        """(groups, values) counts; for small tables and tests."""
        table = np.zeros((self.count, self.axis.size), dtype=np.int64)
        table[self.owners, self.codes] = self.counts
        return table

    def add_up(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The sum of `values`, one per entry, over each group."""
        return self._reduced(np.add, values)

    def largest(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The largest of `values`, one per entry, in each group."""
        return self._reduced(np.maximum, values)

    @cached_property
    def totals(self) -> Counts:
        """The sum of the counts of each group: its size, unless persons have several
        values."""
        return self.add_up(self.counts)

    @cached_property
    def shares(self) -> Floats:
        """Each entry's part of its group's distribution."""
        return self.counts / np.repeat(self.totals, np.diff(self.starts))

    def _reduced(self, how: np.ufunc, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if not len(values):
            return np.zeros(self.count, dtype=values.dtype)
        reduced: npt.NDArray[Any] = how.reduceat(values, self.starts[:-1])
        return reduced


@dataclass(frozen=True, eq=False)
class Matching:
    """How many rows of each group meet a target."""

    shown: Counts
    """Rows whose published cells show every value of it."""
    present: Counts | None = None
    """Rows that have its values in the source, where that is known."""
    rows: int | None = None
    """All rows, where groups may have rows in common."""


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
    population_outside: int = 0
    """Rows of the population table that match no group."""
    weights: Floats | None = None
    """Sum of the sampling weights per group, where a weight column is declared."""
    sensitive: tuple[str, ...] = ()
    """All sensitive columns of the table."""
    total: int | None = None
    """How many rows, or persons, there are in all; None: as many as sizes add up to."""
    matching: Mapping[Target, Matching] = field(default_factory=dict)
    """The rows that show what models ask about (`OutputModel.targets`)."""
    candidates: Candidates | None = None
    """Where a missing cell may be any value: the groups are then sets of candidates."""

    @property
    def count(self) -> int:
        return len(self.sizes)

    @property
    def published(self) -> Groups:
        """The groups of rows that show the same cells; no two have a row in common."""
        return self if self.candidates is None else self.candidates.published

    @property
    def people(self) -> Counts:
        """Return how many rows, or persons, each group is about."""
        if self.candidates is None:
            return self.sizes
        return self.candidates.published.sizes[self.candidates.owner]

    @property
    def everybody(self) -> int:
        """Count the rows, or different persons, in the whole table."""
        return int(self.sizes.sum()) if self.total is None else self.total

    @property
    def apart(self) -> bool:
        """Return whether every person's rows lie in one group, so that sizes add up."""
        return self.everybody == int(self.sizes.sum())


@dataclass(frozen=True, eq=False, kw_only=True)
class Candidates:
    """The candidates of each person when a missing cell may be any value.

    Each group is then the set of candidates of the people of one published group, for
    one way of filling in their missing cells. Such sets overlap.
    """

    published: Groups
    owner: Counts
    """The published group whose people each set is about."""
    blank: npt.NDArray[np.bool_]
    """(published groups, quasi-identifiers): the cells that are missing."""
    filled: npt.NDArray[np.int32]
    """(sets, quasi-identifiers): the cells of those people, filled in; −1 is a value
    that nobody shows."""


@dataclass(frozen=True)
class Verdict:
    """What a model found on a published table."""

    holds: bool
    measured: float | None
    """The tightest parameter that the table satisfies (k, l, t, …)."""
    offending: int = 0
    """How many groups break the requirement."""
    details: Mapping[str, Any] = field(default_factory=dict)
    broken: npt.NDArray[np.bool_] | None = field(
        default=None, compare=False, repr=False
    )
    """Which groups break it, where that can be said of groups."""
    readings: Mapping[str, Verdict] = field(default_factory=dict)
    """The verdict for each meaning of a missing cell, where there are several."""
    broken_limits: Mapping[str, float | None] = field(default_factory=dict)
    """Of a model with several limits, the worst figure of each that does not hold."""


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
    level: int = 0
    """The level of the hierarchy whose codes `remove` names."""
    other_ways: tuple[str, ...] = ()
    """What the hint names in addition to the model's own parameters."""
    parameter: str | None = None
    """The parameter that `best` is a value of; None: the model's only one."""


@dataclass(frozen=True, kw_only=True)
class AttackBound:
    """A promise about an attack of the catalogue: its figure is at most a number."""

    attack: str
    at_most: float
    on_average: bool = False
    """Whether the mean over all people is meant, and not everybody's own figure."""
    known: tuple[str, ...] = ()
    """The columns that the attacker knows; empty: all quasi-identifiers."""
    view: View | None = None
    """The sensitive column, its level and its reference, where one is attacked."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the attack under which the promise is made."""


@dataclass(frozen=True, kw_only=True)
class Model(ABC):
    """A named privacy model with its parameters, validated when made."""

    name: ClassVar[str]
    sentence: ClassVar[str]
    """What it promises, in one plain sentence."""
    blind_spot: ClassVar[str]
    """What it does not protect against, in one plain sentence."""
    examples: ClassVar[ParameterExamples] = ()
    """Parameters that the conformance checks try. A model without any fails them."""
    stricter_above: ClassVar[tuple[str, ...]] = (
        "k", "l", "p", "n", "r", "c2", "lower", "at_least",
    )  # fmt: skip
    """The parameters, if it has them, that ask for more where they are larger."""
    stricter_below: ClassVar[tuple[str, ...]] = (
        "alpha", "theta", "t", "beta", "delta", "epsilon", "c", "c1", "upper",
        "at_most", "significance",
    )  # fmt: skip
    """The parameters, if it has them, that ask for more where they are smaller."""
    choices_by_strictness: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Of parameters with named choices: the choices that compare, the loosest first."""
    never_weakening: ClassVar[tuple[str, ...]] = ()
    """The parameters that change how it is met, and not what it promises."""

    @abstractmethod
    def attack_bounds(
        self, quasi: Sequence[str], sensitive: Sequence[str]
    ) -> tuple[AttackBound, ...]:
        """What it promises about attacks; () says that it bounds none of them."""

    def parameters(self) -> dict[str, Any]:
        """The parameters as the policy file writes them."""
        chosen = asdict(self).items()
        return {key: value for key, value in chosen if value not in (None, ())}

    def __str__(self) -> str:
        inside = ", ".join(f"{k}={v}" for k, v in self.parameters().items())
        return f"{self.name}({inside})"

    def _require(self, condition: bool, message: str, hint: str) -> None:
        if not condition:
            raise PolicyError(f"{self.name}: {message}", hint=hint)

    def _require_count(self, name: str, value: float) -> None:
        self._require(
            _is_number(value) and value >= 1 and value == int(value),
            f"{name} is {value}.",
            f"{name} must be a whole number of at least 1.",
        )

    def _require_share(self, name: str, value: float, *, zero: bool = False) -> None:
        self._require(
            _is_number(value) and (0 < value <= 1 or (zero and value == 0)),
            f"{name} is {value}.",
            f"{name} must be {'at least' if zero else 'above'} 0 and at most 1.",
        )

    def _require_positive(self, name: str, value: float) -> None:
        self._require(
            _is_number(value) and value > 0,
            f"{name} is {value}.",
            f"{name} must be a number above 0.",
        )

    def _require_choice(self, name: str, value: str, choices: Sequence[str]) -> None:
        self._require(
            value in choices,
            f"{name} is '{value}'.",
            f"{name} must be one of: {', '.join(choices)}.",
        )


@dataclass(frozen=True, kw_only=True)
class OutputModel(Model):
    """A model that a recipient can check on the published table."""

    scope: ClassVar[Scope] = Scope.GROUP
    sensitive: ClassVar[bool] = False
    """Whether it judges sensitive values, and so has `on`."""
    needs_cells: ClassVar[bool] = False
    """Whether it is a promise about published cells, so that it says nothing about a
    table whose quasi-identifiers are published exactly."""
    holds_for_unions: ClassVar[bool] = True
    """Whether groups that meet its rules meet it together as well, so that it can be
    promised where a missing quasi-identifier may be any value."""
    counts_values: ClassVar[bool] = False
    """Whether it counts the rows that show certain values (`targets`)."""
    monotone_generalization: ClassVar[bool] = True
    """Whether merging two groups of a table that meets it gives a table that meets it
    (of rows, or of persons whose rows lie in one group)."""
    monotone_suppression: ClassVar[bool] = False
    """Whether leaving out any whole group keeps it met for the others."""
    needs_whole_persons: ClassVar[bool] = False
    """Whether its rules on groups suffice only if each person is in one group."""
    measures_lengths: ClassVar[bool] = False
    """Whether it measures how far apart sensitive numbers are, not their ranks."""
    definition: ClassVar[Callable[[Any, Any], bool] | None] = None
    """Whether one group (`testing.model_oracles.OracleGroup`) meets the model, in plain
    Python, for conformance checks of models whose definition they do not know."""

    @property
    def reads_population(self) -> bool:
        """Whether it counts the people of a population table who match a group."""
        return False

    @property
    def asks_for_everybody(self) -> bool:
        """Whether everybody of the population must match some group."""
        return False

    @property
    def judges_each_group(self) -> bool:
        """Whether it judges every group alone, and merging groups cannot break it."""
        return self.scope is Scope.GROUP and self.monotone_generalization

    @property
    def holds_for_whole(self) -> bool:
        """Whether a table, as one group, meets it wherever a release of it does."""
        return self.judges_each_group

    @property
    def judges_sizes(self) -> bool:
        """Whether it looks at the sizes of all groups and at nothing else, and leaving
        out the smallest groups helps most."""
        return False

    def settled(self, *, rows: int, weights: float | None) -> OutputModel:
        """Return the model with facts that only the table has (a sampling fraction)."""
        return self

    def expanded(
        self, counts: Callable[[str], Mapping[str, int]], *, k: int
    ) -> tuple[OutputModel, ...]:
        """The requirements it stands for on a table.

        `counts` says how often each value of a column occurs in the source, and `k` is
        the smallest group that the other requirements allow.
        """
        return (self,)

    def views(self, sensitive: Sequence[str]) -> tuple[View, ...]:
        """The histograms it needs on a table with these sensitive columns."""
        return ()

    def targets(self) -> tuple[Target, ...]:
        """The values whose rows it counts."""
        return ()

    @property
    def more_is_safer(self) -> bool:
        """Whether the larger of two measured values is the better one."""
        return False

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
    """Whether the attacker is assumed to know the other sensitive columns."""

    def views(self, sensitive: Sequence[str]) -> tuple[View, ...]:
        names = tuple(sensitive) if self.on is None else _listed(self.on)
        self._require(
            bool(names),
            "the table has no sensitive column.",
            "Give a column the role 'sensitive'.",
        )
        for name in names:
            self._require(
                name in sensitive,
                f"'{name}' is not a sensitive column.",
                f"'on' may name: {', '.join(sensitive) or 'nothing yet'}.",
            )
        return tuple(View(name, self.level, self.others_known) for name in names)

    def histograms(self, groups: Groups) -> tuple[Histogram, ...]:
        """The histograms it judges on a table."""
        return tuple(groups.histograms[v] for v in self.views(groups.sensitive))

    def _require_common(self) -> None:
        self._require(
            _is_number(self.level) and self.level >= 0 and self.level % 1 == 0,
            f"level is {self.level}.",
            "level must be a whole number of at least 0.",
        )


@dataclass(frozen=True, kw_only=True)
class ReferenceModel(SensitiveModel):
    """A sensitive model that compares groups with the distribution of a whole table."""

    reference: str = "published"
    """Whose distribution: of the "published" rows, or of the "source" (then provable
    only with the private record)."""

    def views(self, sensitive: Sequence[str]) -> tuple[View, ...]:
        plain = super().views(sensitive)
        return tuple(replace(view, reference=self.reference) for view in plain)

    def _require_common(self) -> None:
        super()._require_common()
        self._require_choice("reference", self.reference, ("published", "source"))


@dataclass(frozen=True, kw_only=True)
class ProcessModel(Model):
    """A model certified by how a release was made (a ledger), not by its cells."""

    @property
    @abstractmethod
    def cost(self) -> Cost:
        """Return the total that a release that meets it may cost."""

    @abstractmethod
    def certify(self, ledger: Ledger) -> Verdict:
        """Judge what a run spent."""


def parameter_names(model: type[Model]) -> tuple[str, ...]:
    """The names of a model's parameters, for the policy and the command line."""
    return tuple(f.name for f in fields(model))


def size_rule(k: float, *, subjects: bool) -> Rule:
    """A group holds at least k rows, or k persons where subjects are declared."""
    if subjects:
        return Rule(RuleKind.DISTINCT, SUBJECT, (k,))
    return Rule(RuleKind.SIZE, None, (k,))


def _is_number(value: object) -> bool:
    """Return whether a parameter is a finite number; booleans are not."""
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        # Not `isfinite`: a whole number may be larger than any float.
        and -math.inf < value < math.inf
    )


def _listed(names: str | tuple[str, ...]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else names
