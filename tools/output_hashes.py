"""Hash the published data files of every algorithm, to compare two versions of the code.

Usage: python -m tools.output_hashes FILE [--rows 1000] [--only NAME …]
       python -m tools.output_hashes --compare OLD NEW

Runs every algorithm on four real tables with three policies and a fixed seed. Between
them the tables have hierarchies, lines of few and of many numbers, and plain categories.
FILE gets a line of JSON per case: its name, and a hash per data file, or the kind of error
if it is refused. Algorithms that draw secret noise refuse a seed, and that is their line.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv

import sfumato as sf
from sfumato import registry
from sfumato.errors import InfeasibleError, RefusedError

DATA = Path(os.environ.get("SFUMATO_DATA", "shared/data"))
SEED = 20
TABLES: Mapping[str, dict[str, Any]] = {
    "adult": {
        "file": "adult/adult_clean_30162.csv.gz",
        "trees": ("workclass", "education", "native-country", "race"),
        "others": ("age", "sex"),
        "sensitive": "occupation",
    },
    "cahousing": {
        "file": "cahousing/cahousing.csv",
        "trees": ("latitude", "median_house_value"),
        "others": ("longitude", "housing_median_age"),
        "sensitive": "ocean_proximity",
    },
    "german": {
        "file": "german/german.csv",
        "trees": ("age", "job", "housing", "purpose"),
        "others": (),
        "sensitive": "risk",
    },
    "stroke": {
        "file": "stroke/stroke.csv",
        "trees": (),
        "others": ("gender", "age", "work_type", "smoking_status"),
        "sensitive": "stroke",
    },
}
POLICIES: Mapping[str, dict[str, Any]] = {
    "k": {"k": 5},
    "k-l": {"k": 3, "l": 2, "max_suppressed": 0.1},
    "k-t": {"k": 4, "t": 0.4, "max_suppressed": 0.3},
}


def cases(rows: int, only: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """The name and the hashes of every case, one at a time."""
    algorithms = only or registry.names("algorithms")
    for place, settings in TABLES.items():
        table = read(settings, rows)
        for algorithm, policy in product(algorithms, POLICIES):
            asked = {**POLICIES[policy], "algorithm": algorithm}
            yield f"{algorithm} {place} {policy}", hashes(table, settings, asked)


def read(settings: dict[str, Any], rows: int) -> pa.Table:
    """The columns that a policy names, as text, evenly taken from the whole file."""
    names = [*settings["trees"], *settings["others"], settings["sensitive"]]
    options = pa_csv.ConvertOptions(
        include_columns=names, column_types=dict.fromkeys(names, pa.string())
    )
    table = pa_csv.read_csv(DATA / settings["file"], convert_options=options)
    step = max(table.num_rows // rows, 1)
    return table.take(list(range(0, table.num_rows, step))[:rows])


def hashes(table: pa.Table, settings: dict[str, Any], asked: dict[str, Any]) -> Any:
    """SHA-256 of each data file of a release, or the kind of error that refused it."""
    folder = (DATA / settings["file"]).parent / "hierarchies"
    try:
        release = sf.anonymize(
            table,
            quasi=[*settings["trees"], *settings["others"]],
            sensitive=[settings["sensitive"]],
            hierarchies={
                name: {"file": str(folder / f"{name}.csv"), "trust": True}
                for name in settings["trees"]
            },
            publish={"max_loss": 1},
            insecure_seed=SEED,
            **asked,
        )
    except (InfeasibleError, RefusedError) as refusal:
        return type(refusal).__name__
    with TemporaryDirectory() as directory:
        place = Path(directory) / "release"
        release.save(place)
        return {file.name: digest(file) for file in sorted(place.rglob("*.csv"))}


def digest(file: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def compare(old: Path, new: Path) -> int:
    """Print the cases that differ; return how many there are."""
    before, after = (
        dict(json.loads(line) for line in file.read_text().splitlines())
        for file in (old, new)
    )
    differ = [
        name
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]
    for name in differ:
        print(f"{name}: {before.get(name)} → {after.get(name)}")
    refused = sum(isinstance(value, str) for value in after.values())
    print(f"{len(after)} cases, {refused} of them refused, {len(differ)} differ")
    return len(differ)


def main(words: Sequence[str]) -> int:
    """Write the hashes of all cases, or compare two files of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--compare", nargs=2, type=Path)
    given = parser.parse_args(words)
    if given.compare:
        return min(compare(*given.compare), 1)
    with given.file.open("w", encoding="utf-8") as out:
        for name, found in cases(given.rows, given.only):
            print(json.dumps([name, found]), file=out, flush=True)
            print(f"{time.process_time():8.1f} s  {name}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
