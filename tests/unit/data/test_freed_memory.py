"""Freed memory is given back where the C library can do so."""

from __future__ import annotations

import sys

import pytest

from sfumato.data import freed_memory


@pytest.fixture(autouse=True)
def looked_up_again():
    freed_memory._malloc_trim.cache_clear()
    yield
    freed_memory._malloc_trim.cache_clear()


def test_other_systems_are_left_alone(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not freed_memory.trim()


def test_a_library_that_cannot_trim_is_left_alone(monkeypatch):
    monkeypatch.setattr("ctypes.CDLL", lambda _name: object())
    assert not freed_memory.trim()


def test_the_library_is_asked_to_trim_everything(monkeypatch):
    asked: list[int] = []
    library = type("Library", (), {"malloc_trim": staticmethod(asked.append)})
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr("ctypes.CDLL", lambda _name: library)
    assert freed_memory.trim()
    assert asked == [0]
