"""Let the first Ctrl-C end a search that is limited in seconds, with what it has found.

The search hears of it through its next report of progress, which raises
`KeyboardInterrupt`: `best` and refinement keep the best grouping so far, anything else
stops.
A second Ctrl-C ends the process, as does the first one where there is no such limit.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sfumato.cli.signals import GENTLE

if TYPE_CHECKING:
    from sfumato.cli.progress import Watcher
    from sfumato.policy import Policy

SEARCHED = "publish"
"""The step after which nothing is left to be ended early."""


class EarlyStop:
    """A progress callback that passes one request to stop on to the search."""

    def __init__(self, shown: Watcher) -> None:
        self.stop = threading.Event()
        self._shown = shown
        self._heard = False

    def __call__(self, step: str, share: float) -> None:
        """Report progress; raise once if somebody asked to stop the search."""
        self._heard |= step == SEARCHED
        if self.stop.is_set() and not self._heard:
            self._heard = True
            raise KeyboardInterrupt
        self._shown(step, share)


@contextmanager
def stopping_early(asked: Policy, shown: Watcher) -> Iterator[Watcher]:
    """Provide a progress callback for a policy's search."""
    if asked.algorithm.settings.get("seconds") is None:
        yield shown
        return
    early = EarlyStop(shown)
    GENTLE.enter(early.stop)
    try:
        yield early
    finally:
        GENTLE.leave()
