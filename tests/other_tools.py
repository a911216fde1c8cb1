"""Tools of others that tests compare with: where they belong, their absence fails."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

import pytest

NO_WHEEL_FROM = {"anjana": (3, 13), "pycanon": (3, 13)}
"""The first Python on which a tool cannot be installed: both pin an older NumPy."""


def in_ci() -> bool:
    """Whether nothing that should run may be left out in silence."""
    return os.environ.get("CI", "").lower() in {"1", "true", "yes"}


def other_tool(module: str) -> Any:
    """A module of another tool; if it is missing, the test is skipped, or fails in CI."""
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ImportError:
        if in_ci() and sys.version_info < NO_WHEEL_FROM.get(package, (4,)):
            pytest.fail(
                f"{package} is not installed: pip install '.[test]'.", pytrace=False
            )
        pytest.skip(f"{package} is not installed.", allow_module_level=True)
