"""Which algorithm loses least: releases of real tables, compared."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.case import Case
from benchmarks.settings import WIDE

BEST = "best"
CASES: tuple[tuple[str, str, tuple[int, ...], tuple[str, ...]], ...] = (
    (
        "Adult with hierarchies",
        "adult",
        (2, 5, 10, 25, 50, 100),
        ("harvest", "mondrian", "local-optimal"),
    ),
    (
        "Adult without hierarchies",
        "adult without hierarchies",
        (5, 10, 50, 100),
        ("mondrian", "k-member"),
    ),
    ("Adult, occupation distinct 3", "distinct 3", (5,), ("harvest", "mondrian")),
    ("Adult, occupation t = 0.2", "t = 0.2", (5,), ("harvest", "mondrian")),
)
OTHERS = (
    *("cup", "census_income", "ss13acs", "mach2019_int"),
    *("stroke", "eusilc", "pantheon", "informs", "airline"),
)
BESIDE = ("mondrian", "k-member", "local-optimal")
MILLION = ("like-adult", "like-adult without hierarchies")
GIVEN_UP = 180
"""Seconds that an algorithm beside `best` may take."""


def lowest_losses(rows: int | None) -> Iterator[Case]:
    """All cases; only one of them is short."""
    for title, setting, ks, beside in CASES:
        for k in ks:
            names = (*beside, "k-member") if (title, k) == (CASES[0][0], 10) else beside
            yield from _group(title, setting, k, names, rows)
    for setting in OTHERS:
        for k in (5, 50):
            yield from _group(setting, setting, k, BESIDE, rows)
    for columns in WIDE:
        setting = f"{columns} numbers"
        yield from _group(f"30,000 rows of {setting}", setting, 10, ("mondrian",), rows)
    for setting in MILLION:
        yield from _group(f"1,000,000 rows {setting}", setting, 10, ("mondrian",), rows)


def _group(
    title: str, setting: str, k: int, beside: tuple[str, ...], rows: int | None
) -> Iterator[Case]:
    """`best`, and others beside it."""
    for name in (BEST, *beside):
        yield Case(
            group=f"lowest loss, {title}, k = {k}",
            label=f"sfumato {name}",
            job="release",
            parameters={
                "setting": setting,
                "rows": rows,
                "k": k,
                "algorithm": f'name = "{name}"',
            },
            reference=name == BEST,
            repeats=1,
            warm=False,
            long=(setting, k) != ("adult", 10),
            limit=1800 if name == BEST else GIVEN_UP,
        )
