"""Every entry point that the catalogue reaches is listed, and the library has it."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from sfumato.kernels.compilation import library
from tests.conftest import absent
from tests.unit.kernels.python_calls import kernels_called
from tools.library import entry_points
from tools.library.build import demo_entries
from tools.library.reach import exists

NESTED = (
    "*module.judge(i8,Units(i8:1C,(f8,i8)),p[p[i8->b1],Units(i8:1C,(f8,i8))->n]->i8)",
    "module.kernel(Units(i8:1C),Units(i4:1C),n)",
    "module.nothing()",
)
POINTER = re.compile(r"p\[[^\[\]]*\]")


def test_a_list_reads_as_it_was_written(tmp_path):
    entry_points.write(NESTED, tmp_path / "list.json")
    assert entry_points.read(tmp_path / "list.json") == set(NESTED)


def test_the_list_is_as_its_writer_writes_it(tmp_path):
    """It is in one order and without shapes that nothing uses."""
    entry_points.write(entry_points.read(), tmp_path / "list.json")
    assert (tmp_path / "list.json").read_bytes() == entry_points.FILE.read_bytes()


def as_indexed(entry: str) -> tuple[str, str]:
    """An entry as a library's index has it, without the signatures of pointers."""
    function, takes = entry_points.parsed(entry)
    if function.startswith("*"):
        takes = takes.rpartition("->")[0]
    while POINTER.search(takes):
        takes = POINTER.sub("p", takes)
    return function, takes


def test_the_library_has_every_entry_point_of_the_list():
    served = library.usable()
    if served is None:
        absent("No library of kernels is built: run `make library`.")
    had = {(name, e.takes) for name, every in served.entries.items() for e in every}
    assert {as_indexed(entry) for entry in entry_points.read()} <= had


def test_every_kernel_that_python_names_is_listed():
    """Whatever the size of a table or its number of columns makes Python call."""
    listed = {entry_points.parsed(entry).function for entry in entry_points.read()}
    pointed = {name.removeprefix("*") for name in listed if name.startswith("*")}
    called = kernels_called(pointed)
    assert called - listed - pointed == set()
    assert len(called) > 40


def test_the_demo_has_entry_points():
    assert {entry.partition("(")[0] for entry in demo_entries()} >= {
        "sfumato.kernels.partition.gain_cut.cut_gain",
        "*sfumato.kernels.common.rule_pointers._counting_ok",
    }


@pytest.mark.slow
def test_the_list_has_every_entry_point_that_the_catalogue_reaches(repository):
    """All algorithms with their options, by rule families, by shapes of axes."""
    run = subprocess.run(
        [sys.executable, "-m", "tools.library.reach", "--check"],
        cwd=repository,
        env=os.environ,
        capture_output=True,
        text=True,
    )
    assert (run.returncode, run.stdout) == (0, ""), run.stderr


def test_every_listed_entry_names_a_kernel_that_exists():
    assert [entry for entry in entry_points.read() if not exists(entry)] == []


@pytest.mark.parametrize(
    "entry",
    ["sfumato.kernels.common.boxes.no_such_kernel(i8)", "sfumato.kernels.gone.f(i8)"],
)
def test_an_entry_of_a_kernel_that_is_gone_does_not_exist(entry):
    assert not exists(entry)
