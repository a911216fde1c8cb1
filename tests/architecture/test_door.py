"""The public API is small, sorted and light to import."""

from __future__ import annotations

import subprocess
import sys

import pytest

import sfumato

HEAVY = (
    "numba",
    "pyarrow",
    "numpy",
    "pandas",
    "polars",
    "narwhals",
    "pydantic",
    "typer",
    "rich",
)


def loaded_by(statement: str) -> set[str]:
    """The top-level modules that a fresh interpreter holds after a statement."""
    program = (
        f"import sys; {statement}; print(*{{m.split('.')[0] for m in sys.modules}})"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(run.stdout.split())


@pytest.mark.parametrize("library", HEAVY)
def test_importing_the_package_does_not_load(library):
    assert library not in loaded_by("import sfumato")


def test_who_only_checks_does_not_wait_for_the_compiler():
    assert "numba" not in loaded_by("import sfumato.api")


def test_the_public_names_are_sorted():
    assert list(sfumato.__all__) == sorted(sfumato.__all__)


def test_every_public_name_is_there():
    missing = [name for name in sfumato.__all__ if not hasattr(sfumato, name)]
    assert missing == []


def test_every_public_name_is_listed_by_dir():
    assert set(sfumato.__all__) <= set(dir(sfumato))


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        sfumato.no_such_name  # noqa: B018
