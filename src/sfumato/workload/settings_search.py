"""Search settings one at a time for the lowest error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from types import MappingProxyType
from typing import Any

Settings = Mapping[str, Any]
"""Values by the key of a policy."""
FACTORS = (5.0, 2.0, 1.25)
"""By how much a weight is raised and lowered, coarse to fine. Five is the step of
Boger 2020, figure 6."""


@dataclass(frozen=True)
class TriedSettings:
    """Settings that were tried, and their error; infinite where no release was made."""

    settings: Settings
    error: float


@dataclass(frozen=True, kw_only=True)
class SearchSpace:
    """What may be changed, and the values that it has at first."""

    weights: Mapping[str, float]
    options: Mapping[str, Sequence[Any]]
    """The values that each option may have, the present one first."""

    @property
    def start(self) -> Settings:
        return {**self.weights, **{key: v[0] for key, v in self.options.items()}}


def search(
    field: SearchSpace, score: Callable[[Settings], float], *, trials: int
) -> tuple[TriedSettings, ...]:
    """Change one setting at a time and keep what lowers the error.

    Options come first, then weights by ever smaller factors, each factor until no
    single change helps. The first trial is the start; `best` returns the best.
    """
    record = _TrialRecord(score, trials)
    now = record.tried(field.start)
    now = _swept(record, now, lambda at: _other_options(field, at))
    for factor in FACTORS:
        improved = True
        while improved and not record.full:
            found = _swept(record, now, _reweighed(field, factor))
            improved, now = found.error < now.error, found
    return tuple(record.trials.values())


def best(trials: Sequence[TriedSettings]) -> TriedSettings:
    """The trial with the lowest error, the first of several."""
    return min(trials, key=lambda trial: trial.error)


class _TrialRecord:
    """A record of trials: nothing is tried twice, or more often than allowed."""

    def __init__(self, score: Callable[[Settings], float], limit: int) -> None:
        self.score, self.limit = score, limit
        self.trials: dict[tuple[tuple[str, Any], ...], TriedSettings] = {}

    @property
    def full(self) -> bool:
        return len(self.trials) >= self.limit

    def tried(self, settings: Settings) -> TriedSettings:
        key = tuple(sorted(settings.items()))
        if key not in self.trials:
            if self.full:
                return TriedSettings(settings, inf)
            frozen = MappingProxyType(dict(settings))
            self.trials[key] = TriedSettings(frozen, self.score(settings))
        return self.trials[key]


Changes = Callable[[Settings], Iterator[tuple[str, Any]]]


def _swept(record: _TrialRecord, now: TriedSettings, changes: Changes) -> TriedSettings:
    """Try each change once, starting from the best settings so far."""
    for key, value in changes(now.settings):
        found = record.tried({**now.settings, key: value})
        now = found if found.error < now.error else now
    return now


def _other_options(field: SearchSpace, _at: Settings) -> Iterator[tuple[str, Any]]:
    for key, values in field.options.items():
        for value in values[1:]:
            yield key, value


def _reweighed(field: SearchSpace, factor: float) -> Changes:
    def changes(at: Settings) -> Iterator[tuple[str, Any]]:
        for key in field.weights:
            yield key, at[key] * factor
            yield key, at[key] / factor

    return changes
