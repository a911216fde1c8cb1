"""How kernels are compiled, which takes seconds and happens once, and when they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numba
from numba.core import event

WITHOUT_DOOR = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""For kernels that only kernels call: a way in from Python takes long to compile."""

door = numba.njit(cache=True, nogil=True, no_cfunc_wrapper=True)
"""For kernels that only Python calls."""
inner = numba.njit(cache=True, nogil=True, **WITHOUT_DOOR)
inner_numpy = numba.njit(cache=True, nogil=True, error_model="numpy", **WITHOUT_DOOR)
"""The same, with divisions as NumPy does them."""


def types_of(*things: Any) -> list[Any]:
    """What compiled code takes these things for."""
    type_of: Any = numba.typeof
    return [type_of(thing) for thing in things]


@cache
def pointer(function: Any, signature: Any) -> Any:
    """A compiled function that others call without knowing its inside.

    It must not raise: nobody hears of it, and the call gives 0.
    """
    return numba.cfunc(signature, cache=True)(function.py_func)


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


@numba.njit(cache=True)
def wake() -> None:
    """Does nothing, but the first call of any kernel loads what all of them need."""


@contextmanager
def announced(say: Callable[[], None]) -> Iterator[None]:
    """Call `say` once, just before the first kernel inside is compiled.

    A kernel that is loaded from the cache of an earlier run is not compiled.
    """
    with event.install_listener("numba:compile", _FirstStart(say)):
        yield
