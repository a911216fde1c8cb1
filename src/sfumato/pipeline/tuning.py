"""Fit weights and options to a workload, under the same requirements."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from math import inf
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pyarrow as pa

from sfumato.algorithms.base import Algorithm, Progress, silent
from sfumato.data.arrays import Floats
from sfumato.data.result_classes import comes_from
from sfumato.data.safe_repr import SafeRepr, counted
from sfumato.data.schema import Role
from sfumato.data.seeds import Seed
from sfumato.errors import InfeasibleError, PolicyError, RefusedError, SearchError
from sfumato.pipeline.make_release import make_release
from sfumato.pipeline.run import Run
from sfumato.pipeline.workload_tables import QueriedSource, queried_source
from sfumato.policy import Policy
from sfumato.publish.base import Form
from sfumato.workload.answer_errors import ErrorMeasure, Estimate, bootstrap, ratio
from sfumato.workload.queries import Query, Split, Workload, split
from sfumato.workload.settings_search import (
    SearchSpace,
    Settings,
    TriedSettings,
    best,
    search,
)

SWAP_DRAWS = 5
"""Draws over which the error of a swapped table is averaged."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Tuning(SafeRepr):
    """What to tune, and for how long."""

    policy: Policy
    source: pa.Table
    workload: Workload
    base: Path | None = None
    measure: ErrorMeasure | None = None
    """None: χ² if a query has a breakdown, relative error otherwise."""
    train_share: float = 0.5
    trials: int = 40
    keep: tuple[str, ...] = ()
    """Columns and algorithm options that are not tuned."""
    split_seed: int = 0
    seed: Seed = field(default_factory=Seed.fresh)
    threads: int = field(default_factory=lambda: os.cpu_count() or 1)
    progress: Progress = silent


@comes_from("sfumato.tune(data, policy, workload)")
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Tuned(SafeRepr):
    """The policy with the lowest training error, and its error on unseen queries.

    Example:
        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> people = pa.table({"age": [23, 25, 31, 34], "ill": list("abab")})
        >>> from sfumato.workload.queries import Query
        >>> asked = sf.Workload(queries=(Query(), Query(histogram="ill")))
        >>> policy = sf.Policy.build(quasi="age", sensitive="ill", k=2)
        >>> found = sf.tune(people, policy, asked, trials=1, insecure_seed=1)
        >>> found.better, found.train_queries, found.held_out_queries
        (False, 1, 1)
    """

    policy: Policy
    """The tuned policy."""
    changes: Settings
    """The settings that differ from the given policy."""
    measure: ErrorMeasure
    """The error that was lowered."""
    trials: tuple[TriedSettings, ...]
    """Every setting that was tried, with its training error."""
    train_queries: int
    """How many queries the search saw."""
    held_out_queries: int
    """How many queries it never saw."""
    train: Estimate
    """Mean training error of the tuned policy."""
    train_before: Estimate
    """Mean training error of the given policy."""
    held_out: Estimate
    """Mean error of the tuned policy on queries that the search never saw."""
    held_out_before: Estimate
    """Mean error of the given policy on queries that the search never saw."""
    train_ratio: Estimate
    """Training error in percent of the error before tuning."""
    held_out_ratio: Estimate
    """Held-out error in percent of the error before tuning. The excess over
    `train_ratio` is over-fitting."""

    def _summary(self) -> str:
        verdict = "better" if self.better else "not better"
        return f"{verdict} after {counted(len(self.trials), 'trial')}"

    @property
    def better(self) -> bool:
        """Whether the held-out error fell by more than chance explains."""
        # If the error before was 0, the ratio is 0 and says nothing.
        lower = self.held_out.value < self.held_out_before.value
        return lower and self.held_out_ratio.high < 100.0

    def record(self) -> dict[str, Any]:
        """Every figure, machine-readable."""
        return {
            "better": self.better,
            "measure": self.measure,
            "changes": dict(self.changes),
            "train": _part(
                self.train_queries, self.train_before, self.train, self.train_ratio
            ),
            "held_out": _part(
                self.held_out_queries,
                self.held_out_before,
                self.held_out,
                self.held_out_ratio,
            ),
            "trials": [
                {"settings": dict(each.settings), "error": each.error}
                for each in self.trials
            ],
        }


def tune(tuning: Tuning) -> Tuned:
    """Search on a part of the workload, and judge the result on the rest.

    The held-out part is judged on fresh draws, so the search saw neither its queries
    nor its random numbers.
    """
    _refuse(tuning.policy)
    asked = queried_source(tuning.policy, tuning.source, tuning.workload, tuning.base)
    parts = split(asked.queries, share=tuning.train_share, seed=tuning.split_seed)
    releases = _ReleaseTrials(tuning, asked, tuning.measure or _fitting(asked.queries))
    room = room_of(tuning.policy, keep=tuning.keep)
    trials = search(room, _Scorer(releases, parts.train), trials=tuning.trials)
    if trials[0].error == inf:
        releases.errors(tuning.policy, parts.train, "train")
    chosen = best(trials)
    changes = {
        key: value for key, value in chosen.settings.items() if value != room.start[key]
    }
    return _judged(releases, parts, trials, changes)


