"""What an attack is, what it is given, and what it reports.

The targets of an attack are people of the original, all of them or a sample. Every
attack says what its attacker knows, how often it succeeds, how often an attacker who
sees only the published marginals would succeed (the *baseline*), and, where it learns,
how often it succeeds on people who are not in the table (the *control*).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from sfumato.algorithms.base import Progress, silent
from sfumato.data.arrays import Codes, Flags, Floats, Ints
from sfumato.data.rules import View
from sfumato.data.safe_repr import SafeRepr, counted
from sfumato.data.seeds import Seed
from sfumato.models.base import TOLERANCE
from sfumato.risk.attacks.judgment import (
    WORST_LIMITS,
    Light,
    PromiseVerdict,
    Size,
    gain_over,
    gain_size,
    light_of,
    size_of,
)
from sfumato.risk.attacks.success_interval import mean_interval, rate_interval
from sfumato.risk.possible_worlds import Rerun
from sfumato.risk.table_pair import Pair

SAMPLE = 10_000
"""How many people are attacked by default."""
MOST_AT_RISK = 20
"""How many of them are named in the private facts."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AttackInput(SafeRepr):
    """The tables that an attack works on, and what the attacker knows."""

    pair: Pair
    known: tuple[str, ...] = ()
    """The columns whose values the attacker knows of the targets; empty: all
    quasi-identifiers."""
    views: tuple[View, ...] = ()
    """The sensitive columns to learn, and how; empty: all, value by value."""
    both: Pair | None = None
    """The same published table beside the original and a control: the rows of the
    original first, then people who are not in the table."""
    others: tuple[Pair, ...] = ()
    """Other releases of the same people, beside the same original; `source_row` numbers
    people who are not in it from its end on."""
    taken: Flags | None = None
    """The rows of the original that the release was made from; None: all."""
    rerun: Callable[[], Rerun] | None = None
    """Gives the algorithm and its request, for attacks that run it again."""
    sample: int = SAMPLE
    seed: Seed = field(default_factory=Seed.fresh)
    progress: Progress = silent

    def _summary(self) -> str:
        return counted(len(self.targets), "target")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the attacker knows."""
        return self.known or self.pair.quasi

    @property
    def secrets(self) -> tuple[View, ...]:
        """Return the sensitive columns that the attacker wants to learn."""
        return self.views or tuple(View(name) for name in self.pair.sensitive)

    @cached_property
    def targets(self) -> Ints:
        """The rows of the original that are attacked: all, or a sample."""
        return sampled(self.pair.rows, self.sample, self.seed.child("targets"))

    @cached_property
    def strangers(self) -> Ints:
        """The rows of `both` about people who are not in the table: all, or a sample."""
        number = 0 if self.both is None else self.both.rows - self.pair.rows
        drawn = sampled(number, self.sample, self.seed.child("control"))
        return self.pair.rows + drawn

    @cached_property
    def published_row(self) -> Ints | None:
        """The published row of each row of the original, −1 for none."""
        if self.pair.source_row is None:
            return None
        rows = np.full(self.pair.rows, -1, dtype=np.int64)
        rows[self.pair.source_row] = np.arange(self.pair.rows_out)
        return rows

    def leaves(self, rows: Ints) -> Codes:
        """(rows, known columns): what the attacker knows of rows of the original."""
        columns = [self.pair.original[name].codes[rows] for name in self.columns]
        return np.column_stack(columns) if columns else np.zeros((len(rows), 0), "i4")


def sampled(rows: int, most: int, seed: Seed) -> Ints:
    """All rows, or a random part of them, in order."""
    if rows <= most:
        return np.arange(rows)
    return np.sort(seed.permutation(rows)[:most])


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AttackResult(SafeRepr):
    """How an attack went; private, as it was measured on the original."""

    name: str
    """The attack, by its name in the catalogue."""
    known: tuple[str, ...]
    """The columns that the attacker knows."""
    n: int
    """How many people were attacked."""
    success: float
    """The share of them for whom the attack succeeds, or its mean figure."""
    low: float
    """The lower end of the 95% interval of the success."""
    high: float
    """The upper end of the 95% interval of the success."""
    baseline: float
    """The success of somebody who sees the published marginals alone."""
    control: float | None = None
    """The success on people who are not in the table, if there are any."""
    worst: float | None = None
    """The figure of the person, or group, that is worst off."""
    gain: float | None = None
    """The share of what guessing misses that the attack achieves; None where its
    success is not a share of people. Guessing is the control, if there is one."""
    gain_size: Size | None = None
    """Whether the gain is small, noticeable or large."""
    worst_size: Size | None = None
    """The same of the person who is worst off."""
    bound: float | None = None
    """What a model promises; None where none does."""
    on_average: bool = False
    """Whether the bound is on the success, and not on the worst figure."""
    column: str | None = None
    """The sensitive column that was attacked."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The options that the attack ran with."""
    at_risk: tuple[int, ...] = ()
    """The rows of the original that are worst off."""
    note: str = ""
    """How to read the figures, where they need it."""

    def _summary(self) -> str:
        return f"{self.name}: {self.success:.3g} of {self.n}"

    @property
    def exceeded(self) -> bool:
        """Whether the promise is broken."""
        if self.bound is None:
            return False
        figures = [self.success]
        if not self.on_average and self.worst is not None:
            figures.append(self.worst)
        return max(figures) > self.bound + TOLERANCE

    @property
    def promise(self) -> PromiseVerdict:
        """Whether the promised bound holds, if there is one."""
        if self.bound is None:
            return PromiseVerdict.NONE
        return PromiseVerdict.BROKEN if self.exceeded else PromiseVerdict.HOLDS

    @property
    def light(self) -> Light:
        """The worst of the promise, the gain and the worst person, as a color."""
        return light_of(self.promise, (self.gain_size, self.worst_size))

    def record(self) -> dict[str, Any]:
        """The result as one JSON object."""
        return {
            "name": self.name,
            "column": self.column,
            "known": list(self.known),
            "n": self.n,
            "success": self.success,
            "low": self.low,
            "high": self.high,
            "baseline": self.baseline,
            "control": self.control,
            "worst": self.worst,
            "bound": self.bound,
            "exceeded": self.exceeded,
            "promise": self.promise.value,
            "gain": self.gain,
            "gain_size": self.gain_size and self.gain_size.value,
            "worst_size": self.worst_size and self.worst_size.value,
            "light": self.light.value,
            "options": dict(self.options),
            "note": self.note,
        }

    def private_record(self) -> dict[str, Any]:
        """Return the same with the rows that are worst off, counted from 0."""
        return self.record() | {"at_risk": list(self.at_risk)}


