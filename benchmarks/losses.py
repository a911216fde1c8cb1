"""The lowest loss: whole releases of real tables, and what their search took."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

import sfumato as sf
from benchmarks.measure import Facts, Job
from benchmarks.ours import THREADS
from benchmarks.scoring import records_of, score
from benchmarks.settings import SETTINGS, Setting
from sfumato.data.seeds import Seed

REFINING = "refining groups"
"""How the reports of progress of refinement begin."""
FIRST_ROWS = 3000
"""Rows of the release that is made before, so that kernels are compiled and loaded."""


@dataclass(eq=False)
class Watch:
    """Takes the CPU time of the search alone, out of the reports of progress."""

    seconds: dict[str, float] = field(default_factory=dict)

    def __call__(self, step: str, _share: float) -> None:
        """Note the time at which a step begins."""
        if step in ("solve", "publish"):
            self.seconds[step] = time.process_time()
        if step == "solve":
            self.seconds.pop(REFINING, None)
        if step.startswith(REFINING):
            self.seconds.setdefault(REFINING, time.process_time())

    @property
    def search(self) -> float:
        """What lay between the begin of the search and the begin of publication."""
        return self.seconds["publish"] - self.seconds["solve"]

    @property
    def refinement(self) -> Facts:
        """What of it lay behind the begin of refinement, where there was any."""
        if REFINING not in self.seconds:
            return {}
        return {
            "refinement_cpu_seconds": self.seconds["publish"] - self.seconds[REFINING]
        }


def release(
    *,
    setting: str,
    rows: int | None,
    k: int,
    algorithm: str,
    known: Mapping[str, float],
) -> Job:
    """A release in memory; `algorithm` is its section of the policy.

    Figures that are known already are told beside what is measured.
    """
    asked = SETTINGS[setting]
    table = asked.table()
    table = table if rows is None else table.slice(0, rows)
    policy = sf.Policy.parse(asked.policy(k, algorithm))
    watch = Watch()

    def work(part: pa.Table) -> sf.Release:
        seed = Seed.guessable(1)
        return sf.anonymize(part, policy, seed=seed, threads=THREADS, progress=watch)

    def facts(made: sf.Release) -> Facts:
        return {
            "search_cpu_seconds": watch.search,
            **watch.refinement,
            **_bound(made),
            **known,
            **_scored(made, asked, table, k),
        }

    if "seconds" not in algorithm:
        work(table.slice(0, FIRST_ROWS))
    return Job(work=lambda: work(table), facts=facts)


def _bound(made: sf.Release) -> Facts:
    """The lower bound on the loss that the report tells, where there is one."""
    bound = made.audit["report"]["algorithm"].get("bound")
    return {"lower_bound": bound["at_least"]} if isinstance(bound, dict) else {}


def _scored(made: sf.Release, asked: Setting, table: pa.Table, k: int) -> Facts:
    domains, readers = asked.scale(table)
    columns = [
        made.table.column(name).cast(pa.string()).to_pylist() for name in asked.quasi
    ]
    found = score(records_of(columns, readers), domains, rows=table.num_rows, k=k)
    return found.facts()
