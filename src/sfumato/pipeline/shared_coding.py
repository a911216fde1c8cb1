"""Code a source once for several runs that read it alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from sfumato.data.shared_tuples import SharedTuples
from sfumato.data.table import Table
from sfumato.hierarchies.axis import CodedAxis
from sfumato.policy import Policy

Kept = TypeVar("Kept")
Rows = npt.NDArray[np.int64]


@dataclass(eq=False)
class SharedCoding:
    """Coded rows and axes of one source, kept while a comparison runs.

    Policies that describe columns and missing cells alike get the same objects; one
    that does not is coded by itself. Only the last few are kept.
    """

    tuples: SharedTuples = field(default_factory=SharedTuples)
    """The distinct tuples of axes that several searches share."""
    most: int = 4
    _kept: list[tuple[tuple[Any, ...], Any]] = field(default_factory=list)

    def rows(
        self, policy: Policy, make: Callable[[], tuple[Table, Rows]]
    ) -> tuple[Table, Rows]:
        """The coded rows of a policy, made at most once."""
        return self._once(("rows", *_reading(policy)), make)

    def axes(
        self,
        policy: Policy,
        base: Path | None,
        what: str,
        make: Callable[[], tuple[CodedAxis, ...]],
    ) -> tuple[CodedAxis, ...]:
        """Some columns of a policy on axes, made at most once."""
        return self._once((what, base, *_reading(policy)), make)

    def _once(self, key: tuple[Any, ...], make: Callable[[], Kept]) -> Kept:
        for known, value in self._kept:
            if known == key:
                found: Kept = value
                return found
        made = make()
        self._kept = [*self._kept[-3 * self.most + 1 :], (key, made)]
        return made


def _reading(policy: Policy) -> tuple[Any, ...]:
    """What of a policy decides how cells become codes."""
    return (policy.data, policy.columns, policy.unlisted)
