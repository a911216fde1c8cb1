"""The cache of compiled kernels: where it is, and that it never stops a run."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numba
import pytest
from numba.core.caching import FunctionCache

from sfumato.kernels.compilation import cache_places as places
from sfumato.kernels.compilation import decorators, library
from sfumato.kernels.compilation import safe_cache as caching
from sfumato.kernels.compilation.cache_places import Place, cache_place

# A directory that nobody can make, be it root.
NOWHERE = Path(os.devnull) / "cache"

# Compiles one kernel, or loads it, and tells from where.
WAKE = """
import sys
from sfumato.kernels.compilation import cache_places as places
if sys.argv[1:]:
    places._usable = lambda place: False
from sfumato.kernels.compilation.decorators import wake
wake()
found = wake.stats
print(found.cache_path, sum(found.cache_hits.values()))
"""


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch):
    """Each test looks for a place anew."""
    for name in (places.OURS, places.NUMBAS, "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    cache_place.cache_clear()
    yield
    cache_place.cache_clear()


@pytest.fixture
def read_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can be written beside the code."""
    monkeypatch.setattr(places, "__file__", str(NOWHERE / "cache_places.py"))


def test_the_cache_is_beside_the_code():
    found = cache_place()
    assert found.beside_code
    assert found.directory == Path(places.__file__).parent / "__pycache__"


@pytest.mark.parametrize("name", [places.OURS, places.NUMBAS])
def test_the_cache_moves_to_where_it_is_told(monkeypatch, tmp_path, name):
    monkeypatch.setenv(name, str(tmp_path / "kernels"))
    assert cache_place() == Place(tmp_path / "kernels", f"named by {name}")


def test_our_own_setting_goes_before_numbas(monkeypatch, tmp_path):
    monkeypatch.setenv(places.OURS, str(tmp_path / "ours"))
    monkeypatch.setenv(places.NUMBAS, str(tmp_path / "numbas"))
    assert cache_place().directory == tmp_path / "ours"


def test_a_relative_place_is_seen_from_the_working_directory(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(places.OURS, "kernels")
    assert cache_place().directory == tmp_path / "kernels"


@pytest.mark.usefixtures("read_only")
def test_a_read_only_install_uses_the_users_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_place() == Place(tmp_path / "sfumato", "the user's cache")


@pytest.mark.usefixtures("read_only")
def test_without_a_home_a_temporary_directory_is_used(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(NOWHERE))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    found = cache_place()
    assert found.directory == tmp_path / f"sfumato-{os.getuid()}"
    assert found.directory.stat().st_mode & 0o777 == 0o700


@pytest.mark.usefixtures("read_only")
def test_a_temporary_directory_that_others_can_write_to_is_not_used(
    monkeypatch, tmp_path
):
    """What is loaded from the cache is run: nobody else may put a file there."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(NOWHERE))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / f"sfumato-{os.getuid()}").mkdir()
    (tmp_path / f"sfumato-{os.getuid()}").chmod(0o777)
    assert cache_place().directory is None


@pytest.mark.usefixtures("read_only")
def test_a_link_in_the_temporary_directory_is_not_followed(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(NOWHERE))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "other").mkdir(mode=0o700)
    (tmp_path / f"sfumato-{os.getuid()}").symlink_to(tmp_path / "other")
    assert cache_place().directory is None


@pytest.mark.usefixtures("read_only")
def test_without_any_place_kernels_are_not_kept(monkeypatch):
    monkeypatch.setenv(places.OURS, str(NOWHERE))
    monkeypatch.setenv("XDG_CACHE_HOME", str(NOWHERE))
    monkeypatch.setattr(tempfile, "tempdir", str(NOWHERE))
    assert cache_place() == Place(None, "no directory can be written to")


def woken(directory: Path, *words: str) -> list[str]:
    """Where a fresh process keeps a kernel, and how many it found there."""
    run = subprocess.run(
        [sys.executable, "-c", WAKE, *words],
        env={**os.environ, places.OURS: str(directory), library.SWITCH: "off"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


def test_a_run_without_any_place_compiles_and_goes_on(tmp_path):
    assert woken(tmp_path, "nowhere") == ["None", "0"]


@pytest.mark.parametrize("damage", [b"", b"junk", b"\x80\x04K\x01."])
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_a_damaged_file_is_compiled_anew_and_mended(tmp_path, damage, ending):
    woken(tmp_path)
    for path in tmp_path.rglob(f"*.{ending}"):
        path.write_bytes(damage)
    assert woken(tmp_path)[1] == "0"
    assert woken(tmp_path)[1] == "1"


def test_a_full_disk_is_survived(monkeypatch, tmp_path):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setenv(places.OURS, str(tmp_path))
    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile.save", full)
    assert _compiled()(1) == 2
    assert list(tmp_path.rglob("*.nb?")) == []


def test_functions_of_others_keep_numbas_own_cache():
    function = _plain_function()
    function.__module__ = "others"
    assert type(caching.cache_of(function)) is FunctionCache


def test_the_setting_of_others_is_left_as_it_was(monkeypatch, tmp_path):
    monkeypatch.setenv(places.OURS, str(tmp_path))
    before = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    _compiled()
    assert before == numba.config.CACHE_DIR  # type: ignore[attr-defined]


def _plain_function():
    def one_more(number):
        return number + 1

    one_more.__module__ = "sfumato.kernels.example"
    return one_more


def _compiled():
    decorators.compiler()
    return numba.njit(cache=True)(_plain_function())
