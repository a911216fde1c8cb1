"""The user is told once when kernels are compiled, and not when they are loaded."""

from __future__ import annotations

import numba
import pytest

from sfumato.kernels.compilation import library
from sfumato.kernels.compilation.decorators import announced


@pytest.fixture(autouse=True)
def no_library(monkeypatch):
    """Numba compiles here, whatever library there is."""
    monkeypatch.setattr(library, "usable", lambda: None)


def fresh_kernel():
    """A kernel that nobody has compiled yet."""
    return numba.njit(lambda number: number + 1)


def test_two_compilations_are_told_once():
    said: list[str] = []
    with announced(lambda: said.append("compiling")):
        assert fresh_kernel()(1) == 2
        assert fresh_kernel()(2) == 3
    assert said == ["compiling"]


def test_a_compiled_kernel_is_not_told():
    kernel = fresh_kernel()
    kernel(1)
    said: list[str] = []
    with announced(lambda: said.append("compiling")):
        kernel(2)
    assert said == []


def test_nothing_is_told_afterwards():
    said: list[str] = []
    with announced(lambda: said.append("compiling")):
        pass
    fresh_kernel()(1)
    assert said == []
