"""What the result of an attack says, as three things that are judged apart.

Whether a promise holds, how much more than guessing the attack achieves, and how sure an
attacker becomes about the person who is worst off.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from sfumato.models.base import TOLERANCE

GAIN_LIMITS = (0.09, 0.2)
"""A gain up to the first limit is small, above the second one large. They are named
thresholds of re-identification: the European Medicines Agency's, and that of k = 5."""
WORST_LIMITS = (1 / 3, 0.9)
"""The same of the person who is worst off: the rule of three, and almost certain."""


class Size(StrEnum):
    """How large a gain over guessing is."""

    SMALL = "small"
    NOTICEABLE = "noticeable"
    LARGE = "large"


class PromiseVerdict(StrEnum):
    """Whether a promised bound holds."""

    HOLDS = "holds"
    BROKEN = "broken"
    NONE = "none"
    """Nothing is promised."""


class Light(StrEnum):
    """The worst of the three, as a color."""

    GREEN = "green"
    AMBER = "amber"
    RED = "red"


def gain_over(share: float, baseline: float) -> float:
    """The share of what guessing misses that an attack achieves."""
    return (share - baseline) / (1.0 - baseline) if baseline < 1 else 0.0


def size_of(gain: float, limits: tuple[float, float]) -> Size:
    """How large a gain is by two limits; one that equals a limit is not above it."""
    return list(Size)[sum(gain > limit + TOLERANCE for limit in limits)]


def gain_size(gain: float, high: float) -> Size:
    """How large a gain is whose 95% interval ends at `high`.

    It is small only if the end is not large: a handful of people proves nothing.
    """
    size = size_of(gain, GAIN_LIMITS)
    uncertain = size_of(high, GAIN_LIMITS) is Size.LARGE
    return Size.NOTICEABLE if size is Size.SMALL and uncertain else size


def light_of(promise: PromiseVerdict, sizes: Iterable[Size | None]) -> Light:
    """The color of one result; what is not judged does not color it."""
    if promise is PromiseVerdict.BROKEN:
        return Light.RED
    order = list(Size)
    worst = max((order.index(size) for size in sizes if size is not None), default=0)
    return list(Light)[worst]


def joint_light(promises: Iterable[PromiseVerdict], lights: Iterable[Light]) -> Light:
    """The color of several results: the worst, and green only if a promise holds."""
    order = list(Light)
    held = PromiseVerdict.HOLDS in set(promises)
    return max((Light.GREEN if held else Light.AMBER, *lights), key=order.index)
