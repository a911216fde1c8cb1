"""Sort runs of keys stably, and find codes, without leaving compiled code.

A key is a 64-bit number: what to sort by in the upper 31 bits, where it came from in
the lower 32. `sort_keys` looks at the upper part alone and keeps equal keys in order.

Cost: O(n²) up to `FEW` keys; beyond, O(n × d) for d digits of 8 bits in the highest
upper part; n spare places. Finding a code O(log n).
Invariant: the result is the stable order of the upper parts; keys after the first n
are untouched; the lower parts are carried along, never compared.
"""

from __future__ import annotations

import numpy as np

from sfumato.data.arrays import Codes, Ints
from sfumato.kernels.compilation.decorators import both, inner

LOWER = 32
POSITION = (1 << LOWER) - 1
FEW = 24
DIGIT = 8
DIGITS = 1 << DIGIT


@both
def sort_keys(keys: Ints, spare: Ints, n: int, highest: int) -> None:
    """Sort keys[:n] by their upper part, which is at most `highest`, stably."""
    # Clearing the counts of a radix pass costs more than a short insertion sort.
    if n <= FEW:
        _insert(keys, n)
        return
    counts = np.empty(DIGITS, dtype=np.int64)
    shift = LOWER
    swapped = False
    # Only the digits that `highest` has; equal upper parts need no pass at all.
    while highest > 0:
        if swapped:
            _pass(spare, keys, n, shift, counts)
        else:
            _pass(keys, spare, n, shift, counts)
        swapped = not swapped
        shift += DIGIT
        highest >>= DIGIT
    if swapped:
        for i in range(n):
            keys[i] = spare[i]


@inner
def _insert(keys: Ints, n: int) -> None:
    """Sort a few keys by insertion."""
    for i in range(1, n):
        key = keys[i]
        upper = key >> LOWER
        at = i
        while at > 0 and keys[at - 1] >> LOWER > upper:
            keys[at] = keys[at - 1]
            at -= 1
        keys[at] = key


@inner
def _pass(source: Ints, target: Ints, n: int, shift: int, counts: Ints) -> None:
    """Distribute keys by one digit, keeping the order of equal ones."""
    for digit in range(DIGITS):
        counts[digit] = 0
    for i in range(n):
        counts[(source[i] >> shift) & (DIGITS - 1)] += 1
    total = 0
    for digit in range(DIGITS):
        here = counts[digit]
        counts[digit] = total
        total += here
    for i in range(n):
        digit = (source[i] >> shift) & (DIGITS - 1)
        target[counts[digit]] = source[i]
        counts[digit] += 1


@inner
def find_code(codes: Codes, length: int, code: int) -> int:
    """Where a code is, or belongs, among the first of ascending codes."""
    low, high = 0, length
    while low < high:
        middle = (low + high) // 2
        if codes[middle] < code:
            low = middle + 1
        else:
            high = middle
    return low
