"""The tables of Loukides and Shao 2008, and how a grouping of them is measured."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from benchmarks.sources import directory
from sfumato.algorithms.base import Algorithm, Request
from sfumato.algorithms.clustering import clustering_task, tgc
from sfumato.algorithms.clustering.k_member import KMember
from sfumato.algorithms.clustering.k_member_p import KMemberP
from sfumato.algorithms.clustering.tgc import Tgc, quality
from sfumato.algorithms.partition.mondrian import Mondrian
from sfumato.data.schema import Kind, Role
from sfumato.data.seeds import Seed
from sfumato.models.k_anonymity import KAnonymity
from sfumato.testing.awkward_tables import Awkward, request_for

# Eight attributes, as the paper says: those of Iyengar 2002 without education. Income is
# among its queries, so it is a quasi-identifier.
QUASI = ("age", "workclass", "race", "sex", "native-country", "salary-class")
SENSITIVE = ("marital-status", "occupation")
TREES = ("workclass", "race", "sex", "native-country", "marital-status")
NO_LIMIT = 9.0
"""A δ′ above any sum of S-diversities: subspaces are cut down to s."""
NORMAL_ROWS = 8000
SEEDS = (1, 2, 3, 4, 5)


@cache
def adult(*, occupation_only: bool = False) -> Awkward:
    """Adult with the roles of the paper; occupation is a number, by mean age.

    For figures 11 and 12, occupation is the one sensitive attribute, and a category.
    """
    table = adult_columns(occupation_only=occupation_only)
    names = table.column_names
    kinds = {"age": Kind.INTEGER}
    if not occupation_only:
        kinds["occupation"] = Kind.DECIMAL
    return Awkward(
        "adult",
        table,
        {n: Role.QUASI if n in QUASI else Role.SENSITIVE for n in names},
        {n: kinds.get(n, Kind.CATEGORY) for n in names},
        hierarchies={n: tree for n, tree in trees().items() if n in names},
    )


@cache
def adult_columns(*, occupation_only: bool = False) -> pa.Table:
    """The columns of Adult that the paper uses."""
    source = pyarrow.csv.read_csv(directory() / "adult" / "adult_clean_30162.csv.gz")
    names = [*QUASI, *SENSITIVE[occupation_only:]]
    cells = {name: source.column(name) for name in names}
    if not occupation_only:
        cells["occupation"] = mean_age(source)
    return pa.table(cells)


def trees() -> dict[str, dict[str, str]]:
    """The hierarchies of Adult, by column."""
    place = directory() / "adult" / "hierarchies"
    return {name: {"file": str(place / f"{name}.csv")} for name in TREES}


def mean_age(source: pa.Table) -> pa.Array:
    """Each occupation as a number, so that it is an interval attribute."""
    codes = source.column("occupation").combine_chunks().dictionary_encode().indices
    index, ages = np.asarray(codes), source.column("age").to_numpy()
    means = np.bincount(index, weights=ages) / np.bincount(index)
    return pc.round(pa.array(means[index]), 3)


@cache
def normal() -> Awkward:
    """8,000 rows of five standard normal attributes, the last one sensitive."""
    random = np.random.default_rng(8)
    names = ("a", "b", "c", "d", "secret")
    cells = {n: np.round(random.standard_normal(NORMAL_ROWS), 2) for n in names}
    roles = {n: Role.SENSITIVE if n == "secret" else Role.QUASI for n in names}
    kinds = dict.fromkeys(names, Kind.DECIMAL)
    return Awkward("normal", pa.table(cells), roles, kinds)


def part(table: Awkward, rows: int | None, k: int, seed: int = 1) -> Request:
    """A request for rows drawn from the table without replacement, k-anonymous.

    The seed draws the rows and what the algorithm draws: the order of rows alone changes
    nothing.
    """
    order = np.random.default_rng(seed).permutation(table.rows)[:rows]
    models = [KAnonymity(k=k)]
    return request_for(table.permuted(order), models, seed=Seed.guessable(seed))


def drawn(table: Awkward, rows: int | None) -> str:
    """How many rows `part` takes, in words."""
    if rows is None or rows >= table.rows:
        return f"{table.name.capitalize()}, all {table.rows:,} rows"
    return f"{table.name.capitalize()}, {rows:,} rows drawn of {table.rows:,}"


def all_or_first(rows: int) -> str:
    """How many rows of Adult were used, in words."""
    return f"{'all' if rows == adult().rows else 'first'} {rows:,} rows"


def repeated(seeds: Sequence[int]) -> str:
    """What the bands show where requests come from `part`."""
    return (
        f"Bands: lowest and highest of {len(seeds)} seeds; lines: medians. Lines without a "
        "band do not depend on the seed."
    )


def algorithms(**options: Any) -> dict[str, Algorithm]:
    """The six of the paper; `options` are those of all three versions of TGC."""
    return {
        "Mondrian": Mondrian(cut="widest"),
        "K-Members": KMember(),
        "K-Members-p": KMemberP(),
        "TGCU": Tgc(preset="TGCU", **options),
        "TGCB": Tgc(preset="TGCB", **options),
        "TGCP": Tgc(preset="TGCP", **options),
    }


def left_over(runs: Sequence[Measured]) -> float:
    """The median share of rows in rejected clusters."""
    return float(np.median([each.rest.rows for each in runs]))


def largest(runs: Sequence[Measured]) -> float:
    """The median share of rows that the largest group holds."""
    return float(np.median([each.largest for each in runs]))


@dataclass(frozen=True)
class Measured:
    """One run: definitions 2.2 and 2.5 (lower is better), DM, and seconds of CPU."""

    utility: float
    protection: float
    discernibility: float
    groups: int
    largest: float
    """The share of rows that the largest group holds."""
    seconds: float
    rest: Rest
    facts: Mapping[str, Any]


@dataclass
class Rest:
    """Of TGC: the share of rows in rejected clusters, and seconds to place them."""

    rows: float = 0.0
    seconds: float = 0.0


@contextmanager
def watched(rows: int) -> Iterator[Rest]:
    """Look at the last step of TGC, which places the rows of rejected clusters."""
    rest, finish = Rest(), clustering_task.finish

    def timed(task: Any, clusters: Any, *more: Any, **options: Any) -> Any:
        rest.rows = float(clusters.left.sum()) / rows
        begin = time.process_time()
        grouping = finish(task, clusters, *more, **options)
        rest.seconds = time.process_time() - begin
        return grouping

    with patch.object(tgc, "finish", timed):
        yield rest


def measured(algorithm: Algorithm, request: Request, *, reach: float = 1.0) -> Measured:
    """Run an algorithm, and measure its groups."""
    begin = time.process_time()
    with watched(request.rows) as rest:
        solution = algorithm.solve(request)
    seconds = time.process_time() - begin
    utility, protection = quality(request, solution.grouping, reach=reach)
    sizes = solution.grouping.sizes().astype(np.float64)
    return Measured(
        utility,
        protection,
        float((sizes**2).sum()),
        solution.grouping.count,
        float(sizes.max() / sizes.sum()),
        seconds,
        rest,
        solution.facts,
    )
