"""The inputs of one run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import pyarrow as pa

from sfumato.algorithms.base import Algorithm, Progress, silent
from sfumato.data.disk_arrays import IN_MEMORY, MemoryArrays
from sfumato.data.safe_repr import SafeRepr
from sfumato.data.seeds import Seed
from sfumato.data.source import coded_texts, with_texts
from sfumato.io.trim import trimmed
from sfumato.pipeline.missing_cells import with_empty_mark
from sfumato.pipeline.out_of_core import OutOfCore
from sfumato.pipeline.shared_coding import SharedCoding
from sfumato.policy import Policy
from sfumato.publish.base import Operator


@dataclass(eq=False, repr=False, kw_only=True)
class Run(SafeRepr):
    """What is asked: a source, a policy with its algorithm and operator, a seed."""

    policy: Policy
    """As given; where the source has nulls, the empty text is a missing mark too."""
    source: pa.Table
    base: Path | None = None
    """Where the policy's relative paths start."""
    after: tuple[Path, ...] = ()
    """The directories of earlier releases of the same people."""
    seed: Seed = field(default_factory=Seed.fresh)
    threads: int = field(default_factory=lambda: os.cpu_count() or 1)
    progress: Progress = silent
    coding: SharedCoding = field(default_factory=SharedCoding)
    """What runs on the same source share."""
    out_of_core: OutOfCore | None = None
    """Where a table that does not fit in memory is kept and counted."""
    origin: Any = None
    """What the caller passed in; says the format of the release's file."""
    algorithm: Algorithm = field(init=False)
    operator: Operator = field(init=False)
    seconds: dict[str, float] = field(init=False, default_factory=dict)
    """The time that each step took."""

    def __post_init__(self) -> None:
        if self.policy.publish.trim:
            self.source = trimmed(self.source)
        self.policy = with_empty_mark(self.policy, self.source)
        self.algorithm = self.policy.algorithm_instance()
        self.operator = self.policy.operator_instance()

    @contextmanager
    def step(self, name: str, share: float) -> Iterator[None]:
        """Announce a step and time it."""
        self.progress(name, share)
        started = perf_counter()
        yield
        self.seconds[name] = round(perf_counter() - started, 4)
        self.arrays.release()

    @property
    def arrays(self) -> MemoryArrays:
        """Where arrays of many rows are kept."""
        return IN_MEMORY if self.out_of_core is None else self.out_of_core.disk

    @property
    def plain_texts(self) -> frozenset[str]:
        """Columns that are published as plain text, and kept as dictionaries."""
        held = self.out_of_core
        texts = coded_texts(self.source) if held is None else held.plain_texts
        return texts | self.policy.banded()


def replaced(
    run: Run, *, policy: Policy | None = None, progress: Progress | None = None
) -> Run:
    """The same run with another policy or another watcher; its source has texts."""
    return Run(
        policy=policy or run.policy,
        source=with_texts(run.source),
        base=run.base,
        after=run.after,
        seed=run.seed,
        threads=run.threads,
        progress=progress or run.progress,
        out_of_core=run.out_of_core,
        origin=run.origin,
    )


def wake_compiler() -> None:
    """Load the compiler while the file is read: each can take seconds."""
    from sfumato.kernels.compilation.decorators import wake

    wake()
