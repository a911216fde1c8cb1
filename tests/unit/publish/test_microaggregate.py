from __future__ import annotations

import numpy as np
import pytest

from sfumato.errors import PolicyError
from sfumato.publish.microaggregate import Microaggregate
from sfumato.testing.awkward_tables import awkward_table
from sfumato.testing.operator_checks import material_for, texts


def published(column: str, table: str, labels: list[int], **options) -> dict[int, str]:
    """What each group shows of a column."""
    material = material_for(awkward_table(table), np.array(labels))
    draft = Microaggregate(**options).publish(material)
    groups = material.grouping.group_of[material.rows].tolist()
    return dict(zip(groups, texts(draft.table.column(column)), strict=True))


AGES = [30] * 14 + [41] * 6
"""The column of the table `ties-on-the-median`."""


@pytest.mark.parametrize(
    ("numbers", "cell"), [("mean", "33.3"), ("median", "30"), ("mode", "30")]
)
def test_a_group_shows_one_number(numbers, cell):
    shown = published("age", "ties-on-the-median", [0] * 20, numbers=numbers)
    assert shown == {0: cell}


def test_each_group_has_its_own_mean():
    labels = [0] * 13 + [1] * 7
    shown = published("age", "ties-on-the-median", labels)
    assert shown[0] == "30"
    assert float(shown[1]) == pytest.approx(np.mean(AGES[13:]))


def test_a_group_of_categories_shows_the_most_frequent():
    labels = [0] * 197 + [1, 1, 1]
    shown = published("town", "heavy-skew", labels)
    assert shown[0] == "Rome"
    assert shown[1] == "C"


def test_another_way_to_show_numbers_is_refused():
    with pytest.raises(PolicyError, match="numbers"):
        Microaggregate(numbers="geometric")
