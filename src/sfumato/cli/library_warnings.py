"""Print the warnings of the library as ours."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from sfumato.cli.success_output import warn
from sfumato.errors import PersonWarning, RepairWarning

OURS = (PersonWarning, RepairWarning)


@contextmanager
def saying_warnings() -> Iterator[None]:
    """Print warnings as ours; as a library's they would name its path."""
    with warnings.catch_warnings(record=True) as caught:
        for category in OURS:
            warnings.simplefilter("always", category)
        try:
            yield
        finally:
            _say(caught)


def _say(caught: list[warnings.WarningMessage]) -> None:
    for warning in caught:
        if issubclass(warning.category, OURS):
            warn(str(warning.message))
