"""Streams are splitmix64, as written down in whole numbers of any size."""

from __future__ import annotations

from collections.abc import Iterator

import numba
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.kernels.common.random_streams import (
    draw,
    draw_below,
    draw_share,
    mixed,
)

WORD = (1 << 64) - 1
words = st.integers(0, WORD)
call_draw = numba.njit(lambda stream: draw(stream))
call_draw_below = numba.njit(lambda stream, limit: draw_below(stream, limit))
call_draw_share = numba.njit(lambda stream: draw_share(stream))


def mix(word: int) -> int:
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & WORD
    return word ^ (word >> 31)


def splitmix(state: int) -> Iterator[int]:
    while True:
        state = (state + 0x9E3779B97F4A7C15) & WORD
        yield mix(state)


def stream_of(word: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return np.array([word], dtype=np.uint64)


@given(words)
def test_a_stream_is_splitmix(word: int) -> None:
    stream, expected = stream_of(word), splitmix(word)
    assert [int(call_draw(stream)) for _ in range(5)] == [
        next(expected) for _ in range(5)
    ]


def test_the_first_numbers_of_stream_zero_are_those_that_others_publish() -> None:
    stream = stream_of(0)
    assert [int(call_draw(stream)) for _ in range(3)] == [
        0xE220A8397B1DCDAF,
        0x6E789E6AA1B965F4,
        0x06C45D188009454F,
    ]


@given(words, st.integers(1, 1 << 20))
def test_numbers_below_a_limit_are_the_upper_bits_modulo_it(
    word: int, limit: int
) -> None:
    found = int(call_draw_below(stream_of(word), limit))
    assert found == (next(splitmix(word)) >> 33) % limit
    assert 0 <= found < limit


@given(words)
def test_shares_are_the_upper_53_bits(word: int) -> None:
    found = float(call_draw_share(stream_of(word)))
    assert found == (next(splitmix(word)) >> 11) / (1 << 53)
    assert 0.0 <= found < 1.0


@given(st.lists(st.integers(0, 2**62), max_size=6))
def test_mixed_numbers_are_each_the_first_draw_of_a_stream(numbers: list[int]) -> None:
    found = mixed(np.array(numbers, dtype=np.int64))
    golden = 0x9E3779B97F4A7C15
    assert found.tolist() == [mix(((n + 1) * golden) & WORD) for n in numbers]
