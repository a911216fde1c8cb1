"""Give the system what the C library keeps of freed memory."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any


def trim() -> bool:
    """Give back the pages of freed memory; whether the C library can do so (glibc)."""
    found = _malloc_trim()
    if found is None:
        return False
    found(0)
    return True


@cache
def _malloc_trim() -> Any:
    if sys.platform != "linux":
        return None
    return getattr(ctypes.CDLL(None), "malloc_trim", None)
