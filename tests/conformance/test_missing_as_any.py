"""Every algorithm, asked for every model where a missing cell may be any value, makes
releases that are proven, or says before that it will not."""

from itertools import cycle

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato import registry
from sfumato.data.seeds import Seed
from sfumato.errors import InfeasibleError, RefusedError, SearchError

NO_PROMISE = (RefusedError, InfeasibleError, SearchError)
"""Words of refusal; a draft that fails its proof is none of them."""
PRIVATE = ("dp-anonym", "dp-synthesis", "safepub")
"""Algorithms whose groups must not depend on cells: they need declared domains."""
MODELS = [
    {"model": "k-anonymity", "k": 3},
    {"model": "l-diversity", "l": 2},
    {"model": "l-diversity", "l": 1.5, "kind": "entropy"},
    {"model": "l-diversity", "l": 2, "kind": "recursive", "c": 3.0},
    {"model": "t-closeness", "t": 0.35},
    {"model": "n-t-closeness", "n": 6, "t": 0.3},
    {"model": "theta-diversity", "theta": 0.7},
    {"model": "alpha-k", "alpha": 0.7, "k": 2},
    {"model": "p-sensitive", "p": 2, "k": 3},
    {"model": "beta-likeness", "beta": 1.5},
    {"model": "delta-disclosure", "delta": 2.5},
    {"model": "lkc", "l": 1, "k": 3, "c": 0.8},
    {"model": "range-disclosure", "r": 0.4, "at_most": 0.9},
    {"model": "average-risk", "at_most": 0.4},
    {"model": "uniqueness", "at_most": 0.2},
]
ALGORITHMS = [n for n in registry.names("algorithms") if n not in PRIVATE]


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
