"""What the cases do, by name; each function prepares a job from its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from benchmarks import (
    baselines,
    every_entry,
    first_use,
    losses,
    ours,
    peers,
    studio_pages,
)
from benchmarks.measure import Job

JOBS: Mapping[str, Callable[..., Job]] = {
    "anjana_adult": peers.anjana_adult,
    "anonymize_adult": ours.anonymize_adult,
    "anonymize_call": ours.anonymize_call,
    "anonymize_file": ours.anonymize_file,
    "anonypy_adult": peers.anonypy_adult,
    "check_adult": ours.check_adult,
    "check_file": ours.check_file,
    "duckdb_check": baselines.duckdb_check,
    "entry": every_entry.entry,
    "first_use": first_use.first_use,
    "install_wheel": first_use.install_wheel,
    "clone_to_demo": first_use.clone_to_demo,
    "lexsort": baselines.lexsort,
    "pyarrow_call": baselines.pyarrow_call,
    "pyarrow_file": baselines.pyarrow_file,
    "pycanon_adult": peers.pycanon_adult,
    "release": losses.release,
    "search_adult": ours.search_adult,
    "search_by": ours.search_by,
    "search_klt": ours.search_klt,
    "search_synthetic": ours.search_synthetic,
    "small_command": first_use.small_command,
    "start_up": baselines.start_up,
    "studio_pages": studio_pages.studio_pages,
}


def make(name: str, parameters: Mapping[str, Any]) -> Job:
    """The job of a name, ready to run."""
    return JOBS[name](**parameters)
