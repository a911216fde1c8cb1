"""Numba's options for each sort of kernel. A change here changes the machine code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WITHOUT_DOOR = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""For kernels that only kernels call: a way in from Python takes long to compile."""
EVERY: Mapping[str, Any] = {"nogil": True}
DOOR: Mapping[str, Any] = {"no_cfunc_wrapper": True}
BOTH: Mapping[str, Any] = {}
BOTH_NUMPY: Mapping[str, Any] = {"error_model": "numpy"}
INNER: Mapping[str, Any] = WITHOUT_DOOR
INNER_NUMPY: Mapping[str, Any] = {"error_model": "numpy", **WITHOUT_DOOR}
INLINED: Mapping[str, Any] = {"inline": "always"}
INLINED_NUMPY: Mapping[str, Any] = {"inline": "always", "error_model": "numpy"}
