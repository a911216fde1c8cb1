"""What an algorithm is: check the request, ask for feasibility, search, self-check."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sfumato.data.grouping import Grouping
from sfumato.data.seeds import Seed
from sfumato.hierarchies.axis import CodedAxis
from sfumato.models.base import OutputModel

Progress = Callable[[str, float], None]
"""Called with what is being done and the share done, 0 … 1; may raise to cancel."""


def silent(_step: str, _share: float) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Request:
    """Everything an algorithm may know."""

    quasi: tuple[CodedAxis, ...]
    models: tuple[OutputModel, ...]
    sensitive: Mapping[str, CodedAxis] = field(default_factory=dict)
    subject: npt.NDArray[np.int32] | None = None
    """The person behind each row, where declared."""
    population: tuple[npt.NDArray[np.int32], ...] | None = None
    """Codes of the population table's rows, one array per quasi-identifier."""
    removable: int = 0
    """How many rows may be left out."""
    seed: Seed = field(default_factory=Seed.fresh)
    threads: int = 2
    progress: Progress = silent
    resolve: Callable[[str], type[Algorithm]] | None = None
    """Finds another algorithm by name, for those that build on others."""

    @property
    def rows(self) -> int:
        return len(self.quasi[0].codes) if self.quasi else 0


@dataclass(frozen=True, eq=False, kw_only=True)
class Solution:
    """What an algorithm returns: a grouping, and what it has to say about it."""

    grouping: Grouping
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Plain numbers and words for the report: nodes checked, cuts made, …"""
    alternatives: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Algorithm(ABC):
    """A named way of grouping rows; its fields are its options in the policy."""

    name: ClassVar[str]
    sentence: ClassVar[str]

    def check(self, request: Request) -> None:
        """Refuse, with a reason, a request this algorithm cannot serve."""

    @abstractmethod
    def search(self, request: Request) -> Solution:
        """Find a grouping that meets every requirement."""
