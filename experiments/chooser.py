"""Measure what the chooser recommends: loss, time and attacks on four real tables.

At most 3,000 rows of each table (a fixed random sample), the same quasi-identifiers,
hierarchies and sensitive column for every choice; of choices for many columns, every
column that has a hierarchy is a quasi-identifier. Query error is the median relative
error of 200 random counts over two columns; a person is found by linkage, or by distance
where that applies; a value is guessed from a person's group. For differential privacy,
the values in the files of hierarchies are the declared ones, and of the sensitive column
those that occur.

Usage: python -m experiments.chooser [CHOICE …]; it writes `measured_choices.json` of
`src/sfumato/cli`, or only the figures of the named choices in it.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import sfumato as sf
from benchmarks.sources import directory
from sfumato.errors import SfumatoError
from sfumato.io.read import read_source
from sfumato.workload.queries import RandomQueries, Workload

TARGET = Path(__file__).parents[1] / "src" / "sfumato" / "cli" / "measured_choices.json"
MOST_ROWS, QUERIES, SEED = 3_000, 200, 11


@dataclass(frozen=True)
class RealTable:
    """A real table: where it is, what others know, what nobody may learn."""

    name: str
    file: str
    hierarchies: str
    quasi: tuple[str, ...]
    sensitive: str

    def sample(self) -> pa.Table:
        """Its columns, and at most so many of its rows."""
        source = read_source(directory() / self.file)
        source = source.select([*self.quasi, self.sensitive])
        if source.num_rows <= MOST_ROWS:
            return source
        chosen = np.random.default_rng(1).choice(source.num_rows, MOST_ROWS, False)
        return source.take(np.sort(chosen))

    def wide(self) -> RealTable:
        """The same table with every column that has a hierarchy."""
        files = sorted((directory() / self.hierarchies).glob("*.csv"))
        others = [f.stem for f in files if f.stem not in (*self.quasi, self.sensitive)]
        return replace(self, quasi=(*self.quasi, *others))

    def hierarchy(self, column: str) -> str:
        """The file of a column's hierarchy."""
        return str(directory() / self.hierarchies / f"{column}.csv")


TABLES = (
    RealTable(
        "adult",
        "adult/adult_clean_30162.csv.gz",
        "adult/hierarchies_full",
        ("age", "sex", "race", "marital-status", "education", "native-country"),
        "occupation",
    ),
    RealTable(
        "census",
        "census_income/census_income_test.csv.gz",
        "census_income/hierarchies",
        ("age", "sex", "race", "marital_stat", "education", "class_of_worker"),
        "major_occupation_code",
    ),
    RealTable(
        "german",
        "german/german.csv",
        "german/hierarchies",
        ("age", "personal_status_sex", "job", "housing", "employment_since"),
        "purpose",
    ),
    RealTable(
        "stroke",
        "stroke/stroke.csv",
        "stroke/hierarchies",
        ("age", "gender", "ever_married", "work_type", "Residence_type"),
        "smoking_status",
    ),
)
GROUPS = ({"model": "group-size", "k": 5}, {"model": "theta-diversity", "theta": 0.6})
PRIVATE = {"model": "differential-privacy", "epsilon": 1.0}
DIVERSE: Mapping[str, Any] = {"k": 5, "l": 2}
CHOICES: dict[str, Mapping[str, Any]] = {
    "best": DIVERSE,
    "mondrian": {**DIVERSE, "algorithm": "mondrian"},
    "k-member": {**DIVERSE, "algorithm": "k-member"},
    "optimal": {**DIVERSE, "algorithm": "optimal", "max_suppressed": 0.05},
    "local-optimal": {**DIVERSE, "algorithm": "local-optimal"},
    "simulatable": {**DIVERSE, "algorithm": "simulatable"},
    "best, k = 20": {"k": 20, "l": 3},
    "best, t = 0.3": {"k": 5, "t": 0.3},
    "mdav + microaggregate": {
        **DIVERSE,
        "algorithm": "mdav",
        "operator": "microaggregate",
    },
    "best, many columns": DIVERSE,
    "mondrian, many columns": {**DIVERSE, "algorithm": "mondrian"},
    "klt + swap": {"require": GROUPS, "algorithm": "klt", "operator": "swap"},
    "klt + anatomize": {"require": GROUPS, "algorithm": "klt", "operator": "anatomize"},
    "dp-synthesis, ε = 1": {
        "require": ({**PRIVATE},),
        "algorithm": {"name": "dp-synthesis", "depth": 8},
    },
    "safepub, ε = 1": {
        "require": ({**PRIVATE, "delta": 1e-6},),
        "algorithm": "safepub",
    },
}


def policy(table: RealTable, source: pa.Table, asked: Mapping[str, Any]) -> sf.Policy:
    """The policy of a choice for a table."""
    values = sorted(set(source[table.sensitive].to_pylist()))
    hierarchies: dict[str, Any] = {name: table.hierarchy(name) for name in table.quasi}
    if "epsilon" in str(asked):
        hierarchies[table.sensitive] = {"tree": {"any": values}}
    return sf.Policy.build(
        quasi=list(table.quasi),
        sensitive=table.sensitive,
        hierarchies=hierarchies,
        kinds={"age": "integer"} if table.name != "stroke" else None,
        max_loss=1.0,
        **asked,
    )


def measured(table: RealTable, source: pa.Table, asked: Mapping[str, Any]) -> Any:
    """The figures of a choice on a table, or why there are none."""
    wanted = policy(table, source, asked)
    seed = None if wanted.process_models() else SEED
    start = time.process_time()
    try:
        release = sf.anonymize(source, wanted, insecure_seed=seed)
    except SfumatoError as error:
        return {"refused": error.message}
    seconds = time.process_time() - start
    return {
        "ncp": release.utility.get("ncp"),
        "rows": release.table.num_rows / source.num_rows,
        "seconds": round(seconds, 2),
        "query_error": query_error(table, source, release),
        **dict(attacks(table, source, release)),
    }


def query_error(table: RealTable, source: pa.Table, release: sf.Release) -> float:
    """The median relative error of random counts over two columns."""
    part = RandomQueries(
        count=QUERIES, selectivity={table.quasi[0]: 0.3, table.sensitive: 0.3}, seed=7
    )
    error = sf.workload_error(source, release, Workload(random=(part,)), resamples=1)
    return error.median_relative.value


def attacks(
    table: RealTable, source: pa.Table, release: sf.Release
) -> Iterator[tuple[str, float]]:
    """How often a person is found and a value guessed, and the guess without groups."""
    for name, key in (
        ("linkage", "found"),
        ("distance-linkage", "found"),
        ("guess", "guessed"),
    ):
        try:
            done = sf.attack(release, source, name, sample=1000, insecure_seed=SEED)
        except SfumatoError:
            continue
        for result in done.results:
            yield key, result.success
            if key == "guessed":
                yield "guessed_blindly", result.baseline


def main(*names: str) -> None:
    """Measure choices on every table, and write their figures beside the others'."""
    known = json.loads(TARGET.read_text("utf-8")) if names else {}
    for name in names or CHOICES:
        known[name] = {}
        for table in TABLES:
            asked = table.wide() if name.endswith("many columns") else table
            known[name][table.name] = measured(asked, asked.sample(), CHOICES[name])
            print(table.name, name, known[name][table.name], flush=True)
    found = {name: known[name] for name in CHOICES}
    TARGET.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