@dataclass(frozen=True, kw_only=True)
class Attack(ABC):
    """A named attack; its fields are its options."""

    name: ClassVar[str]
    sentence: ClassVar[str]
    """What it tries to learn, in one plain sentence."""
    knows: ClassVar[str]
    """What its attacker knows, in one plain sentence."""
    learns: ClassVar[bool] = False
    """Whether it trains a model (extra `learn`)."""
    rate: ClassVar[bool] = True
    """Whether its success is a share of people, or a chance; else a mean figure."""
    slow: ClassVar[str] = ""
    """Why it takes much longer than others, which run before it; empty if it does not."""

    def refusal(self, scene: AttackInput) -> str | None:
        """Explain why it cannot run on these tables; None if it can."""
        return None

    @abstractmethod
    def run(self, scene: AttackInput) -> tuple[AttackResult, ...]:
        """Attack; one result, or one for each sensitive column."""

    def gain(self, share: float, baseline: float) -> float:
        """How much a share is above that of guessing."""
        return gain_over(share, baseline)

    def options(self) -> dict[str, Any]:
        """The options as a record."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def result(
        self,
        scene: AttackInput,
        chances: Floats,
        *,
        baseline: float,
        worst: float | None = None,
        control: float | None = None,
        column: str | None = None,
        rows: Ints | None = None,
        note: str = "",
    ) -> AttackResult:
        """The result from what the attack achieved on each target."""
        success = float(chances.mean()) if len(chances) else 0.0
        low, high = (rate_interval if self.rate else mean_interval)(chances)
        rows = scene.targets if rows is None else rows
        result = AttackResult(
            name=self.name,
            known=scene.columns,
            n=len(chances),
            success=success,
            low=low,
            high=high,
            baseline=baseline,
            control=control,
            worst=worst,
            column=column,
            options=self.options(),
            at_risk=most_at_risk(chances, rows),
            note=note,
        )
        return self._judged(result) if self.rate else result

    def _judged(self, result: AttackResult) -> AttackResult:
        """The result with its gain over guessing, and how large that is."""
        control, worst = result.control, result.worst
        guessing = result.baseline if control is None else control
        gain = self.gain(result.success, guessing)
        return replace(
            result,
            gain=gain,
            gain_size=gain_size(gain, self.gain(result.high, guessing)),
            worst_size=None
            if worst is None
            else size_of(self.gain(worst, guessing), WORST_LIMITS),
        )


def most_at_risk(chances: Floats, rows: Ints) -> tuple[int, ...]:
    """The rows with the largest chances, if there are any."""
    if len(rows) != len(chances):
        return ()
    order = np.argsort(-chances, kind="stable")[:MOST_AT_RISK]
    return tuple(int(rows[at]) for at in order if chances[at] > 0)


def under_bound(
    result: AttackResult, at_most: float, *, on_average: bool
) -> AttackResult:
    """Return the result together with what a model promises."""
    return replace(result, bound=at_most, on_average=on_average)
