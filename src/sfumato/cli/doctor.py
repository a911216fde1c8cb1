"""`sfumato doctor`: what is installed, what the machine has, and what is missing."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import typer

from sfumato.cli.common_options import AsJson
from sfumato.cli.success_output import print_columns, print_json, reader_may_leave
from sfumato.io.memory import free_memory

GIGABYTE = 1 << 30


class Extra(NamedTuple):
    """A package or program that some feature needs, and how to get it."""

    name: str
    feature: str
    remedy: str


EXTRAS = (
    Extra("opendp", "differential privacy", "pip install 'sfumato[dp]'"),
    Extra("sqlglot", "workloads in SQL", "pip install 'sfumato[workload]'"),
    Extra("numba", "kernels of plug-ins", "pip install 'sfumato[jit]'"),
    Extra("scikit-learn", "learning from releases", "pip install 'sfumato[learn]'"),
    Extra("altair", "charts in notebooks", "pip install 'sfumato[plots]'"),
    Extra("pyreadstat", "SPSS, Stata and SAS files", "pip install 'sfumato[stats]'"),
    Extra("fastexcel", "reading Excel files", "pip install 'sfumato[excel]'"),
    Extra("xlsxwriter", "writing Excel files", "pip install 'sfumato[excel]'"),
    Extra(
        "adbc-driver-postgresql",
        "tables of PostgreSQL",
        "pip install 'sfumato[postgres]'",
    ),
    Extra("adbc-driver-sqlite", "tables of SQLite", "pip install 'sfumato[sqlite]'"),
    Extra("duckdb", "tables of DuckDB", "pip install 'sfumato[duckdb]'"),
    Extra("pyspark", "tables on Spark", "pip install 'sfumato[spark]'"),
    Extra("pandas", "pandas frames in Python", "pip install pandas"),
    Extra("polars", "polars frames in Python", "pip install polars"),
)


def doctor(
    json: AsJson = False,
) -> int:
    """Show what is installed, and what is missing for which feature."""
    found = examination()
    with reader_may_leave():
        if json:
            print_json(found)
        else:
            _print(found)
    return 0


def examination() -> dict[str, Any]:
    """Collect everything that decides what works here, and how fast."""
    return {
        "sfumato": version_of("sfumato"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "dependencies": {name: version_of(name) for name in _dependencies()},
        "extras": {thing.name: version_of(thing.name) for thing in EXTRAS},
        "kernels": kernels(),
        "cache": _cache(),
        "cores": cores(),
        "memory": {"total": _memory("SC_PHYS_PAGES"), "usable": free_memory()},
        "java": shutil.which("java"),
        "missing": missing(),
    }


def version_of(name: str) -> str | None:
    """Return the version of an installed package; None if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _dependencies() -> list[str]:
    """Return the packages that Sfumato always needs."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        needed = requires("sfumato") or []
    except PackageNotFoundError:
        return []
    always = [text for text in needed if "extra ==" not in text]
    return [re.split(r"[^\w.-]", text, maxsplit=1)[0] for text in always]


def missing() -> list[dict[str, str]]:
    """List what is missing, the feature that needs it, and how to get it."""
    absent = [thing for thing in EXTRAS if version_of(thing.name) is None]
    found = [thing._asdict() for thing in absent]
    found.extend(_missing_kernels())
    return found


def _missing_kernels() -> Iterator[dict[str, str]]:
    """List what kernels lack: a library or a compiler, or a place for compiled code."""
    if kernels()["library"] is not None:
        return
    if version_of("numba") is None:
        yield {
            "name": "kernels",
            "feature": "every algorithm",
            "remedy": "install a wheel for this platform, or 'sfumato[jit]'",
        }
    elif _cache()["directory"] is None:
        yield (
            {
                "name": "cache",
                "feature": "starting without compiling anew in every run",
                "remedy": "name a directory that can be written to: SFUMATO_CACHE_DIR",
            }
        )


def kernels() -> dict[str, Any]:
    """Describe the kernel library in use, or what compiles kernels without one."""
    from sfumato.kernels.compilation.library import platform_name, usable

    found = usable()
    return {
        "platform": platform_name(),
        "library": None if found is None else str(found.path),
        "entries": 0 if found is None else sum(map(len, found.entries.values())),
    }


def _cache() -> dict[str, Any]:
    from sfumato.kernels.compilation.cache_places import cache_place

    place = cache_place()
    directory = None if place.directory is None else str(place.directory)
    return {"directory": directory, "reason": place.reason}


def cores() -> int:
    """Return the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _memory(name: str) -> int | None:
    try:
        return os.sysconf(name) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _print(found: Mapping[str, Any]) -> None:
    typer.echo(
        f"Sfumato {found['sfumato']}, Python {found['python']}, {found['system']}"
    )
    typer.echo("\nInstalled:")
    print_columns(_versions(found))
    typer.echo("\nThis machine:")
    print_columns(_machine(found))
    if not found["missing"]:
        typer.echo("\nNothing is missing.")
        return
    typer.echo("\nMissing:")
    print_columns([_missing_row(each) for each in found["missing"]])


def _versions(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    both = {**found["dependencies"], **found["extras"]}
    return [(name, version or "not installed") for name, version in both.items()]


def _machine(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    memory = found["memory"]
    return [
        ("cores", str(found["cores"])),
        ("memory", f"{_size(memory['usable'])} usable of {_size(memory['total'])}"),
        ("kernels", _kernels_row(found)),
        ("kernel cache", _cache_row(found)),
        ("java", f"{found['java'] or 'not found'}; only --engine spark needs one"),
        ("interpreter", sys.executable),
    ]


def _kernels_row(found: Mapping[str, Any]) -> str:
    served = found["kernels"]
    if served["library"] is not None:
        return f"{served['entries']} compiled ahead of time, {served['library']}"
    if found["extras"]["numba"] is not None:
        return f"no library for {served['platform']}: Numba compiles on first use"
    return f"no library for {served['platform']}, and no Numba to compile them"


def _cache_row(found: Mapping[str, Any]) -> str:
    if found["kernels"]["library"] is not None and found["extras"]["numba"] is None:
        return "not used: nothing is compiled here"
    place = found["cache"]
    return f"{place['directory'] or 'none'} ({place['reason']})"


def _size(amount: int | None) -> str:
    return "unknown" if amount is None else f"{amount / GIGABYTE:.1f} GB"


def _missing_row(each: Mapping[str, str]) -> tuple[str, str]:
    return (each["name"], f"for {each['feature']}: {each['remedy']}")
