"""Compute the lower bound while algorithms search, on the cores that they leave idle.

Neither needs the other. A search has parts that run on one core, and so has the bound;
side by side they take less time than one after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from threading import Event
from types import TracebackType

from sfumato.algorithms.best.loss_bound import MeanLossBound
from sfumato.algorithms.request import Request

Compute = Callable[[Request], MeanLossBound | None]
TOLD_EVERY = 0.1
"""Seconds between two reports of progress while only the bound is waited for."""


class _NotNeededError(Exception):
    """The bound is not needed any more, because the search failed."""


@dataclass(eq=False)
class BoundAside:
    """A bound that is computed until the block of this context ends."""

    request: Request
    compute: Compute
    told: tuple[str, float] = ("computing the lower bound on the loss", 0.0)
    """How far it is."""
    _ended: Event = field(default_factory=Event)
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))
    _future: Future[MeanLossBound | None] | None = None

    def __enter__(self) -> BoundAside:
        """Begin, unless there is only one thread, or memory for one thing at a time."""
        if self.request.threads > 1 and not self.request.memory_short:
            quiet = replace(self.request, progress=self._note)
            self._future = self._pool.submit(self.compute, quiet)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it, even if nobody waited for it."""
        self._ended.set()
        self._pool.shutdown(wait=True)

    def result(self) -> MeanLossBound | None:
        """Wait for the bound, and report its progress meanwhile."""
        if self._future is None:
            return self.compute(self.request)
        while not wait([self._future], timeout=TOLD_EVERY).done:
            self.request.progress(*self.told)
        return self._future.result()

    def _note(self, step: str, share: float) -> None:
        """Take a report of progress; here the computation can be ended."""
        if self._ended.is_set():
            raise _NotNeededError
        self.told = step, share
