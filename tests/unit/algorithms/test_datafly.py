import numpy as np
import pytest

from sfumato.algorithms.base import Request
from sfumato.algorithms.full_domain.datafly import Datafly
from sfumato.errors import InfeasibleError
from sfumato.hierarchies.axis import CodedAxis
from sfumato.models.k_anonymity import KAnonymity
from tests.unit.algorithms.lattice_cases import (
    find,
    random_request,
    size_at_least,
    tree_axis,
)

ZIP = tree_axis(
    "zip",
    [
        ["02138", "0213*", "021**", "*"],
        ["02139", "0213*", "021**", "*"],
        ["02141", "0214*", "021**", "*"],
        ["02142", "0214*", "021**", "*"],
    ],
)
BORN = tree_axis(
    "born",
    [["1964", "1960s", "*"], ["1965", "1960s", "*"], ["1967", "1960s", "*"]],
)
SEX = tree_axis("sex", [["f", "*"], ["m", "*"]])


def request(zips, born, sexes, *, k, removable=0):
    columns = ((ZIP, zips), (BORN, born), (SEX, sexes))
    coded = [CodedAxis(axis, np.array(c, dtype=np.int32)) for axis, c in columns]
    return Request(quasi=tuple(coded), models=(KAnonymity(k=k),), removable=removable)


def levels(solution):
    return tuple(solution.facts["node"].values())


def test_the_column_with_most_values_goes_up_first():
    # zip has 4 values, born 3, sex 2. One step of zip leaves 2, then born is widest.
    asked = request(
        [0, 1, 0, 1, 2, 3, 2, 3], [0, 1, 2, 0, 0, 1, 2, 0], [0] * 4 + [1] * 4, k=4
    )
    solution = Datafly().search(asked)
    assert levels(solution) == (1, 1, 0)
    assert solution.facts["steps"] == 2
    assert solution.grouping.sizes().tolist() == [4, 4]


def test_values_are_counted_in_the_column_as_it_stands():
    # After one step zip shows 2 values and born still 3: counting the source's zip
    # codes would send zip up again.
    asked = request([0, 1, 2, 3, 0, 1, 2, 3], [0, 0, 1, 1, 2, 2, 0, 0], [0, 1] * 4, k=8)
    solution = Datafly().search(asked)
    # zip 4→2, born 3→1, then zip and sex both show 2: the first of them goes up.
    assert levels(solution) == (2, 1, 1)
    assert solution.facts["steps"] == 4


def test_rows_left_over_are_suppressed_once_they_are_few_enough():
    asked = request([0, 0, 0, 1], [0] * 4, [0] * 4, k=3, removable=1)
    solution = Datafly().search(asked)
    assert levels(solution) == (0, 0, 0)
    assert solution.grouping.group_of.tolist() == [0, 0, 0, -1]


def test_a_table_that_no_level_hides_is_infeasible():
    asked = request([0, 1, 2], [0] * 3, [0] * 3, k=4)
    with pytest.raises(InfeasibleError, match="has a group that meets k-anonymity"):
        Datafly().search(asked)


def test_the_result_is_what_its_node_gives_by_definition():
    random = np.random.default_rng(31)
    for _ in range(30):
        asked = random_request(random, [KAnonymity(k=3)], rows=30, removable=4)
        facts = Datafly().search(asked).facts
        expected = find(asked, tuple(facts["node"].values()), 3, size_at_least(3))
        assert facts["rows_suppressed"] == expected.suppressed <= 4
        assert facts["groups"] == len(expected.sizes)
        assert facts["ncp"] == pytest.approx(expected.losses["ncp"], abs=1e-12)
