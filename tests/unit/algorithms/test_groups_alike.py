"""Groups that show the same cells are judged, and held, as one group."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

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


class Drawn(NamedTuple):
    """Rows with their places, values and persons, in groups."""

    place: list[int]
    value: list[str]
    person: list[str]
    group: list[int]

    def looks(self) -> list[int]:
        """What a recipient sees of each row's group: half of its lowest place."""
        return [
            min(p for p, h in zip(self.place, self.group, strict=True) if h == g) // 2
            for g in self.group
        ]

    def worst_share(self, parts: Sequence[int]) -> float:
        """The largest share of the persons of a part that have one value."""
        return max(self._share(parts, part) for part in set(parts))

    def _share(self, parts: Sequence[int], part: int) -> float:
        inside = [
            (person, value)
            for person, value, its in zip(self.person, self.value, parts, strict=True)
            if its == part
        ]
        persons = len({person for person, _ in inside})
        having = (len({p for p, v in inside if v == w}) for _, w in inside)
        return max(having) / persons


@st.composite
def drawn_rows(draw: st.DrawFn) -> Drawn:
    rows = draw(st.integers(2, 9))

    def column(values: Sequence) -> list:
        return draw(st.lists(st.sampled_from(values), min_size=rows, max_size=rows))

    group = column(range(4))
    number = {old: new for new, old in enumerate(sorted(set(group)))}
    return Drawn(
        column(range(6)), column("xyz"), column("pqrst"), [number[g] for g in group]
    )


def drawn_request(rows: Drawn, theta: float):
    """A request for these rows, whose groups look as `Drawn.looks` says."""
    cells = {
        "place": [f"{place}" for place in rows.place],
        "value": rows.value,
        "person": rows.person,
    }
    roles = {"place": Role.QUASI, "value": Role.SENSITIVE, "person": Role.SUBJECT}
    table = Awkward("made", pa.table(cells), roles, dict.fromkeys(cells, Kind.CATEGORY))

    def look(_quasi, grouping):
        seen = rows._replace(group=grouping.group_of.tolist()).looks()
        by_group = dict(zip(grouping.group_of.tolist(), seen, strict=True))
        return np.array([by_group[group] for group in range(grouping.count)])

    return request_for(table, [ThetaDiversity(theta=theta)], look=look)


@given(drawn_rows())
def test_groups_hold_as_a_recipient_sees_them_by_counting_persons(rows):
    """Each group meets theta alone; what comes back meets it by its looks."""
    theta = rows.worst_share(rows.group)
    given_groups = Grouping(np.array(rows.group, dtype=np.int32), max(rows.group) + 1)
    try:
        found = holding_together(drawn_request(rows, theta), given_groups)
    except (InfeasibleError, SearchError):
        assert rows.worst_share([0] * len(rows.group)) > theta
        return
    result = rows._replace(group=found.group_of.tolist())
    assert result.worst_share(result.looks()) <= theta + 1e-9
    parts = set(zip(rows.group, result.group, strict=True))
    assert len(parts) == len(set(rows.group)), "a group was split"
    if rows.worst_share(rows.looks()) <= theta:
        assert result.group == rows.group


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
