import numpy as np

from sfumato.data.grouping import Grouping


def test_renumbering_closes_gaps_and_keeps_suppressed_rows_out():
    grouping = Grouping.renumbered(np.array([7, -1, 3, 7]))
    assert grouping.group_of.tolist() == [1, -1, 0, 1]
    assert grouping.count == 2


def test_sizes_do_not_count_suppressed_rows():
    grouping = Grouping(np.array([0, 1, 1, -1], dtype=np.int32), 2)
    assert grouping.sizes().tolist() == [1, 2]


def test_renumbering_takes_the_levels_of_the_groups_that_remain():
    levels = np.array([[0], [1], [2]], dtype=np.int16)
    assert Grouping.renumbered(np.array([2, 0, 2]), levels).levels.tolist() == [
        [0],
        [2],
    ]
