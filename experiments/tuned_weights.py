"""Does fitting weights to a workload help queries that were not seen?

The open question of Boger 2020, section 6. Adult by `klt` and `swap`, K = 10, L = 5,
θ = 0.3, weights 1. Four workloads of random histograms of occupation, each selective
in one quasi-identifier. `sfumato tune` fits the weights on half of the queries.

Usage: python -m experiments.tuned_weights [--queries 400] [--trials 40] [--column NAME]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import pyarrow as pa

import sfumato as sf
from benchmarks.sources import directory
from experiments.boger_2020 import QUASI, SENSITIVE, policy
from sfumato.data.seeds import Seed
from sfumato.io.read import read_source
from sfumato.workload.answer_errors import Estimate
from sfumato.workload.queries import RandomQueries, Share, Workload

NARROW: dict[str, Share] = {"race": 1, "education": 1, "sex": 1, "age": 5}
QUOTE = '"'
WIDE: dict[str, Share] = {"race": 3, "education": 8, "sex": 2, "age": 35}


def table(
    source: pa.Table, columns: tuple[str, ...], queries: int, trials: int
) -> Iterator[str]:
    """A line per workload."""
    yield "| selective in | weights found | seen, % of before | unseen, % of before |"
    yield "|---|---|---|---|"
    for column in columns:
        part = RandomQueries(
            count=queries,
            selectivity={**WIDE, column: NARROW[column]},
            histogram=SENSITIVE,
            seed=11,
        )
        tuned = sf.tune(
            source,
            policy(None, variant="text"),
            Workload(random=(part,)),
            trials=trials,
            keep=("variant", "categories"),
            seed=Seed.guessable(5),
        )
        found = ", ".join(
            f"{setting.split(QUOTE)[1]} {value:g}"
            for setting, value in tuned.changes.items()
        )
        yield (
            f"| {column}, {NARROW[column]} | {found or 'none better'} "
            f"| {_summary(tuned.train_ratio)} | {_summary(tuned.held_out_ratio)} |"
        )


def _summary(estimate: Estimate) -> str:
    return f"{estimate.value:.1f} ({estimate.low:.1f} … {estimate.high:.1f})"


def main() -> None:
    """Print the table line by line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=400)
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--column", choices=QUASI)
    asked = parser.parse_args()
    source = read_source(directory() / "adult" / "adult_train_32561.csv.gz")
    columns = (asked.column,) if asked.column else QUASI
    chosen = source.select([*QUASI, SENSITIVE])
    for line in table(chosen, columns, asked.queries, asked.trials):
        print(line, flush=True)


if __name__ == "__main__":
    main()
