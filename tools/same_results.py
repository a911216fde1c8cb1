"""Compare what kernels release from the library, freshly compiled, and run as Python.

Usage: python -m tools.same_results [--rows 200] [--python-rows 60]

Every algorithm that takes a seed releases a small made table under three policies, on one
thread and on two, in a process for each way. Ends with 1 where a byte differs. Algorithms
that draw secret noise take no seed: no two of their releases are equal.

`--print` is one of these processes: it prints a line per release.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tools.library.reach import table

SEED = 7
THREADS = (1, 2)
POLICIES: Mapping[str, Mapping[str, Any]] = {
    "k": {"k": 4},
    "k-l": {"k": 4, "l": 2, "max_suppressed": 0.1},
    "k-t": {"k": 4, "t": 0.4, "max_suppressed": 0.3},
}
FRESH = {"SFUMATO_LIBRARY": "off"}
PYTHON = {"NUMBA_DISABLE_JIT": "1"}
SETTINGS = (*FRESH, *PYTHON, "SFUMATO_CACHE_DIR")


def seeded() -> list[str]:
    """The algorithms that take a seed."""
    from sfumato import registry

    names = registry.names("algorithms")
    return [name for name in names if not registry.load("algorithms", name).certifies]


def lines(rows: int, names: Sequence[str]) -> Iterator[str]:
    """The hash of every release: algorithm, policy, threads."""
    source = table().slice(0, rows).drop_columns(["income"])
    for name in names:
        for policy, asked in POLICIES.items():
            for threads in THREADS:
                yield f"{name} {policy} {threads} {digest(source, name, asked, threads)}"


def digest(source: Any, name: str, asked: Mapping[str, Any], threads: int) -> str:
    """SHA-256 of a released table as CSV, or the kind of error that refused it."""
    import pyarrow.csv

    import sfumato as sf
    from sfumato.errors import InfeasibleError, RefusedError

    try:
        made = sf.anonymize(
            source,
            quasi=["age", "work", "zip"],
            sensitive=["disease"],
            algorithm=name,
            publish={"max_loss": 1},
            insecure_seed=SEED,
            threads=threads,
            **asked,
        )
    except (InfeasibleError, RefusedError) as refusal:
        return type(refusal).__name__
    out = io.BytesIO()
    pyarrow.csv.write_csv(made.table, out)
    return hashlib.sha256(out.getvalue()).hexdigest()


def released(
    rows: int,
    names: Sequence[str],
    settings: Mapping[str, str],
    python: Sequence[str] = (sys.executable,),
) -> list[str]:
    """The lines of another process."""
    words = ["-m", "tools.same_results", "--print", "--rows", str(rows), *names]
    ours = {name: text for name, text in os.environ.items() if name not in SETTINGS}
    paths = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(
        [*python, *words],
        env={**ours, **paths, **settings},
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise SystemExit(f"{settings} ended with {done.returncode}: {done.stderr}")
    return done.stdout.splitlines()


def unequal(way: str, first: Sequence[str], second: Sequence[str]) -> int:
    """Print which releases differ, and how many there are; return how many differ."""
    differ = [pair for pair in zip(first, second, strict=True) if pair[0] != pair[1]]
    for one, other in differ:
        print(f"  {one}\n  {other}")
    refused = sum(line.endswith("Error") for line in first)
    print(f"{way}: {len(first)} releases, {refused} refused, {len(differ)} differ")
    return len(differ)


def across_threads(given: Sequence[str]) -> tuple[list[str], list[str]]:
    """The lines of one thread and of two, without the number of threads."""
    parted = [line.split() for line in given]
    one, two = ([[*p[:2], p[3]] for p in parted if p[2] == n] for n in ("1", "2"))
    return [" ".join(words) for words in one], [" ".join(words) for words in two]


def main(words: Sequence[str]) -> int:
    """Print the releases of this process, or compare those of several."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--print", action="store_true")
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--python-rows", type=int, default=60)
    told = parser.parse_args(words)
    names = told.names or seeded()
    if told.print:
        for line in lines(told.rows, names):
            print(line, flush=True)
        return 0
    return compare(told.rows, told.python_rows, names)


def compare(rows: int, python_rows: int, names: Sequence[str]) -> int:
    """Compare every way with the library, and print each as it is done."""
    library = released(rows, names, {})
    found = [unequal("one thread and two", *across_threads(library))]
    with tempfile.TemporaryDirectory(prefix="sfumato-cache-") as cache:
        fresh = released(rows, names, {**FRESH, "SFUMATO_CACHE_DIR": cache})
    found.append(unequal("library and fresh compilation", library, fresh))
    few = released(python_rows, names, {})
    found.append(
        unequal("library and Python", few, released(python_rows, names, PYTHON))
    )
    return int(any(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
