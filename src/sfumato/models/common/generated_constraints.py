"""Diversity constraints for all values of a column, in three classes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

CLASSES = ("minimum", "average", "proportional")
KEYS = ("column", "class", "tolerance", "keep", "at_least")
SLACK = 1e-9


def ranges(
    generate: Mapping[str, Any], counts: Mapping[str, int], *, k: int
) -> Iterator[tuple[str, int, int | None]]:
    """A value and its range for every value that at least k rows have.

    - `minimum`: every value survives, `at_least` times (k unless given).
    - `average`: every value survives about as often as values do on average.
    - `proportional`: every value survives in proportion to how often it occurs.

    Values that fewer than k rows have cannot be shown by any group: none of them gets
    a constraint.
    """
    class_ = generate.get("class", "proportional")
    tolerance = float(generate.get("tolerance", 0.2))
    common = {value: n for value, n in counts.items() if n >= k}
    average = sum(common.values()) / max(len(common), 1)
    for value, count in sorted(common.items()):
        if class_ == "minimum":
            yield value, min(int(generate.get("at_least", k)), count), None
        else:
            middle = average if class_ == "average" else count
            aim = float(generate.get("keep", 1.0)) * middle
            yield value, *_around(aim, tolerance, count, k)


def _around(aim: float, tolerance: float, count: int, k: int) -> tuple[int, int]:
    """A range about a number, within what the source has and what groups can show."""
    low = min(math.ceil((1 - tolerance) * aim - SLACK), count)
    high = max(math.floor((1 + tolerance) * aim + SLACK), low, k)
    return low, high
