"""Checks the claims of Loukides and Shao (2008) about TGC on the Adult table.

Usage: python experiments/tgc_trade_off.py DIRECTORY [k]

DIRECTORY holds `adult/adult_clean_30162.csv.gz` and `adult/hierarchies/`. Quasi-identifiers
are age, work class, race, sex and country; marital status (with its hierarchy) and
occupation (made numeric: the mean age of those who have it stands for it) are
sensitive. Utility and protection are those of definitions 2.2 and 2.5; lower is better.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from sfumato.algorithms.base import Algorithm, Request
from sfumato.algorithms.clustering.k_member import KMember
from sfumato.algorithms.clustering.k_member_p import KMemberP
from sfumato.algorithms.clustering.tgc import Tgc, quality
from sfumato.algorithms.partition.mondrian import Mondrian
from sfumato.data.schema import Kind, Role
from sfumato.models.k_anonymity import KAnonymity
from sfumato.testing.awkward_tables import Awkward, request_for

QUASI = ("age", "workclass", "race", "sex", "native-country")
TREES = ("workclass", "race", "sex", "native-country", "marital-status")
SIZES = (10, 25, 50, 250, 1000)
ROWS = (2500, 5000, 10000, 20000)


def adult(directory: Path) -> Awkward:
    """The table with the roles of the paper."""
    folder = directory / "adult"
    source = pyarrow.csv.read_csv(folder / "adult_clean_30162.csv.gz")
    names = [*QUASI, "marital-status"]
    cells = {name: source.column(name) for name in names}
    cells["occupation"] = mean_age(source)
    hierarchies = {t: {"file": str(folder / "hierarchies" / f"{t}.csv")} for t in TREES}
    numbers = {"age": Kind.INTEGER, "occupation": Kind.DECIMAL}
    return Awkward(
        "adult",
        pa.table(cells),
        {n: Role.QUASI if n in QUASI else Role.SENSITIVE for n in cells},
        {n: numbers.get(n, Kind.CATEGORY) for n in cells},
        hierarchies=hierarchies,
    )


def mean_age(source: pa.Table) -> pa.Array:
    """Each occupation as a number, so that it is an interval attribute."""
    codes = source.column("occupation").combine_chunks().dictionary_encode().indices
    index, ages = np.asarray(codes), source.column("age").to_numpy()
    means = np.bincount(index, weights=ages) / np.bincount(index)
    return pc.round(pa.array(means[index]), 3)


def part(table: Awkward, rows: int, k: int) -> Request:
    """A request for the first rows of the table, k-anonymous."""
    order = np.random.default_rng(1).permutation(table.rows)[:rows]
    return request_for(table.permuted(order), [KAnonymity(k=k)])


def run(name: str, algorithm: Algorithm, request: Request) -> Mapping[str, Any]:
    """One run; prints and returns its figures."""
    begin = time.process_time()
    solution = algorithm.solve(request)
    seconds = time.process_time() - begin
    utility, protection = quality(request, solution.grouping, reach=1.0)
    facts = solution.facts
    sys.stdout.write(
        f"{name:34} rows {request.rows:6}  groups {solution.grouping.count:5}  "
        f"Q-diversity {utility:.4f}  S-diversity {protection:.4f}  CPU {seconds:6.2f} s  "
        f"kernels {facts.get('kernel_seconds', 0.0):6.2f} s  "
        f"delta {facts.get('delta', float('nan')):.4f}  "
        f"subspaces {facts.get('subspaces', 0)}\n"
    )
    sys.stdout.flush()
    return facts


def main(directory: Path, k: int) -> None:
    """All experiments."""
    table = adult(directory)
    request = part(table, table.rows, k)
    run("(compiles)", Tgc(), part(table, 500, k))
    for preset in ("TGCU", "TGCB", "TGCP"):
        run(preset, Tgc(preset=preset), request)
    for algorithm in (Mondrian(cut="widest"), KMember(), KMemberP()):
        run(algorithm.name, algorithm, request)
    found = Tgc().solve(part(table, 10_000, k)).facts
    limits = {"delta": found["delta"], "split_limit": found["split_limit"]}
    for size in (*SIZES, 10_000):
        run(f"TGCB, size {size}", Tgc(size=size, **limits), part(table, 10_000, k))
    free = {"delta": found["delta"], "split_limit": 2.0}
    for size in SIZES:
        name = f"TGCB, size {size}, no limit on split"
        run(name, Tgc(size=size, **free), part(table, 10_000, k))
    for rows in ROWS:
        run("TGCB with subspaces", Tgc(**free), part(table, rows, k))
        run("TGCB without", Tgc(size=rows, **free), part(table, rows, k))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5)
