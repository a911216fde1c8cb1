"""Load scikit-learn when it is first needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from sfumato.errors import UsageError


@contextmanager
def one_thread() -> Iterator[None]:
    """Let scikit-learn use one thread: on small tables, more are slower."""
    scikit("utils")
    with import_module("threadpoolctl").threadpool_limits(limits=1):
        yield


def scikit(module: str) -> Any:
    """A module of scikit-learn, such as `ensemble`."""
    try:
        return import_module(f"sklearn.{module}")
    except ImportError:
        raise _not_installed() from None


def insist_on_scikit() -> None:
    """Refuse to go on without scikit-learn, without loading it."""
    if find_spec("sklearn") is None:
        raise _not_installed()


def _not_installed() -> UsageError:
    return UsageError(
        "Learning from a release needs scikit-learn, which is not installed.",
        hint="pip install 'sfumato[learn]'",
    )
