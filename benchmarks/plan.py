"""Which cases are measured, and what each is compared with."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.case import Case
from benchmarks.every_entry import every_entry
from benchmarks.lowest import lowest_losses
from sfumato import registry

SIZES = (100_000, 300_000, 1_000_000)
QUICK_SIZES = (30_000, 100_000)
GROWTH = (10_000, 30_000, 100_000, 300_000, 1_000_000)
QUICK_GROWTH = (3_000, 10_000, 30_000)
CUTS = ("gain", "widest")
QUICK_FIRST_USE = ("mondrian", registry.DEFAULT_ALGORITHM)
"""Algorithms whose first use stands for that of all."""


def plan(*, quick: bool) -> list[Case]:
    """All cases; `quick` takes a sample of Adult and smaller tables."""
    rows = 5_000 if quick else None
    sizes = QUICK_SIZES if quick else SIZES
    return [
        *_adult(rows, (2, 10) if quick else (2, 5, 10, 50, 100)),
        *_peers(rows),
        *_second_opinion(rows),
        *_scaling(sizes, "like-adult"),
        *_scaling(sizes, "mostly-unique"),
        *_diverse(QUICK_GROWTH if quick else GROWTH),
        *_files(sizes[-1]),
        *_checking(sizes[-1]),
        *_studio(sizes[-1]),
        *_first_use(quick),
        *_installing(),
        *_library(rows),
        *_start_up(),
        *every_entry(),
        *lowest_losses(rows),
    ]


def _adult(rows: int | None, ks: tuple[int, ...]) -> Iterator[Case]:
    for k in ks:
        for cut in CUTS:
            yield Case(
                group=f"search Adult, k = {k}",
                label=f"sfumato mondrian {cut}",
                job="search_adult",
                parameters={"rows": rows, "k": k, "cut": cut},
                reference=cut == "gain",
                repeats=5,
            )


def _peers(rows: int | None) -> Iterator[Case]:
    group = "anonymize Adult, k = 10"
    shared = {"rows": rows, "k": 10}
    for cut in CUTS:
        yield Case(
            group=group,
            label=f"sfumato mondrian {cut}",
            job="anonymize_adult",
            parameters={**shared, "cut": cut},
            reference=cut == "gain",
        )
    for peer in ("anonypy", "anjana"):
        yield Case(
            group=group,
            label=peer,
            job=f"{peer}_adult",
            parameters=shared,
            repeats=1,
            warm=False,
        )


def _second_opinion(rows: int | None) -> Iterator[Case]:
    group = "check a published Adult for k and l"
    for label, job in (("sfumato", "check_adult"), ("pycanon", "pycanon_adult")):
        yield Case(
            group=group,
            label=label,
            job=job,
            parameters={"rows": rows, "k": 10},
            reference=job == "check_adult",
        )


def _scaling(sizes: tuple[int, ...], data: str) -> Iterator[Case]:
    for size in sizes:
        group = f"search {size:,} rows {data}, k = 5"
        shared = {"rows": size, "data": data}
        yield Case(
            group=group,
            label="np.lexsort",
            job="lexsort",
            parameters=shared,
            reference=True,
        )
        for cut in CUTS:
            yield Case(
                group=group,
                label=f"sfumato mondrian {cut}",
                job="search_synthetic",
                parameters={**shared, "k": 5, "cut": cut},
            )


def _diverse(sizes: tuple[int, ...]) -> Iterator[Case]:
    asked = "K = 10, L = 5, θ = 0.3"
    for variant in ("text", "boger-2020"):
        yield Case(
            group=f"K,L,θ clustering of Adult, {asked}",
            label=f"sfumato klt {variant}",
            job="search_klt",
            parameters={"rows": None, "variant": variant},
            reference=variant == "text",
            repeats=5,
        )
    for size in sizes:
        yield Case(
            group=f"K,L,θ clustering by rows, {asked}",
            label=f"sfumato klt, {size:,} rows",
            job="search_klt",
            parameters={"rows": size, "variant": "text"},
            reference=size == sizes[0],
            rows=size,
        )


def _files(size: int) -> Iterator[Case]:
    for how, job in (("the whole command", "file"), ("the whole call", "call")):
        group = f"a CSV file of {size:,} rows, {how}"
        yield Case(
            group=group,
            label="pyarrow read and write",
            job=f"pyarrow_{job}",
            parameters={"rows": size},
            reference=True,
        )
        for cut in CUTS:
            yield Case(
                group=group,
                label=f"sfumato anonymize {cut}",
                job=f"anonymize_{job}",
                parameters={"rows": size, "cut": cut},
                repeats=3,
            )


def _checking(size: int) -> Iterator[Case]:
    group = f"check a CSV file of {size:,} rows, the whole command"
    jobs = (("duckdb group by", "duckdb_check"), ("sfumato check", "check_file"))
    for label, job in jobs:
        yield Case(
            group=group,
            label=label,
            job=job,
            parameters={"rows": size},
            reference=job == "duckdb_check",
        )


def _studio(size: int) -> Iterator[Case]:
    yield Case(
        group=f"the studio with {size:,} rows",
        label="200 pages while a candidate runs, and a release",
        job="studio_pages",
        parameters={"rows": size},
        reference=True,
        repeats=1,
        warm=False,
        long=True,
    )


def _first_use(quick: bool) -> Iterator[Case]:
    for name in QUICK_FIRST_USE if quick else registry.names("algorithms"):
        yield Case(
            group="first use of the installed wheel, without Numba",
            label=name,
            job="first_use",
            parameters={"algorithm": name},
            reference=name == registry.DEFAULT_ALGORITHM,
            repeats=1,
            warm=False,
        )


def _installing() -> Iterator[Case]:
    jobs = (("the wheel", "install_wheel"), ("clone to demo", "clone_to_demo"))
    for label, job in jobs:
        yield Case(
            group="installing",
            label=label,
            job=job,
            reference=job == "install_wheel",
            repeats=1,
            warm=False,
        )


def _library(rows: int | None) -> Iterator[Case]:
    """The search with kernels that Numba compiles on first use, and with the library."""
    for cut in CUTS:
        for way, switch in (("Numba", "off"), ("library", "")):
            yield Case(
                group=f"kernels of the library, Adult, k = 10, cut {cut}",
                label=way,
                job="search_by",
                parameters={
                    "library": way == "library",
                    "rows": rows,
                    "k": 10,
                    "cut": cut,
                },
                reference=way == "Numba",
                repeats=5,
                settings={"SFUMATO_LIBRARY": switch},
            )


def _start_up() -> Iterator[Case]:
    for command in ("anonymize", "check"):
        yield Case(
            group="a small table, the installed command",
            label=command,
            job="small_command",
            parameters={"command": command},
            reference=command == "anonymize",
            repeats=5,
            warm=False,
        )
    group = "start-up"
    for label in ("python -c pass", "sfumato --version", "sfumato --help"):
        yield Case(
            group=group,
            label=label,
            job="start_up",
            parameters={"command": label},
            reference=label.startswith("python"),
            repeats=5,
        )
