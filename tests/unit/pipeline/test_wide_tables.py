"""A table with many columns takes time in proportion to their number."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from types import FrameType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.metrics.common.column_pairs import column_pairs

FEW, MANY = 60, 120
MOST_GROWTH = 2.5
"""Calls may double with the columns, and vary a little with the groups."""
MOST_RATIO = 6
ENOUGH = 5_000
"""Rarer calls cost nothing."""


def _released(columns: int, directory: Any) -> None:
    random = np.random.default_rng(1)
    names = [f"c{number}" for number in range(columns)]
    table = pa.table({name: random.integers(0, 5, 20) for name in names})
    release = sf.anonymize(table, quasi=names, k=2, algorithm="mondrian", max_loss=1)
    release.save(directory)


def _calls(columns: int, directory: Any) -> Counter[str]:
    """How often each of our functions is called, and each generator resumed."""
    counts: Counter[str] = Counter()

    def count(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and "sfumato" in code.co_filename:
            counts[f"{code.co_filename}:{code.co_qualname}"] += 1

    threading.setprofile(count)
    sys.setprofile(count)
    try:
        _released(columns, directory)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return counts


def test_no_function_is_called_for_each_two_columns(tmp_path):
    few = _calls(FEW, tmp_path / "few")
    many = _calls(MANY, tmp_path / "many")
    grown = {
        name: (few[name], count)
        for name, count in many.items()
        if count > ENOUGH and count > MOST_GROWTH * few[name]
    }
    assert grown == {}


def _seconds(columns: int, directory: Any) -> float:
    """The time that processors work for a release, whatever else they do."""
    start = time.process_time()
    _released(columns, directory)
    return time.process_time() - start


@pytest.mark.slow
def test_four_times_as_many_columns_take_about_four_times_the_work(tmp_path):
    """Quadratic work would be 16 times; memory and caches cost a little more than 4."""
    _released(FEW, tmp_path / "warm")
    ratios = (
        _seconds(5_000, tmp_path / f"many-{attempt}")
        / _seconds(1_250, tmp_path / f"few-{attempt}")
        for attempt in range(3)
    )
    assert any(ratio <= MOST_RATIO for ratio in ratios)


def test_metrics_of_pairs_look_at_a_bounded_number_of_them():
    pairs = [len(list(column_pairs(range(n)))) for n in (0, 2, 100, 101, 5_000)]
    assert pairs == [0, 1, 4_950, 51 * 50 // 2, 4_950]
