"""Ranges are worked through once each, whatever the number of threads."""

from __future__ import annotations

import pytest

from sfumato.algorithms.common.parallel_ranges import Clock, Range, work_through


def halves(low: int, high: int) -> list[Range]:
    """Split a range until it has one place."""
    middle = (low + high) // 2
    return [(low, middle), (middle, high)] if high - low > 1 else []


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_all_work_is_done_and_told(threads: int) -> None:
    told: list[int] = []
    seen: list[Range] = []

    def step(low: int, high: int) -> list[Range]:
        seen.append((low, high))
        return halves(low, high)

    work_through([(0, 9), (9, 20)], step, threads=threads, done=told.append)
    assert sum(told) == 20
    assert sorted(r[0] for r in seen if r[1] - r[0] == 1) == list(range(20))


@pytest.mark.parametrize("threads", [1, 2])
def test_a_listener_can_stop_the_work(threads: int) -> None:
    def stop(_length: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work_through([(0, 64)], halves, threads=threads, done=stop)


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_in_a_piece_is_raised(threads: int) -> None:
    def fail(_low: int, _high: int) -> list[Range]:
        raise ValueError("broken piece")

    with pytest.raises(ValueError, match="broken piece"):
        work_through([(0, 4)], fail, threads=threads, done=lambda _: None)


def test_the_clock_adds_up() -> None:
    clock = Clock()
    assert clock.seconds == 0
    with clock.running():
        sum(range(1000))
    assert clock.seconds > 0
