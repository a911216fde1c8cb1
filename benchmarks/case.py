"""One thing that is measured."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Case:
    """One line of the results."""

    group: str
    """Cases of a group did the same work on the same data."""
    label: str
    job: str
    parameters: dict[str, Any] = field(default_factory=dict)
    reference: bool = False
    """Whether the others of the group are given as multiples of this one."""
    rows: int | None = None
    """Set where the cases of a group are one job on tables of several sizes."""
    repeats: int = 3
    warm: bool = True
    settings: dict[str, str] = field(default_factory=dict)
    """Variables of the environment that it runs with."""
    long: bool = False
    """Left out unless asked for by `--long`, or by its name."""
    limit: int = 1800
    """Seconds after which it is given up."""

    @property
    def name(self) -> str:
        """What the case is called on the command line and in the results."""
        return f"{self.group}: {self.label}"
