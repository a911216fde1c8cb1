"""Kernels compiled ahead of time are called by the kinds of their arguments."""

from __future__ import annotations

import ast
import json
import shutil
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pytest

from sfumato.kernels.compilation import library
from sfumato.kernels.compilation.decorators import pointer
from tests.conftest import absent
from tools.library.numba_code import VERSION, type_of
from tools.library.numba_code import kind_of as kind_of_type


class Pair(NamedTuple):
    """Two parts, one of them a tuple."""

    first: np.ndarray
    rest: tuple


VALUES = [
    1,
    True,
    2.5,
    None,
    np.int32(3),
    np.uint64(3),
    np.bool_(False),
    np.zeros(3, dtype=np.int32),
    np.zeros((2, 3)),
    np.zeros((2, 3)).T,
    np.zeros(6, dtype=np.int64)[::2],
    np.zeros(2, dtype=np.bool_),
    (1, 2.0),
    (),
    Pair(np.zeros(1), (1, (np.zeros(1, dtype=np.uint64),))),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda v: library.kind_of(v))
def test_a_value_has_the_kind_of_the_type_numba_takes_it_for(value):
    assert library.kind_of(value) == kind_of_type(numba.typeof(value), module=False)


@pytest.mark.parametrize("value", VALUES[:-1], ids=lambda v: library.kind_of(v))
def test_a_kind_stands_for_the_type_numba_takes_its_values_for(value):
    assert type_of(library.kind_of(value)) == numba.typeof(value)


def test_what_may_not_be_written_to_has_a_kind_of_its_own():
    fixed = np.zeros(3)
    fixed.flags.writeable = False
    assert library.kind_of(fixed) == "f8:1Cr"
    assert kind_of_type(numba.typeof(fixed), module=False) == "f8:1Cr"


def test_kinds_inside_tuples_stay_together():
    assert library.split_kinds("i8,Pair(f8:1C,(i8,i8)),p") == [
        "i8",
        "Pair(f8:1C,(i8,i8))",
        "p",
    ]
    assert library.split_kinds("") == []


def test_the_builder_was_written_for_the_installed_numba():
    assert numba.__version__.startswith(f"{VERSION}.")


@pytest.fixture
def fresh():
    library.usable.cache_clear()
    yield
    library.usable.cache_clear()


def test_a_library_of_other_sources_is_not_used(tmp_path, monkeypatch, fresh):
    index = {"hash": "0" * 64, "file": "kernels.so", "entries": []}
    (tmp_path / library.INDEX).write_text(json.dumps(index))
    monkeypatch.setattr(library, "_places", lambda: [tmp_path])
    assert library.usable() is None


def copied(place: Path) -> None:
    """Copy the library that serves the tests."""
    served = library.usable()
    if served is None:
        absent("No library of kernels is built: run `make library`.")
    shutil.copytree(served.path.parent, place)


def test_a_library_of_these_sources_is_used(tmp_path, monkeypatch, fresh):
    copied(tmp_path / "library")
    library.usable.cache_clear()
    monkeypatch.setenv(library.SWITCH, str(tmp_path / "library"))
    assert library.usable().path.parent == tmp_path / "library"


@pytest.mark.parametrize("damage", [b"", b"junk"])
def test_a_library_that_cannot_be_loaded_is_not_used(
    tmp_path, monkeypatch, fresh, damage
):
    index = {"hash": library.source_hash(), "file": "kernels.so", "entries": []}
    (tmp_path / library.INDEX).write_text(json.dumps(index))
    (tmp_path / "kernels.so").write_bytes(damage)
    monkeypatch.setattr(library, "_places", lambda: [tmp_path])
    assert library.usable() is None


def test_what_kernels_compile_in_is_part_of_the_hash():
    """A constant from a module that is not hashed could change unseen."""
    hashed = {
        path.relative_to(library.PACKAGE).as_posix() for path in library.sources()
    }
    types_alone = {"data/arrays.py"}
    for_python = {"hierarchies/sensitive_axis.py"}
    taken = {
        node.module.removeprefix("sfumato.").replace(".", "/") + ".py"
        for path in library.KERNELS.rglob("*.py")
        if path.parent != library.OPTIONS.parent
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module.startswith("sfumato.")
    }
    outside = {name for name in taken if not name.startswith("kernels/compilation/")}
    assert outside <= hashed | types_alone | for_python


def test_a_damaged_index_is_not_used(tmp_path, monkeypatch, fresh):
    (tmp_path / library.INDEX).write_text("{")
    monkeypatch.setattr(library, "_places", lambda: [tmp_path])
    assert library.usable() is None


def test_libraries_can_be_switched_off(monkeypatch, fresh):
    monkeypatch.setenv(library.SWITCH, "off")
    assert library.usable() is None


def test_a_pointer_is_compiled_once_for_the_same_kinds():
    def add(first: int, second: float) -> float:
        return first + second

    made = pointer(add, "float64", 1, 2.0)
    assert made.ctypes(1, 2.0) == 3.0
    assert pointer(add, "float64", 5, 6.0) is made
