"""What the verifier shares with the search, broken: the fuzz's oracle notices.

The verifier imports no algorithm, no operator and no compiled code, but both sides code
columns, roll hierarchies up, build groups and ask the models. A fault there would be
made twice and go unseen; so each of these functions is replaced by a faulty one, which
makes the product accept a table that it refuses otherwise. The oracle, which reads
texts, still refuses it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.data.coding import code_column
from sfumato.data.rules import Distance
from sfumato.hierarchies.cell_leaves import cover_matrix
from sfumato.hierarchies.sensitive_axis import ground_distance, roll_up
from sfumato.models.common.groups import build_groups
from sfumato.models.common.unions import union_of
from tests.fuzz.cases import Case, Column
from tests.fuzz.claims import holds
from tests.fuzz.proof import Proof
from tests.fuzz.release import Release

TREE = {"lung": ["asthma", "flu"], "joint": ["gout", "rheuma"]}
PATHS = {leaf: [leaf, label, "*"] for label, below in TREE.items() for leaf in below}


@dataclass(frozen=True)
class Mutant:
    """A shared function, a fault in it, and a claim that the fault makes pass."""

    original: Callable[..., Any]
    faulty: Callable[..., Any]
    wanted: dict[str, Any]
    columns: dict[str, Column]
    roles: dict[str, Any]
    population: dict[str, Column] | None = None

    def case(self) -> Case:
        return Case(
            name="mutant",
            door="command",
            format="csv",
            columns=self.columns,
            policy={
                "columns": self.roles,
                "require": [self.wanted],
                "publish": {"operator": "generalize"},
            },
            population=self.population,
        )


def words(*cells: str, paths: Any = None) -> Column:
    return Column(kind="category", cells=cells, paths=paths)


def numbers(*cells: str) -> Column:
    return Column(kind="integer", cells=cells)


QUASI = {"role": "quasi"}
SENSITIVE = {"role": "sensitive"}


def all_different(name: str, values: Any, **settings: Any) -> Any:
    """Codes in which no two cells of a sensitive column are alike."""
    found = code_column(name, values, **settings)
    if name != "illness":
        return found
    labels = tuple(f"{label}{n}" for n, label in enumerate(values.to_pylist()))
    codes = np.arange(len(labels), dtype=np.int32)
    return replace(found, codes=codes, labels=labels)


def never_up(axis: Any, level: int) -> Any:
    return roll_up(axis, 0)


def by_rows(group_of: Any, count: int, **settings: Any) -> Any:
    return build_groups(group_of, count, **{**settings, "subject": None})


def everything(axis: Any, texts: Any) -> Any:
    return np.ones((len(texts), axis.size), dtype=np.bool_)


def as_neighbors(axis: Any, asked: Distance) -> Distance:
    return Distance.ORDERED


def all_alike(cells: Any, known: Any) -> Any:
    return np.zeros(len(cells), dtype=np.int64)


MUTANTS = {
    "code_column": Mutant(
        code_column,
        all_different,
        {"model": "l-diversity", "l": 2},
        {"age": numbers("30", "30"), "illness": words("flu", "flu")},
        {"age": QUASI, "illness": SENSITIVE},
    ),
    "roll_up": Mutant(
        roll_up,
        never_up,
        {"model": "l-diversity", "l": 2, "level": 1},
        {"age": numbers("30", "30"), "illness": words("flu", "asthma", paths=PATHS)},
        {"age": QUASI, "illness": {**SENSITIVE, "hierarchy": {"tree": TREE}}},
    ),
    "ground_distance": Mutant(
        ground_distance,
        as_neighbors,
        {"model": "t-closeness", "t": 0.3},
        {
            "age": words("1", "1", "2", "2", "2", "2"),
            "illness": words("a", "b", "a", "b", "c", "c"),
        },
        {"age": {**QUASI, "kind": "category"}, "illness": SENSITIVE},
    ),
    "build_groups": Mutant(
        build_groups,
        by_rows,
        {"model": "k-anonymity", "k": 2},
        {"age": numbers("30", "30"), "person": words("p", "p")},
        {"age": QUASI, "person": {"role": "subject", "pseudonymize": "keyed-hash"}},
    ),
    "cover_matrix": Mutant(
        cover_matrix,
        everything,
        {"model": "k-map", "k": 2, "population": "population.csv"},
        {"age": numbers("30")},
        {"age": QUASI},
        population={"age": numbers("30", "55")},
    ),
    "union_of": Mutant(
        union_of,
        all_alike,
        {"model": "lkc", "l": 1, "k": 2, "c": 1.0},
        {
            "age": numbers("30", "31", "31"),
            "city": words("x", "x", "x"),
            "illness": words("a", "b", "c"),
        },
        {"age": QUASI, "city": QUASI, "illness": SENSITIVE},
    ),
}


def published(case: Case, place: Path) -> Release:
    """The table of a case as if it were a release of itself."""
    case.write(place)
    out = place / "release"
    (out / "private").mkdir(parents=True)
    (out / "data.csv").write_bytes((place / "source.csv").read_bytes())
    (out / "manifest.json").write_text(json.dumps({"rows_out": case.rows}), "utf-8")
    rows = list(range(case.rows))
    record = pa.table({"published_row": rows, "source_row": rows, "group": rows})
    pq.write_table(record, out / "private" / "rows.parquet")
    return Release(case, out)


def accepted(release: Release) -> bool:
    policy = sf.Policy.load(release.place.parent / "policy.toml")
    return sf.check(release.data, policy).holds


def broken_everywhere(monkeypatch: pytest.MonkeyPatch, mutant: Mutant) -> None:
    """Put the faulty function wherever a module of ours has the original."""
    name = mutant.original.__name__
    for module in [m for n, m in sys.modules.items() if n.startswith("sfumato")]:
        if getattr(module, name, None) is mutant.original:
            monkeypatch.setattr(module, name, mutant.faulty)


@pytest.mark.parametrize("name", MUTANTS)
def test_the_oracle_notices_a_fault_that_search_and_verifier_share(
    name, tmp_path, monkeypatch
):
    mutant = MUTANTS[name]
    release = published(mutant.case(), tmp_path)
    assert not accepted(release), "the table must be false without the fault"
    broken_everywhere(monkeypatch, mutant)
    assert accepted(release), "the fault must make the product accept it"
    assert not holds(Proof(release), mutant.wanted)
