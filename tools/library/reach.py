"""Run whatever the catalogue can do, so that every entry point of the kernels is compiled.

Each run uses a small table: kernels are compiled for kinds of arguments, not for sizes.
"""

from __future__ import annotations

import runpy
from pathlib import Path

from sfumato.testing.checks import OPTIONS
from sfumato.testing.combination_checks import sampled_combinations

ROOT = Path(__file__).resolve().parents[2]


def everything() -> None:
    """Run each algorithm by itself, and a part of all combinations of the catalogue."""
    runpy.run_path(str(ROOT / "tests" / "warm.py"), run_name="__main__")
    for check in sampled_combinations(OPTIONS, examples=2):
        check()
