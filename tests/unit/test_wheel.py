"""A wheel is refused if it tells where it was made."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tools.wheel import check_places


@pytest.fixture
def wheel(tmp_path) -> Path:
    """A wheel whose library names a directory of the machine that made it."""
    path = tmp_path / "sfumato.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("sfumato/api.py", "made = 'elsewhere/lib/python'\n")
        packed.writestr("sfumato/library/kernels.so", b"\0C/made/here/lib/numba.py\0")
    return path


def test_a_wheel_that_names_a_place_is_refused(wheel):
    with pytest.raises(
        SystemExit, match=r"names /made/here in sfumato/library/kernels\.so\.$"
    ):
        check_places(wheel, [Path("/elsewhere"), Path("/made/here")])


def test_a_wheel_that_names_no_place_passes(wheel):
    check_places(wheel, [Path("/made/he"), Path("/made/there")])
