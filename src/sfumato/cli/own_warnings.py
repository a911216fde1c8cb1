"""Print warnings of ours, which are for the person at the terminal."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from sfumato.cli.success_output import warn
from sfumato.errors import DomainWarning, PersonWarning, RepairWarning

OWN = (DomainWarning, PersonWarning, RepairWarning)


@contextmanager
def saying_warnings() -> Iterator[None]:
    """Print our warnings as ours; as a library's they would name its path."""
    caught: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as caught:
            for category in OWN:
                warnings.simplefilter("always", category)
            yield
    finally:
        for warning in caught:
            _say(warning)


def _say(warning: warnings.WarningMessage) -> None:
    # Those of libraries name paths of the installation: they are dropped.
    if issubclass(warning.category, OWN):
        warn(str(warning.message))
