"""Keep the distinct tuples of a table for further searches on the same rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from sfumato.data.arrays import Codes

Laid = TypeVar("Laid")


@dataclass(eq=False)
class SharedTuples:
    """What was laid out of columns of codes; only the last few are kept."""

    most: int = 4
    _kept: list[tuple[str, tuple[Codes, ...], object]] = field(default_factory=list)

    def once(
        self, use: str, columns: Sequence[Codes], make: Callable[[], Laid]
    ) -> Laid:
        """What `make` lays out of these very arrays for one use, made at most once."""
        for name, known, laid in self._kept:
            if name == use and _same(known, columns):
                found: Laid = laid  # type: ignore[assignment]
                return found
        made = make()
        self._kept = [*self._kept[1 - self.most :], (use, tuple(columns), made)]
        return made


def _same(known: Sequence[Codes], columns: Sequence[Codes]) -> bool:
    """Whether both are the same arrays, not merely equal ones."""
    return len(known) == len(columns) and all(
        one is other for one, other in zip(known, columns, strict=True)
    )
