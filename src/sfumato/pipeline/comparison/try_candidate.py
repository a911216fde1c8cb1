"""Run one candidate: make its release, prove it, measure it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import pyarrow as pa

from sfumato.algorithms.base import Progress, silent
from sfumato.data.safe_repr import SafeRepr
from sfumato.data.seeds import Seed
from sfumato.errors import InfeasibleError, SfumatoError
from sfumato.io.memory import out_of_memory, ran_out
from sfumato.pipeline.advice.explained_refusal import out_of_reach
from sfumato.pipeline.build_request import coded_rows
from sfumato.pipeline.comparison.comparison_figures import Measuring, figures_of
from sfumato.pipeline.make_release import make_release
from sfumato.pipeline.release import Release
from sfumato.pipeline.run import Run
from sfumato.pipeline.shared_coding import SharedCoding
from sfumato.policy import Policy


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SharedWork(SafeRepr):
    """What all candidates of a comparison have in common."""

    source: pa.Table
    base: Path | None
    seed: Seed
    """Every candidate gets the same, so that none is luckier; a candidate that spends
    privacy budget draws its own."""
    threads: int
    measuring: Measuring
    coding: SharedCoding = field(default_factory=SharedCoding)

    def prepare(self, policy: Policy) -> None:
        """Code the source as most candidates read it, before any of them runs."""
        if not policy.process_models():
            coded_rows(self._run(policy, silent))

    def out_of_reach(self, policy: Policy) -> InfeasibleError | None:
        """The error of a policy that no release can meet; None if one may."""
        # Under a process model no cell may be read before the ledger is charged.
        if policy.process_models():
            return None
        return out_of_reach(self._run(policy, silent))

    def make(self, policy: Policy, progress: Progress = silent) -> Release:
        """Make the release of a candidate."""
        return make_release(self._run(policy, progress))

    def _run(self, policy: Policy, progress: Progress) -> Run:
        return Run(
            policy=policy,
            source=self.source,
            base=self.base,
            seed=Seed.fresh() if policy.process_models() else self.seed,
            threads=self.threads,
            progress=progress,
            coding=self.coding,
        )


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Why a candidate gave no release; no cell is in it."""

    kind: str
    message: str
    hint: str | None
    exit_code: int

    @classmethod
    def of(cls, fault: Exception) -> Failure:
        """Describe an error; of one that is not ours, only its type."""
        if ran_out(fault):
            fault = out_of_memory()
        if not isinstance(fault, SfumatoError):
            kind = type(fault).__name__
            return cls(
                kind=kind,
                message=f"An unexpected error of type {kind}.",
                hint="Run this candidate alone to report it.",
                exit_code=SfumatoError.exit_code,
            )
        return cls(
            kind=type(fault).__name__,
            message=fault.message,
            hint=fault.hint,
            exit_code=fault.exit_code,
        )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Outcome(SafeRepr):
    """What became of a candidate that was run."""

    seconds: float
    figures: Mapping[str, float] = field(default_factory=dict)
    not_measured: Mapping[str, str] = field(default_factory=dict)
    requirements: Sequence[Mapping[str, Any]] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    """Rows, groups and suppressed rows of the release."""
    loss_by_column: Mapping[str, float] = field(default_factory=dict)
    group_sizes: Sequence[Mapping[str, int]] = ()
    failure: Failure | None = None
    release: Release | None = None
    """Kept only where it cannot be made again: under a process model."""

    def _summary(self) -> str:
        return "finished" if self.failure is None else "failed"


COUNTS = ("rows_out", "groups", "rows_suppressed")


def try_candidate(
    work: SharedWork, policy: Policy, progress: Progress = silent
) -> Outcome:
    """Run a candidate; a failure is an outcome, too."""
    started = perf_counter()
    try:
        release = work.make(policy, lambda step, share: progress(step, 0.9 * share))
        progress("measure", 0.9)
        found = figures_of(release, work.source, work.measuring)
    except Exception as fault:
        seconds = perf_counter() - started
        return Outcome(seconds=seconds, failure=Failure.of(fault))
    manifest, facts = release.manifest, release.facts
    columns = facts.get("columns", {})
    return Outcome(
        seconds=perf_counter() - started,
        figures=found.values,
        not_measured=found.missing,
        requirements=release.verdicts,
        counts={name: manifest[name] for name in COUNTS if name in manifest},
        loss_by_column={n: c["ncp"] for n, c in columns.items() if "ncp" in c},
        group_sizes=tuple(facts.get("group_sizes", ())),
        release=release if policy.process_models() else None,
    )
