"""A kernel with a fault in it: compiled code holds what it would say."""

from __future__ import annotations

from sfumato.kernels.compilation.decorators import door


@door
def halved(number: int) -> int:
    """Half of an even number."""
    if number % 2:
        raise ValueError("The number is odd.")
    return number // 2
