"""What Numba compiles is what the library has, wherever it is compiled."""

from __future__ import annotations

from pathlib import Path

import numba
import pytest

from sfumato.kernels.compilation import library
from tests.conftest import absent
from tools.library.build import build
from tools.library.targets import here
from tools.same_results import FRESH, released

SAMPLE = ("datafly", "mondrian")
RAISING = "tests.unit.kernels.raising_kernel.halved(i8)"


@pytest.fixture(scope="module")
def served() -> library.Library:
    found = library.usable()
    if found is None:
        absent("No library of kernels is built: run `make library`.")
    return found


@pytest.mark.slow
def test_fresh_compilation_releases_what_the_library_does(served, repository):
    cache = {"SFUMATO_CACHE_DIR": str(repository / "build" / "kernels")}
    compiled = released(200, SAMPLE, {**FRESH, **cache})
    assert compiled == released(200, SAMPLE, {})


@pytest.fixture(scope="module")
def built_twice(tmp_path_factory) -> list[bytes]:
    """The same library, made in two places."""
    places = [tmp_path_factory.mktemp(name) for name in ("here", "elsewhere")]
    return [build(place, [here()], [RAISING])[0].read_bytes() for place in places]


@pytest.mark.slow
def test_a_library_is_the_same_wherever_it_is_made(built_twice):
    first, second = built_twice
    assert first == second


@pytest.mark.slow
def test_a_library_names_no_file_of_the_machine_that_made_it(built_twice):
    assert b"ValueError" in built_twice[0]
    assert b"raising_kernel.py" not in built_twice[0]


def test_the_library_names_no_directory_of_this_machine(served, repository):
    code = served.path.read_bytes()
    compiler = Path(numba.__file__).parent
    assert [
        place for place in (repository, compiler) if f"{place}/".encode() in code
    ] == []
