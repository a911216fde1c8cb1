"""Say what was repaired after a run that was killed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from sfumato.cli.success_output import warn
from sfumato.errors import RepairWarning


@contextmanager
def saying_repairs() -> Iterator[None]:
    """Print warnings about repairs as ours; as a library's they would name its path."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RepairWarning)
        try:
            yield
        finally:
            _say(caught)


def _say(caught: list[warnings.WarningMessage]) -> None:
    for warning in caught:
        if issubclass(warning.category, RepairWarning):
            warn(str(warning.message))
