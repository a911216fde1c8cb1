"""A release has one figure for each metric, in its manifest and beside its original."""

from __future__ import annotations

from random import Random
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato import registry
from sfumato.errors import InfeasibleError
from sfumato.metrics.base import Metric, MetricInput

OPERATORS = ("generalize", "suppress", "swap", "anatomize", "microaggregate")
QUASI = ("age", "town", "sex")


class LossOfGroups(Metric):
    """The mean over groups of the loss of their cells: no sum over rows."""

    name: ClassVar[str] = "loss_of_groups"
    sentence: ClassVar[str] = "The mean over groups of the loss of their cells."

    def measure(self, outcome: MetricInput) -> float:
        return (
            float(np.sqrt(outcome.ncp.mean(axis=1)).mean()) if len(outcome.ncp) else 0
        )


def people(random: Random) -> pa.Table:
    """A small table, often with a column of a single value or with missing cells."""
    rows = random.choice([4, 8, 20, 40])
    ages, towns = random.choice([1, 3, 30]), random.choice(["x", "xy", "wxyz"])
    return pa.table(
        {
            "age": [random.randrange(ages) for _ in range(rows)],
            "town": [random.choice(towns) for _ in range(rows)],
            "sex": [random.choice(["", "f", "m"]) for _ in range(rows)],
            "ill": [random.choice(["flu", "cold", "gout"]) for _ in range(rows)],
        }
    )


def policy_of(random: Random, operator: str) -> sf.Policy:
    """A policy that most tables of `people` can meet."""
    groups = {"l": 2} if operator in ("swap", "anatomize") else {"k": 2}
    policy = sf.Policy.build(quasi=list(QUASI), sensitive="ill", **groups)
    settings = {
        "columns.age.kind": "integer",
        "algorithm.name": random.choice(["mondrian", "datafly", "k-member"]),
        "publish.operator": operator,
        "publish.max_suppressed": random.choice([0.0, 0.3]),
        "publish.max_loss": 1.0,
    }
    if operator == "generalize":
        settings["publish.flat"] = random.choice(["set", "star"])
    return policy.with_settings(settings)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("seed", range(12))
def test_the_manifest_and_an_assessment_say_the_same(operator, seed, monkeypatch):
    metrics = {
        **registry.CATALOGUE["metrics"],
        LossOfGroups.name: f"{__name__}:LossOfGroups",
    }
    monkeypatch.setitem(registry.CATALOGUE, "metrics", metrics)
    random = Random(f"{operator} {seed}")
    table, policy = people(random), policy_of(random, operator)
    try:
        release = sf.anonymize(table, policy)
    except InfeasibleError:
        return
    manifest = release.manifest["utility"]
    assessed = sf.assess(table, release, policy).utility
    shared = set(manifest) & set(assessed)
    assert {"discernibility", "average_class_size"} <= shared
    assert (LossOfGroups.name in shared) is (operator != "microaggregate")
    for name in shared:
        assert assessed[name] == pytest.approx(manifest[name], abs=1e-9), name
