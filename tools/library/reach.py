"""Run everything in the catalogue, and list the entry points that are called.

Usage: python -m tools.library.reach [--check]

Each run uses a small table: kernels are compiled for kinds of arguments, not for sizes.
Entries that these runs do not reach stay on the list while their kernel exists: rare
rows, and tests of single kernels, call them. `--check` ends with 1 where the list lacks
one that was reached, and writes nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from itertools import product
from typing import Any

from tools.library import entry_points
from tools.library.recording import recording

ROWS = 200
SIZES: Sequence[Mapping[str, Any]] = (
    {"k": 5},
    {"k": 5, "max_suppressed": 0.2},
    {"k": 5, "l": 2, "missing_as": "any"},
    {"require": [{"model": "average-risk", "at_most": 0.2}], "max_suppressed": 0.2},
    {"require": [{"model": "uniqueness", "at_most": 0.05}], "max_suppressed": 0.2},
)
"""Requirements on sizes, with and without rows that may go."""
FAMILIES: Sequence[Mapping[str, Any]] = (
    {"model": "l-diversity", "l": 2},
    {"model": "l-diversity", "l": 2, "kind": "entropy"},
    {"model": "t-closeness", "t": 0.4},
    {"model": "beta-likeness", "beta": 3},
    {"model": "range-disclosure", "r": 0.2, "at_most": 0.9},
)
"""A requirement for each family of rules (`kernels/common/rule_pointers.py`)."""
SHAPES: Sequence[Sequence[str]] = (
    ("age", "work", "zip"),
    ("age",),
    ("work",),
    ("zip",),
)
"""Quasi-identifiers: a free, a flat and a tree axis, together and alone."""
TREES: Mapping[str, Any] = {
    "age": {"intervals": [10, 20], "bottom": 20, "top": 80},
    "work": {"tree": {"inside": ["a", "b", "c"], "outside": ["d", "e", "f", "g"]}},
    "disease": {"tree": {"lung": ["D0", "D1"], "other": ["D2", "D3", "D4"]}},
}
"""Hierarchies that do not follow from the data, as private algorithms need them."""
TREED = ("age", "work")
"""Quasi-identifiers that all have a hierarchy."""
TIMED = {"name": "best", "seconds": 1.0}
"""The default with a limit in seconds, which takes steps of its own."""
PRIVACY = {"model": "differential-privacy", "epsilon": 1.0, "delta": 1e-6}
PRIVATE: Sequence[Mapping[str, Any]] = (
    {"algorithm": "safepub", "require": [PRIVACY]},
    {"algorithm": {"name": "dp-synthesis", "depth": 4}, "require": [PRIVACY]},
    {
        "algorithm": {"name": "dp-anonym", "depth": 4},
        "require": [PRIVACY, {"model": "k-anonymity", "k": 5}],
    },
)
"""Runs of the private algorithms, which other requests do not reach."""


def table() -> Any:
    """A small table with a number, a category, a code and something sensitive."""
    import pyarrow as pa

    return pa.table(
        {
            "age": [str(20 + i * 7 % 60) for i in range(ROWS)],
            "work": ["abcdefg"[i * 3 % 7] for i in range(ROWS)],
            "zip": [f"{i * 37 % 1000:05}" for i in range(ROWS)],
            "disease": [f"D{i * 11 % 5}" for i in range(ROWS)],
            "income": [str(1000 * (i * 13 % 40)) for i in range(ROWS)],
        }
    )


def requests() -> Iterator[dict[str, Any]]:
    """Every algorithm with its options, by every family of rules and axis shape."""
    from sfumato import registry
    from sfumato.testing.conformance_check import variants

    for private in PRIVATE:
        kinds = {"age": "integer"}
        yield {
            "quasi": TREED,
            "kinds": kinds,
            "hierarchies": TREES,
            **private,
        }
    for name in registry.names("algorithms"):
        sets = variants(registry.load("algorithms", name))
        for chosen, asked in product(sets.values(), [*SIZES, *_judged()]):
            yield {"algorithm": {"name": name, **chosen}, "quasi": SHAPES[0], **asked}
        for quasi, asked in product(SHAPES[1:], [SIZES[0], *_judged()]):
            yield {"algorithm": name, "quasi": quasi, **asked}
        yield {"algorithm": name, "quasi": TREED, "hierarchies": TREES, **SIZES[0]}
    yield {"algorithm": TIMED, "quasi": TREED, "hierarchies": TREES, **SIZES[0]}


def _judged() -> Iterator[dict[str, Any]]:
    for family in FAMILIES:
        size = {"model": "k-anonymity", "k": 4}
        yield {"require": [size, family], "max_suppressed": 0.2}


def everything() -> None:
    """Make every request, and a part of all combinations of the catalogue."""
    from sfumato.testing.combination_checks import sampled_combinations

    source = table()
    _read_file(source)
    for request in requests():
        _run(source, request)
    for check in sampled_combinations(examples=2):
        check()


def _read_file(source: Any) -> None:
    """Read a table from a CSV file that is large enough to be read by kernels."""
    import pyarrow as pa

    from sfumato.io.coded_csv import LEAST_BYTES, coded_table
    from sfumato.io.sniff import Utf8Content

    rows = zip(*source.to_pydict().values(), strict=True)
    lines = "".join(",".join(row) + "\n" for row in rows)
    often = LEAST_BYTES // len(lines) + 1
    content = ",".join(source.column_names) + "\n" + lines * often
    plain = Utf8Content(pa.py_buffer(content.encode()), "utf-8")
    if coded_table(plain, ",", source.column_names) is None:
        raise RuntimeError("The kernels refused to read a plain file.")


def _run(source: Any, request: Mapping[str, Any]) -> None:
    """Make a release; one that is refused has nothing to compile here."""
    import sfumato as sf
    from sfumato.errors import InfeasibleError, RefusedError, SearchError

    quasi = list(request["quasi"])
    sensitive = "income" if "range-disclosure" in str(request) else "disease"
    try:
        sf.anonymize(
            source,
            sensitive=[sensitive],
            drop=[
                name for name in source.column_names if name not in (*quasi, sensitive)
            ],
            publish={"max_loss": 1},
            **{**request, "quasi": quasi},
        )
    except (RefusedError, InfeasibleError, SearchError):
        return


def exists(entry: str) -> bool:
    """Return whether the kernel of an entry is still there."""
    module, _, name = entry.lstrip("*").partition("(")[0].rpartition(".")
    try:
        return hasattr(import_module(module), name)
    except ModuleNotFoundError:
        return False


def main(words: Sequence[str]) -> int:
    """List what is reached, or compare it with the list."""
    with recording() as recorder:
        everything()
    if "--check" not in words:
        kept = {entry for entry in entry_points.read() if exists(entry)}
        entry_points.write(recorder.found | kept)
        print(
            f"{len(recorder.found | kept)} entry points, {len(recorder.found)} reached"
        )
        return 0
    lacking = sorted(recorder.found - entry_points.read())
    print(*lacking, sep="\n", end="\n" if lacking else "")
    return int(bool(lacking))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