def room_of(policy: Policy, *, keep: Sequence[str] = ()) -> SearchSpace:
    """What can be tuned: weights of quasi-identifiers, and options with few values."""
    quasi = policy.names(Role.QUASI)
    algorithm = policy.algorithm_instance()
    options = _options(algorithm)
    strange = [name for name in keep if name not in (*quasi, *options)]
    if strange:
        raise PolicyError(
            f"'{strange[0]}' is neither a quasi-identifier nor a tunable option.",
            hint=f"Known here: {', '.join((*quasi, *options))}.",
        )
    return SearchSpace(
        weights={
            f"columns.{json.dumps(name)}.weight": policy.column(name).weight
            for name in quasi
            if name not in keep
        },
        options={
            f"algorithm.{name}": values
            for name, values in options.items()
            if name not in keep
        },
    )


def _options(algorithm: Algorithm) -> dict[str, list[Any]]:
    """Options that are Booleans or one of a few words; the current value first."""
    hints = get_type_hints(type(algorithm))
    found = {}
    for each in fields(algorithm):
        hint, present = hints[each.name], getattr(algorithm, each.name)
        values = list(get_args(hint)) if get_origin(hint) is Literal else []
        values = [True, False] if hint is bool else values
        if present in values:
            found[each.name] = [present, *(v for v in values if v != present)]
    return found


@dataclass(frozen=True, eq=False)
class _ReleaseTrials:
    """Makes releases and measures their errors."""

    tuning: Tuning
    queried_source: QueriedSource
    measure: ErrorMeasure

    def errors(self, policy: Policy, queries: Sequence[Query], phase: str) -> Floats:
        """The error of each query, averaged over the draws of a swap."""
        form = policy.operator_instance().form
        draws = SWAP_DRAWS if form is Form.SWAPPED else 1
        drawn = [self._drawn(policy, queries, phase, i) for i in range(draws)]
        return np.asarray(np.mean(drawn, axis=0))

    def _drawn(
        self, policy: Policy, queries: Sequence[Query], phase: str, draw: int
    ) -> Floats:
        made = make_release(
            Run(
                policy=policy,
                source=self.tuning.source,
                base=self.tuning.base,
                seed=self.tuning.seed.child("tune", phase, draw),
                threads=self.tuning.threads,
            )
        )
        found = self.queried_source.error(made.table, made.beside, queries=queries)
        return found.of(self.measure)


class _Scorer:
    """The mean training error of settings; infinite if they give no release."""

    def __init__(self, releases: _ReleaseTrials, queries: Sequence[Query]) -> None:
        self.releases, self.queries, self.done = releases, queries, 0

    def __call__(self, settings: Settings) -> float:
        tuning = self.releases.tuning
        tuning.progress("tune", min(self.done / max(tuning.trials, 1), 1.0))
        self.done += 1
        try:
            policy = changed(tuning.policy, settings)
            return float(self.releases.errors(policy, self.queries, "train").mean())
        except (InfeasibleError, SearchError, RefusedError):
            return inf


def changed(policy: Policy, settings: Settings) -> Policy:
    """Change some settings of a policy."""
    written = {key: _written(value) for key, value in settings.items()}
    return policy.with_settings(written) if written else policy


def _written(value: Any) -> Any:
    """Quote texts, so that none is read as a number or a date."""
    return json.dumps(value) if isinstance(value, str) else value


def _judged(
    releases: _ReleaseTrials,
    parts: Split,
    trials: tuple[TriedSettings, ...],
    changes: Settings,
) -> Tuned:
    before, after = releases.tuning.policy, changed(releases.tuning.policy, changes)
    train = [releases.errors(each, parts.train, "train") for each in (before, after)]
    unseen = [
        releases.errors(each, parts.held_out, "held out") for each in (before, after)
    ]
    return Tuned(
        policy=after,
        changes=changes,
        measure=releases.measure,
        trials=trials,
        train_queries=len(parts.train),
        held_out_queries=len(parts.held_out),
        train=_mean(train[1]),
        train_before=_mean(train[0]),
        held_out=_mean(unseen[1]),
        held_out_before=_mean(unseen[0]),
        train_ratio=ratio(train[1], train[0]),
        held_out_ratio=ratio(unseen[1], unseen[0]),
    )


def _mean(errors: Floats) -> Estimate:
    return bootstrap(errors[None, :], lambda drawn: np.asarray(drawn[0].mean(axis=-1)))


def _fitting(queries: Sequence[Query]) -> ErrorMeasure:
    return "chi2" if any(query.keys for query in queries) else "relative"


def _part(
    queries: int, before: Estimate, after: Estimate, percent: Estimate
) -> dict[str, Any]:
    return {
        "queries": queries,
        "error_before": before.record(),
        "error": after.record(),
        "percent_of_before": percent.record(),
    }


def _refuse(policy: Policy) -> None:
    if policy.process_models():
        raise RefusedError(
            f"Tuning would look at the data outside {policy.process_models()[0].name}: "
            "every trial spends budget, and so does every error that is measured.",
            hint="Choose weights and options without the data.",
        )
