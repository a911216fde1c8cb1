"""A job for each entry of the catalogue, whatever kind of thing it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sfumato as sf
from benchmarks.case import Case
from benchmarks.measure import Facts, Job
from benchmarks.places import scratch
from sfumato import registry
from sfumato.data.seeds import Seed
from sfumato.metrics.base import ComparisonMetric, MetricInput
from sfumato.models.base import Model, ProcessModel
from sfumato.pipeline.pair import PairFiles
from sfumato.risk.attacks.base import AttackInput
from sfumato.risk.table_pair import Pair
from sfumato.risk.utility import comparison

K = 5
SEED = 15
GROUPS = 100_000
"""Groups of the release that metrics measure."""
ROWS = {
    "algorithms": 5_000,
    "models": 50_000,
    "operators": 50_000,
    "metrics": GROUPS,
    "attacks": 2_000,
}
FIRST_ROWS = {"certified": 5_000, "other": 400}
"""Rows of a first release: a certified one needs groups that noise leaves standing."""
REFERENCE = {
    "algorithms": registry.DEFAULT_ALGORITHM,
    "models": "k-anonymity",
    "operators": "generalize",
    "metrics": "ncp",
    "attacks": "linkage",
}
TREE = {"tree": {"north": ["a", "b", "c"], "south": ["d", "e", "f", "g"]}}
HIERARCHIES = {
    "age": {"intervals": [5, 10, 20], "bottom": 20, "top": 80},
    "place": TREE,
    "illness": TREE,
}
"""Declared, not fitted to the data, so that every algorithm takes them."""


def every_entry() -> Iterator[Case]:
    """One case for each entry of the catalogue, side by side with one of its kind."""
    for kind in registry.KINDS:
        for name in registry.names(kind):
            rows = ROWS[kind]
            yield Case(
                group=f"every entry of the catalogue: {kind}, {rows:,} rows",
                label=name,
                job="entry",
                parameters={"kind": kind, "name": name, "rows": rows},
                reference=name == REFERENCE[kind],
                repeats=1 if kind == "algorithms" else 3,
                limit=600,
            )


def entry(*, kind: str, name: str, rows: int) -> Job:
    """The job of one entry; a kind that has no job is an error."""
    return _JOBS[kind](name, rows)


def people(rows: int) -> pa.Table:
    """A made table: two quasi-identifiers and an illness."""
    draw = np.random.default_rng(SEED)
    return pa.table(
        {
            "age": np.minimum(20 + draw.exponential(20, rows).astype(int), 79),
            "place": draw.choice(list("abcdefg"), rows),
            "illness": draw.choice(list("abcdefg"), rows),
        }
    )


def policy_for(algorithm: str) -> sf.Policy:
    """A policy that an algorithm accepts: with a budget if a ledger certifies it."""
    made = registry.load("algorithms", algorithm)
    require = [
        {"model": name, **first_example(registry.load("models", name))}
        for name in made.certifies
    ]
    if not getattr(made, "every_column", False):
        require.append({"model": "k-anonymity", "k": K})
    return _policy(require, algorithm, "generalize")


def first_example(model: type[Model]) -> dict[str, Any]:
    """The parameters in the middle of a model's first examples."""
    chosen = model.examples[0].items()
    return {name: values[len(values) // 2] for name, values in chosen}


def _policy(require: list[dict[str, Any]], algorithm: str, operator: str) -> sf.Policy:
    return sf.Policy.build(
        quasi=["age", "place"],
        sensitive=["illness"],
        kinds={"age": "integer"},
        hierarchies=HIERARCHIES,
        require=require,
        algorithm=algorithm,
        publish={"operator": operator, "max_suppressed": 0.5, "max_loss": 1},
    )


def _algorithm(name: str, rows: int) -> Job:
    policy, table = policy_for(name), people(rows)
    return Job(work=lambda: sf.anonymize(table, policy), facts=_measures)


def _operator(name: str, rows: int) -> Job:
    # A promise about groups, which operators that leave cells exact can keep, too.
    policy = _policy([{"model": "group-size", "k": K}], "mondrian", name)
    table = people(rows)
    return Job(work=lambda: sf.anonymize(table, policy), facts=_measures)


def _measures(release: sf.Release) -> Facts:
    measured = release.manifest["utility"].items()
    return {name: float(value) for name, value in measured if name == "ncp"}


def _model(name: str, rows: int) -> Job:
    """Judge a published table; a process model judges how one is made."""
    model = registry.load("models", name)
    if issubclass(model, ProcessModel):
        return _certified(name, rows)
    policy = _policy([{"model": "k-anonymity", "k": K}], "mondrian", "generalize")
    table = people(rows)
    published = sf.anonymize(table, policy).table
    asked = {"model": name, **_parameters(model, table)}
    return Job(
        work=lambda: sf.check(
            published,
            quasi=["age", "place"],
            sensitive=["illness"],
            hierarchies=HIERARCHIES,
            require=[asked],
        ),
        facts=lambda found: {"holds": bool(found.verdicts[0]["holds"])},
    )


def _certified(name: str, rows: int) -> Job:
    names = registry.names("algorithms")
    able = [n for n in names if name in registry.load("algorithms", n).certifies]
    return _algorithm(able[0], rows)


def _parameters(model: type[Model], table: pa.Table) -> dict[str, Any]:
    """An example, on columns of the table, with a population where one is needed."""
    chosen = first_example(model)
    if "where" in chosen:
        chosen["where"] = {"place": "a"}
    known = {field.name for field in fields(model)}
    if "population" in known and "sampling_fraction" not in chosen:
        path = scratch() / f"population-{table.num_rows}.parquet"
        pq.write_table(pa.concat_tables([table, table]), path)
        chosen["population"] = str(path)
    return chosen


def _metric(name: str, rows: int) -> Job:
    metric = registry.load("metrics", name)()
    if isinstance(metric, ComparisonMetric):
        return _comparison(metric, rows // 10)
    draw = np.random.default_rng(SEED)
    sizes = draw.integers(1, 50, rows)
    release = MetricInput(
        rows_in=int(sizes.sum()) + rows,
        rows_out=int(sizes.sum()),
        group_rows=sizes,
        ncp=draw.random((rows, 8)),
        loss=draw.random((rows, 8)),
        published_sizes=sizes,
        k=K,
    )
    return Job(
        work=lambda: metric.measure(release),
        facts=lambda measured: {"measured": float(measured)},
    )


def _comparison(metric: ComparisonMetric, rows: int) -> Job:
    """Compare a release with its original, row by row."""
    compared = comparison(_pair(rows))
    return Job(
        work=lambda: metric.compare(compared),
        facts=lambda measured: {"measured": float(measured.value)},
    )


def _attack(name: str, rows: int) -> Job:
    """Attack a release; what an attack refuses costs next to nothing."""
    attack = registry.load("attacks", name)()
    scene = AttackInput(pair=_pair(rows), seed=Seed.guessable(1))
    return Job(
        work=lambda: () if attack.refusal(scene) else attack.run(scene),
        facts=lambda found: {"success": float(found[0].success)} if found else {},
    )


def _pair(rows: int) -> Pair:
    """A release and its original, in the same order."""
    policy = _policy([{"model": "k-anonymity", "k": K}], "mondrian", "generalize")
    policy = policy.with_settings(
        {"publish.order": "source", "publish.max_suppressed": 0}
    )
    table = people(rows)
    tables = PairFiles(
        policy=policy,
        original=table,
        published=sf.anonymize(table, policy).table,
        same_order=True,
    )
    return tables.pair()


_JOBS: Mapping[str, Callable[[str, int], Job]] = {
    "algorithms": _algorithm,
    "models": _model,
    "operators": _operator,
    "metrics": _metric,
    "attacks": _attack,
}


def first_use_program(algorithm: str, directory: Path) -> str:
    """A program that makes a first small release with an algorithm."""
    policy = directory / f"first-{algorithm}.toml"
    policy.write_text(policy_for(algorithm).dump(), encoding="utf-8")
    certified = registry.load("algorithms", algorithm).certifies
    rows = FIRST_ROWS["certified" if certified else "other"]
    table = directory / f"first-{rows}.parquet"
    pq.write_table(people(rows), table)
    return (
        "import sfumato as sf, pyarrow.parquet as pq; "
        f"sf.anonymize(pq.read_table({str(table)!r}), sf.Policy.load({str(policy)!r}))"
    )
