"""A cache of compiled kernels that never stops a run.

Numba's own cache fails if it finds no place to write to, if the disk is full, or if a file
is damaged. Ours has more places (`cache_places.py`), and what cannot be loaded or saved
is compiled again. Numba has no setting for this, so we replace its cache factory for our
own functions.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numba
from numba.core import ccallback, dispatcher
from numba.core.caching import FunctionCache, NullCache

from sfumato.kernels.compilation.cache_places import cache_place

OURS = "sfumato."


class KernelCache(FunctionCache):
    """Loads and saves compiled functions, where that can be done."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What was compiled before; None where there is nothing whole."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            # Damaged: start over, because the next function is saved next to it.
            with suppress(Exception):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(Exception):
            super().save_overload(sig, data)


def cache_of(function: Callable[..., Any]) -> Any:
    """The cache of a compiled function, ours or another's."""
    if not function.__module__.startswith(OURS):
        return FunctionCache(function)
    place = cache_place()
    if place.directory is None:
        return NullCache()
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = "" if place.beside_code else str(place.directory)
    try:
        return KernelCache(function)
    except (RuntimeError, OSError):
        return NullCache()
    finally:
        numba.config.CACHE_DIR = before


def install() -> None:
    """Have Numba ask us for caches."""
    dispatcher.FunctionCache = cache_of
    ccallback.FunctionCache = cache_of
