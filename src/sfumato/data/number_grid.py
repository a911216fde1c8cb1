"""Put numbers on a grid: steps of one length, each closed below and open above.

Which step a number is in is decided exactly: by floats, and by texts where a number is
so close to the end of a step that floats cannot tell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Floats, Ints
from sfumato.data.cell_text import interval_text

DIGITS = 700
"""Enough for every number below 1e300 in steps of 1e-300."""
CLOSE, LARGE = 1e-13, 2.0**40
"""Numbers of steps so close to a whole one, or so large, are found exactly."""
Ends = tuple[str, str]
"""The lowest number of a step, and the one that begins the next."""


@dataclass(frozen=True)
class NumberGrid:
    """Steps of a declared length, from 0 in both directions."""

    length: Decimal

    @classmethod
    def of(cls, resolution: float) -> NumberGrid:
        """The grid of a setting, as it is written: 0.1 is a tenth."""
        return cls(Decimal(repr(resolution)))

    def steps(
        self, numbers: Floats, exact: Callable[[Ints], Sequence[Fraction]]
    ) -> npt.NDArray[np.object_]:
        """The number of the step of each number; `exact` spells some of them out."""
        with np.errstate(all="ignore"):
            ratio = numbers / float(self.length)
        off = np.abs(ratio - np.rint(ratio))
        near = ~(off > CLOSE * np.maximum(np.abs(ratio), 1.0))
        near |= ~(np.abs(ratio) < LARGE)
        whole = np.floor(np.where(near, 0.0, ratio)).astype(np.int64)
        found: npt.NDArray[np.object_] = whole.astype(np.object_)
        places = np.flatnonzero(near)
        length = Fraction(self.length)
        for place, number in zip(places.tolist(), exact(places), strict=True):
            found[place] = number // length
        return found

    def ends(self, step: int) -> Ends:
        """Where a step begins and where the next one does, as texts."""
        with localcontext() as context:
            context.prec = DIGITS
            return _text(self.length * step), _text(self.length * (step + 1))

    def middle(self, step: int) -> float:
        """The float nearest to the middle of a step."""
        return float(Fraction(self.length) * (2 * step + 1) / 2)


def step_text(first: Ends, last: Ends) -> str:
    """The cell of values from one step to another."""
    return interval_text(first[0], last[1], closed=False)


def _text(number: Decimal) -> str:
    text = format(number, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
