"""Report when Numba starts to compile."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from numba.core import event


class _FirstStart(event.Listener):
    """Calls `say` at the first event and never again."""

    def __init__(self, say: Callable[[], None]) -> None:
        self._say: Callable[[], None] | None = say

    def on_start(self, event: event.Event) -> None:
        say, self._say = self._say, None
        if say is not None:
            say()

    def on_end(self, event: event.Event) -> None:
        """A compilation that ends is not news."""


def first_compilation(say: Callable[[], None]) -> AbstractContextManager[Any]:
    """Call `say` once, when the first kernel inside begins to compile."""
    listening: AbstractContextManager[Any] = event.install_listener(
        "numba:compile", _FirstStart(say)
    )
    return listening
