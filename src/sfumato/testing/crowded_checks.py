"""Persons in several groups that look alike: what is released is proven all the same.

A crowded table has few values and persons with several rows. Its groups often show the
same cells, and are then one group to a recipient. A person who has rows in several of
them changes their shares: each group may meet a requirement and all of them together
may not. `crowded_checks` gives one check for each algorithm that counts persons, on
fixed tables, by turns with every operator, with the requirements that can be broken
like that, and mostly with refinement, whose groups look alike most often.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato import api, registry
from sfumato.data.seeds import Seed
from sfumato.errors import InfeasibleError, RefusedError, SearchError
from sfumato.policy import Policy
from sfumato.publish.base import CellOperator
from sfumato.testing.conformance_check import Check, must, variants

NAME = "groups that look alike hold together"
TABLES = 40
"""Tables drawn for each algorithm."""

ASKED: Sequence[Mapping[str, Any]] = (
    {"model": "theta-diversity", "theta": 0.5},
    {"model": "alpha-k", "alpha": 0.6, "k": 2},
    {"model": "theta-diversity", "theta": 0.67},
    {"model": "l-diversity", "kind": "recursive", "l": 2, "c": 1.5},
    {"model": "alpha-k", "alpha": 0.5, "k": 2},
    {"model": "t-closeness", "t": 0.3},
    {"model": "average-risk", "at_most": 0.4},
)
"""Requirements that groups may meet apart and break as one."""


def crowded_checks(*, tables: int = TABLES) -> Iterator[Check]:
    """A check for each algorithm of the catalogue that counts persons."""
    for name in registry.names("algorithms"):
        algorithm = registry.load("algorithms", name)
        if algorithm.counts_persons and not algorithm.certifies:
            yield Check(NAME, partial(_try, name, tables), name)


def _try(algorithm: str, tables: int) -> None:
    """Release crowded tables; a draft that fails its proof raises."""
    for number in range(tables):
        seed = Seed(f"crowded {number}".encode())
        refine = {"refine": 1} if number % 4 else {}
        policy = Policy.build(
            quasi=["age", "place"],
            sensitive=["value"],
            subject=["person"],
            kinds={"age": "integer", "value": "category"},
            require=[dict(ASKED[number % len(ASKED)])],
            algorithm={"name": algorithm, **refine},
            publish={**_operators()[number % len(_operators())], "max_loss": 1.0},
        )
        try:
            release = api.anonymize(crowded_table(seed), policy)
        except (InfeasibleError, RefusedError, SearchError):
            continue
        must(all(v["holds"] for v in release.verdicts), "a release that is not proven")


def _operators() -> list[dict[str, Any]]:
    """Every operator that shows groups by their cells, with all its options."""
    return [
        {"operator": name, **options}
        for name in registry.names("operators")
        for options in variants(registry.load("operators", name)).values()
        if issubclass(registry.load("operators", name), CellOperator)
    ]


def crowded_table(seed: Seed) -> pa.Table:
    """A small table of few values, in which most persons have several rows."""
    rows = 6 + int(11 * seed.child("rows").uniform(1)[0])
    people = 2 + int((rows * 3 // 4 - 1) * seed.child("people").uniform(1)[0])

    def column(name: str, values: Sequence[Any]) -> list[Any]:
        places = (seed.child(name).uniform(rows) * len(values)).astype(np.int64)
        return [values[place] for place in places]

    return pa.table(
        {
            "age": column("age", [1, 2, 5]),
            "place": column("place", ["north", "south", "west"]),
            "value": column("value", ["flu", "gout", "mumps"]),
            "person": column("person", [f"person {n}" for n in range(people)]),
        }
    )
