"""The one rule of which tests need Numba: nothing else asks whether it is installed.

Everything else passes on the library of compiled kernels alone. What is not installed is
not tested: these files are left out then, and so is a test of a kernel that calls it
with arguments of other kinds than the catalogue does, which no library has.
"""

from __future__ import annotations

import os

import pytest

from sfumato.kernels.compilation.decorators import has_compiler

FILES = (
    "unit/kernels/common/test_random_streams.py",
    "unit/kernels/test_compiling.py",
    "unit/kernels/test_fresh_compilation.py",
    "unit/kernels/test_kernel_cache.py",
    "unit/kernels/test_library.py",
    "unit/kernels/test_platforms.py",
)
"""Tests that compile, or look into Numba: paths in `tests`."""
KERNELS = "tests/unit/kernels/"
"""Tests that may call kernels in ways that the catalogue does not."""


def left_out() -> list[str]:
    """The files that are not collected here."""
    return [] if has_compiler() else [*FILES]


def may_compile() -> bool:
    """Whether the running test may have Numba compile; skip it where there is none."""
    if not os.environ.get("PYTEST_CURRENT_TEST", KERNELS).startswith(KERNELS):
        return False
    if not has_compiler():
        pytest.skip("Only Numba compiles this, and it is not installed.")
    return True
