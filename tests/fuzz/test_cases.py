"""Random cases with fixed seeds: a short run of the fuzz, on every run of the tests."""

from __future__ import annotations

import pytest

from tests.fuzz.cases import Case
from tests.fuzz.draw import draw_case
from tests.fuzz.judge import RELEASED, judge

BATCHES, SIZE = 16, 25


def batch(number: int) -> list[Case]:
    """Cases that a seed repeats: all but those whose noise nobody may replay."""
    names = (f"{number}:{place}" for place in range(SIZE))
    return [case for case in map(draw_case, names) if not is_private(case)]


def is_private(case: Case) -> bool:
    return any(w["model"] == "differential-privacy" for w in case.policy["require"])


@pytest.mark.parametrize("number", range(BATCHES))
def test_no_case_has_a_finding_and_many_are_released(number):
    endings = {case.name: judge(case) for case in batch(number)}
    found = {name: end.findings for name, end in endings.items() if end.findings}
    assert found == {}
    released = [end for end in endings.values() if end.code == RELEASED]
    assert 4 * len(released) > len(endings)
