"""Groups that show the same cells are judged, and held, as one group."""

from __future__ import annotations

from itertools import product

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.algorithms.common.groups_alike import holding_together
from sfumato.data.grouping import Grouping
from sfumato.data.schema import Kind, Role
from sfumato.errors import InfeasibleError, SearchError
from sfumato.models.theta_diversity import ThetaDiversity
from sfumato.testing.awkward_tables import Awkward, request_for

PLACE = ["a", "a", "b", "b", "c", "c"]
VALUE = ["x", "y", "y", "x", "z", "w"]
PERSON = ["p", "q", "p", "r", "s", "t"]
"""The groups a and b have half their persons at each value; together three persons of
which two have x and two have y."""


def request_of(looks: list[int]):
    """Rows 0 and 1, 2 and 3, 4 and 5 by their place, whose groups look like this."""
    cells = {"place": PLACE, "value": VALUE, "person": PERSON}
    roles = {"place": Role.QUASI, "value": Role.SENSITIVE, "person": Role.SUBJECT}
    table = Awkward("made", pa.table(cells), roles, dict.fromkeys(cells, Kind.CATEGORY))

    def look(_quasi, grouping):
        if grouping.count == len(looks):
            return np.array(looks)
        return np.arange(grouping.count)

    return request_for(table, [ThetaDiversity(theta=0.5)], look=look)


def by_place() -> Grouping:
    return Grouping(np.array([0, 0, 1, 1, 2, 2], dtype=np.int32), 3)


def test_groups_that_look_different_stay_as_they_are():
    grouping = by_place()
    assert holding_together(request_of([0, 1, 2]), grouping) is grouping


def test_groups_that_look_alike_and_hold_together_stay_as_they_are():
    grouping = by_place()
    assert holding_together(request_of([0, 1, 1]), grouping) is grouping


def test_groups_that_break_a_requirement_together_are_merged_with_the_nearest():
    found = holding_together(request_of([0, 0, 1]), by_place())
    assert found.count == 1


def test_the_model_of_the_example_breaks_only_when_joined():
    request = request_of([0, 0, 1])
    model = request.models[0]
    assert request.meets(model, by_place()).holds
    assert not request.meets(model, request.seen(by_place())).holds


def test_a_table_that_fails_as_one_group_ends_without_an_answer():
    cells = {
        "place": ["a", "a", "b", "b"],
        "value": ["x", "y", "y", "x"],
        "person": ["p", "q", "p", "q"],
    }
    with pytest.raises(SearchError, match="is not known"):
        sf.anonymize(
            pa.table(cells),
            quasi=["place"],
            sensitive=["value"],
            subject=["person"],
            require=[{"model": "theta-diversity", "theta": 0.5}],
            algorithm="mondrian",
        )


OPERATORS = (
    {"operator": "generalize"},
    {"operator": "generalize", "numbers": "mean"},
    {"operator": "generalize", "numbers": "bounds"},
    {"operator": "suppress"},
    {"operator": "microaggregate", "numbers": "median"},
)


@pytest.mark.parametrize(("seed", "publish"), list(product(range(6), OPERATORS)))
def test_a_release_keeps_its_shares_by_counting_persons_per_tuple(seed, publish):
    generator = np.random.default_rng(seed)
    rows = 12
    table = pa.table(
        {
            "age": generator.choice([1, 2, 5], rows),
            "value": generator.choice(["x", "y", "z"], rows),
            "person": generator.choice(list("abcdefgh"), rows),
        }
    )
    try:
        release = sf.anonymize(
            table,
            quasi=["age"],
            sensitive=["value"],
            subject=["person"],
            require=[{"model": "theta-diversity", "theta": 0.67}],
            algorithm={"name": "mondrian", "refine": 1},
            publish={**publish, "max_loss": 1.0, "order": "source"},
        )
    except (InfeasibleError, SearchError):
        return
    shown = release.table
    names = [name for name in shown.column_names if name.startswith("age")]
    keys = list(zip(*(shown.column(n).to_pylist() for n in names), strict=True))
    people = table.column("person").to_pylist()
    values = shown.column("value").to_pylist()
    for key in set(keys):
        inside = [row for row in range(rows) if keys[row] == key]
        persons = {people[row] for row in inside}
        for value in {values[row] for row in inside}:
            having = {people[row] for row in inside if values[row] == value}
            assert len(having) / len(persons) <= 0.67 + 1e-9
