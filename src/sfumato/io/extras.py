"""Load libraries that come with an extra of the package."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sfumato.errors import InstallationError


def library(name: str, *, extra: str, purpose: str) -> Any:
    """Import a library, or say with which line to install it."""
    try:
        return import_module(name)
    except ImportError:
        raise InstallationError(
            f"{purpose} needs {name.split('.')[0]}, which is not installed.",
            hint=f"pip install 'sfumato[{extra}]'",
        ) from None
