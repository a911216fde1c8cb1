"""Paths of benchmark output, and of the programs that benchmarks run."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.sources import Coded, like_adult, mostly_unique, write_csv

SHAPES = {"like-adult": like_adult, "mostly-unique": mostly_unique}


SCRATCH = "SFUMATO_BENCH_SCRATCH"


def scratch() -> Path:
    """The directory for large files, the same for all cases of a run."""
    return Path(os.environ[SCRATCH])


@contextmanager
def scratch_for_a_run() -> Iterator[None]:
    """Names a scratch directory to the cases, and removes it after them."""
    with TemporaryDirectory(prefix="sfumato-bench-") as directory:
        os.environ[SCRATCH] = directory
        yield


def synthetic(rows: int, data: str) -> Coded:
    """A made table of a size and a shape."""
    return SHAPES[data](rows)


def synthetic_csv(rows: int) -> Path:
    """A CSV file of an Adult-like table, written once."""
    path = scratch() / f"like-adult-{rows}.csv"
    if not path.exists():
        draft = path.with_suffix(".draft")
        write_csv(like_adult(rows), draft)
        draft.rename(path)
    return path


def program(name: str) -> str:
    """The path of a command of this environment."""
    return str(Path(sysconfig.get_path("scripts")) / name)


def environment(**extra: str) -> Mapping[str, str]:
    """This process's environment, and more; modules are compiled once, as usual."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, **extra}


def python() -> str:
    """This interpreter."""
    return sys.executable
