"""The library and plain Python give the same bytes, on any threads.

A sample: `tools/same_results.py` compares all of them.
"""

from __future__ import annotations

import pytest

from sfumato.kernels.compilation import library
from tests.conftest import absent
from tools.same_results import PYTHON, across_threads, released, seeded, unequal

SAMPLE = ("datafly", "mondrian")


@pytest.fixture(scope="module")
def served() -> library.Library:
    found = library.usable()
    if found is None:
        absent("No library of kernels is built: run `make library`.")
    return found


@pytest.fixture(scope="module")
def from_library(served) -> list[str]:
    return released(200, seeded(), {})


def test_threads_do_not_show_in_what_the_library_releases(from_library):
    one, two = across_threads(from_library)
    assert one == two
    assert len(one) == 3 * len(seeded())


def test_nearly_every_request_is_released(from_library):
    """Errors would be equal, too."""
    assert sum(line.endswith("Error") for line in from_library) <= 6


@pytest.mark.slow
def test_kernels_run_as_python_release_what_the_library_does(served):
    assert released(60, SAMPLE, PYTHON) == released(60, SAMPLE, {})


def test_a_difference_is_counted_and_shown(capsys):
    assert unequal(
        "two ways", ["oka k 1 ab", "oka k 2 ab"], ["oka k 1 ab", "oka k 2 cd"]
    )
    assert "oka k 2 cd" in capsys.readouterr().out
