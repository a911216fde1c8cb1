"""Losses of cells, from tables of runs and without them, against their definition."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from sfumato.kernels.common import geometry
from sfumato.kernels.common.boxes import HIGH, LOW, new_boxes
from sfumato.kernels.common.geometry import (
    FIRST_WORD,
    FLAT,
    PAIRS,
    PLACES,
    SHAPE,
    SIZE,
    WORDS,
    axis_tables,
)
from sfumato.kernels.refinement.point_space import make_point_space
from sfumato.kernels.refinement.refinement_round import lay_out, total_loss
from tests.unit.algorithms.lattice_cases import random_request
from tests.unit.algorithms.mondrian_cases import flat_axis, free_axis, loss_of


def random_axes(random):
    """A tree, a line with a missing value, and two bags of values."""
    tree = random_request(random, [], columns=1, rows=4, values=5).quasi[0].axis
    line = free_axis([0.0, 1.0, 4.5, 9.0, float("nan")], weight=3.0)
    return [tree, flat_axis(70, weight=0.7), line, flat_axis(3)]


def random_groups(random, axes):
    """Codes of rows on each axis, and rows in groups of one to six."""
    rows = int(random.integers(6, 40))
    codes = [random.integers(0, axis.size, rows).astype(np.int32) for axis in axes]
    group_of = np.sort(random.integers(0, rows // 3, rows))
    starts = np.flatnonzero(np.diff(group_of, prepend=-1))
    return codes, np.append(starts, rows).astype(np.int64)


def measured(axes, codes, starts):
    points = make_point_space(axes, codes)
    rows = np.arange(starts[-1], dtype=np.int64)
    return total_loss(points, lay_out(points, rows, rows, starts))


@pytest.mark.parametrize("seed", range(20))
def test_losses_are_those_of_the_cells_of_each_group(seed):
    random = np.random.default_rng(seed)
    axes = random_axes(random)
    codes, starts = random_groups(random, axes)
    rows = list(zip(*(column.tolist() for column in codes), strict=True))
    groups = [range(a, b) for a, b in pairwise(starts)]
    expected = sum(loss_of(axes, rows, list(group)) for group in groups)
    assert measured(axes, codes, starts) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(20))
def test_losses_are_the_same_to_the_last_bit_without_tables_of_runs(seed, monkeypatch):
    random = np.random.default_rng(seed)
    axes = random_axes(random)
    codes, starts = random_groups(random, axes)
    with_tables = measured(axes, codes, starts)
    monkeypatch.setattr(geometry, "PAIR_LIMIT", 0)
    assert (axis_tables(axes).axis[:, PAIRS] == -1).all()
    assert measured(axes, codes, starts) == with_tables


def test_only_tree_and_free_axes_up_to_the_limit_have_a_table_of_runs():
    axes = [free_axis(range(256)), free_axis(range(257)), flat_axis(3)]
    assert (axis_tables(axes).axis[:, PAIRS] >= 0).tolist() == [True, False, False]


def test_sets_of_flat_axes_have_words_and_places_of_their_own():
    axes = [flat_axis(64), free_axis([1, 2]), flat_axis(65), flat_axis(1)]
    tables = axis_tables(axes)
    assert tables.axis[:, WORDS].tolist() == [1, 0, 2, 1]
    flat = tables.axis[:, SHAPE] == FLAT
    assert tables.axis[flat, FIRST_WORD].tolist() == [0, 1, 3]
    assert tables.axis[flat, PLACES].tolist() == [0, 64, 129]
    assert (tables.set_words, tables.values) == (4, 130)
    assert tables.axis[:, SIZE].tolist() == [64, 2, 65, 1]


def test_new_boxes_are_empty():
    boxes = new_boxes(axis_tables([free_axis([1, 2]), flat_axis(3)]), 4)
    assert (boxes.cells[:, :, LOW] > boxes.cells[:, :, HIGH]).all()
    assert boxes.words.shape == (4, 1)
    assert not boxes.words.any()
