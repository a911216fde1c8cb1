"""Figures 8 and 9 of Loukides and Shao 2008: the error of COUNT queries on Adult.

Average relative error (A.R.E.) of random queries of two types on releases by Mondrian,
K-Members and threshold-based greedy clustering (TGCU, TGCB, TGCP), and the normalized
error (x − best) / (worst − best) of each k.

Usage: python -m experiments.loukides_shao_2008 [--k 5 10 25 50] [--queries 10000]
       [--rows N] [--out FILE]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

import sfumato as sf
from benchmarks.sources import directory
from sfumato.data.seeds import Seed
from sfumato.io.read import read_source
from sfumato.pipeline.workload_tables import queried_source
from sfumato.policy import Policy
from sfumato.workload.answer_errors import Estimate
from sfumato.workload.queries import RandomQueries, Share, Workload

QUASI = ("age", "sex", "race", "workclass", "native-country", "salary-class")
SENSITIVE = ("marital-status", "occupation")
# Categories take about half of their values; the window of ages is as wide as the
# selectivity of the paper then asks: 1.5 % (type 1) and 0.5 % (type 2) of the domain.
TYPES: dict[str, dict[str, Share]] = {
    "type 1": {"age": 0.06, "sex": 1, "salary-class": 1},
    "type 2": {"age": 0.058, "sex": 1, "salary-class": 1, "race": 3, "workclass": 4},
}
FIGURE = {"type 1": "8", "type 2": "9"}
ALGORITHMS: dict[str, dict[str, Any]] = {
    "Mondrian": {"name": "mondrian", "cut": "widest"},
    "K-Members": {"name": "k-member"},
    "TGCU": {"name": "tgc", "preset": "TGCU"},
    "TGCB": {"name": "tgc", "preset": "TGCB"},
    "TGCP": {"name": "tgc", "preset": "TGCP"},
}


def policy(algorithm: Mapping[str, Any], k: int) -> Policy:
    """k-anonymity by one algorithm; categories without hierarchies show sets."""
    made = Policy.build(
        quasi=list(QUASI), sensitive=list(SENSITIVE), k=k, unlisted="drop"
    )
    for key, value in algorithm.items():
        made = made.with_setting(f"algorithm.{key}", value)
    return made


def errors(source: pa.Table, k: int, queries: int) -> dict[str, dict[str, Estimate]]:
    """A.R.E. of each algorithm, by type of query."""
    found: dict[str, dict[str, Estimate]] = {name: {} for name in TYPES}
    for name, algorithm in ALGORITHMS.items():
        asked = policy(algorithm, k)
        proven = sf.anonymize(source, asked, seed=Seed.guessable(1))
        for kind, selectivity in TYPES.items():
            part = RandomQueries(count=queries, selectivity=selectivity, seed=1)
            place = queried_source(asked, source, Workload(random=(part,)), None)
            error = place.error(proven.table, proven.beside)
            found[kind][name] = error.average_relative
    return found


def lines(source: pa.Table, ks: Sequence[int], queries: int) -> Iterator[str]:
    """The figures as tables."""
    by_k = {k: errors(source, k, queries) for k in ks}
    for kind, figure in FIGURE.items():
        yield f"## Figure {figure}: {kind}, {queries} queries, {source.num_rows} rows\n"
        yield "A.R.E. with its 95 % interval; in parentheses the normalized error.\n"
        yield "| k | " + " | ".join(ALGORITHMS) + " |"
        yield "|---" * (len(ALGORITHMS) + 1) + "|"
        for k in ks:
            yield f"| {k} | " + " | ".join(cells(by_k[k][kind])) + " |"
        yield ""


def cells(found: Mapping[str, Estimate]) -> Iterator[str]:
    """One row of a table."""
    values = [each.value for each in found.values()]
    best, worst = min(values), max(values)
    for each in found.values():
        normalized = (each.value - best) / max(worst - best, 1e-12)
        interval = f"[{each.low:.3f}, {each.high:.3f}]"
        yield f"{each.value:.3f} {interval} ({normalized:.2f})"


def main() -> None:
    """Print the figures as tables, and write them down where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--k", type=int, nargs="+", default=[5, 10, 25, 50])
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    source = read_source(directory() / "adult" / "adult_clean_30162.csv.gz")
    source = source.select([*QUASI, *SENSITIVE])
    if asked.rows:
        source = source.slice(0, asked.rows)
    text = "\n".join(lines(source, asked.k, asked.queries))
    print(text)
    if asked.out:
        asked.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
