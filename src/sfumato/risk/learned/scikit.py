"""Load scikit-learn when it is first needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sfumato.errors import UsageError


def scikit(module: str) -> Any:
    """A module of scikit-learn, such as `ensemble`."""
    try:
        return import_module(f"sklearn.{module}")
    except ImportError:
        raise UsageError(
            "Learning from a release needs scikit-learn, which is not installed.",
            hint="pip install 'sfumato[learn]'",
        ) from None
