"""Every algorithm, asked for every model where a missing cell may be any value, makes
releases that are proven, or says before that it will not."""

from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato import registry
from sfumato.data.seeds import Seed
from sfumato.errors import InfeasibleError, RefusedError, SearchError
from sfumato.models.base import OutputModel

NO_PROMISE = (RefusedError, InfeasibleError, SearchError)
"""Words of refusal; a draft that fails its proof is none of them."""
WEAK = {"k": 3, "l": 2, "p": 2, "at_most": 0.4, "upper": 1, "epsilon": 1}
"""Limits that a table of 24 rows can meet; of other parameters the largest is tried."""


def requirements() -> Iterator[dict[str, Any]]:
    """Every model that a table can show, with each set of its examples."""
    for name in registry.names("models"):
        model = registry.load("models", name)
        if issubclass(model, OutputModel):
            for example in model.examples:
                yield {"model": name, **dict(map(chosen, example.items()))}


def chosen(example: tuple[str, Sequence[Any]]) -> tuple[str, Any]:
    name, values = example
    if name == "where":
        return name, {"place": "a"}
    return name, WEAK[name] if name in WEAK and WEAK[name] in values else values[-1]


MODELS = list(requirements())
# Those that a ledger certifies need declared domains.
ALGORITHMS = [
    name
    for name in registry.names("algorithms")
    if not registry.load("algorithms", name).certifies
]


def gappy(rows, *, persons, sure):
    """A table with gaps, in the sensitive column unless `sure`, and several marks."""
    random = np.random.default_rng(rows)

    def column(values):
        return [values[at] for at in random.integers(0, len(values), rows)]

    columns = {
        "place": column(["a", "b", "c", "", "?"]),
        "age": column([*map(str, range(20, 40)), "", "?"]),
        "cost": column(["1", "2", "3", "9"] if sure else ["1", "2", "3", "9", ""]),
    }
    if persons:
        columns["who"] = [str(at) for at in random.integers(0, rows // 2, rows)]
    return pa.table(columns)


def released(algorithm, model, *, persons, spare, sure):
    subject = {"subject": "who"} if persons else {}
    try:
        return sf.anonymize(
            gappy(24, persons=persons, sure=sure),
            seed=Seed.guessable(1),
            quasi=["place", "age"],
            sensitive=["cost"],
            missing=["", "?"],
            missing_as="any",
            algorithm=algorithm,
            max_suppressed=spare,
            require=[model],
            **subject,
        )
    except NO_PROMISE:
        return None


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_what_is_released_holds_for_both_meanings(algorithm):
    cases = [{"persons": False, "spare": 0.2, "sure": False}]
    cases += [{"persons": False, "spare": 0.0, "sure": True}]
    cases += [{"persons": True, "spare": 0.2, "sure": True}]
    found = [
        released(algorithm, model, **case)
        for model, case in zip(MODELS, cycle(cases), strict=False)
    ]
    releases = [release for release in found if release is not None]
    assert releases
    for release in releases:
        assert all(verdict["holds"] for verdict in release.verdicts)
        assert all("any" in verdict["missing_as"] for verdict in release.verdicts)
