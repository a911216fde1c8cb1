"""Draw random numbers inside kernels: each piece of work has a stream of its own.

The stream (splitmix64) depends on its first word alone, which is drawn from the run's
seed by SHAKE-256, so that neither the number of threads nor the order of the work can
be seen in a result. It decides which changes a search tries; nothing that must stay
unknown to a recipient, such as an order of rows or a swap, is drawn here.

Paper: Steele, Lea and Flood 2014, with the constants of Stafford's mixer, variant 13.
Cost: O(1) time per draw, a few multiplications; one word of state per stream.
Invariant: the same first word gives the same numbers on every machine; the states of a
stream repeat only after 2⁶⁴ draws.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.kernels.compilation.decorators import inner

Stream = npt.NDArray[np.uint64]
"""One word: the state of a stream."""

STRIDE = np.uint64(0x9E3779B97F4A7C15)
FIRST_MIX = np.uint64(0xBF58476D1CE4E5B9)
SECOND_MIX = np.uint64(0x94D049BB133111EB)


@inner
def draw(stream: Stream) -> np.uint64:
    """Draw the next 64 random bits of a stream."""
    stream[0] += STRIDE
    word = stream[0]
    word = (word ^ (word >> np.uint64(30))) * FIRST_MIX
    word = (word ^ (word >> np.uint64(27))) * SECOND_MIX
    return word ^ (word >> np.uint64(31))


@inner
def draw_below(stream: Stream, limit: int) -> int:
    """Draw a number from 0 to limit − 1, for small limits.

    Of 31 bits, so that it is never negative; the bias is below limit / 2³¹.
    """
    return np.int64(draw(stream) >> np.uint64(33)) % limit


@inner
def draw_share(stream: Stream) -> float:
    """Draw a number in [0, 1), of the 53 bits that a float holds exactly."""
    return np.float64(draw(stream) >> np.uint64(11)) * 2.0**-53


def mixed(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """Make numbers look random, each the same everywhere."""
    with np.errstate(over="ignore"):
        word = (numbers.astype(np.uint64) + np.uint64(1)) * STRIDE
        word = (word ^ (word >> np.uint64(30))) * FIRST_MIX
        word = (word ^ (word >> np.uint64(27))) * SECOND_MIX
    return word ^ (word >> np.uint64(31))
