"""Leave out the tests of Numba itself where it is not installed."""

from __future__ import annotations

from sfumato.kernels.compilation.decorators import has_compiler

ABOUT_NUMBA = [
    "common/test_random_streams.py",
    "test_compiling.py",
    "test_kernel_cache.py",
    "test_library.py",
    "test_platforms.py",
]
collect_ignore = [] if has_compiler() else ABOUT_NUMBA
