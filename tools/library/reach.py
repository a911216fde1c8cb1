"""Run whatever the catalogue can do, so that every entry point of the kernels is compiled.

Each run uses a small table: kernels are compiled for kinds of arguments, not for sizes.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import sfumato as sf
from sfumato import registry
from sfumato.errors import SfumatoError
from sfumato.testing.combination_checks import sampled_combinations

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = (
    {"k": 5, "l": 2},
    {"k": 5, "max_suppressed": 0.2},
    {"k": 2, "t": 0.3, "max_suppressed": 0.2},
    {"require": [{"model": "average-risk", "at_most": 0.2}], "max_suppressed": 0.2},
    {"require": [{"model": "uniqueness", "at_most": 0.05}], "max_suppressed": 0.2},
)


def everything() -> None:
    """Run each algorithm by itself, and a part of all combinations of the catalogue."""
    table = runpy.run_path(str(ROOT / "tests" / "warm.py"))["table"]()
    for name in registry.names("algorithms"):
        for settings in SETTINGS:
            _run(table, {**settings, "algorithm": name})
    for check in sampled_combinations(examples=2):
        check()


def _run(table: Any, settings: dict[str, Any]) -> None:
    """Make a release; one that is refused has nothing to compile here."""
    try:
        sf.anonymize(
            table,
            quasi=["age", "work", "zip"],
            sensitive=["disease"],
            publish={"max_loss": 1},
            **settings,
        )
    except SfumatoError:
        return
