"""Sfumato: publish personal data safely.

    >>> import sfumato as sf
    >>> policy = sf.Policy.load("policy.toml")  # doctest: +SKIP
    >>> release = sf.anonymize("patients.csv", policy)  # doctest: +SKIP

Everything heavy is imported when it is first used.
"""

from __future__ import annotations

# As `typing` has it, without its import: the command line begins here, and hears no
# signal before this file is read.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sfumato.api import (
        advise,
        anonymize,
        assess,
        attack,
        check,
        compare,
        look_up,
        propose,
        tune,
        workload_error,
    )
    from sfumato.pipeline.advice.advice import Advice
    from sfumato.pipeline.assessment import Assessment
    from sfumato.pipeline.check_result import CheckResult
    from sfumato.pipeline.comparison.compared_candidates import Comparison
    from sfumato.pipeline.published_bounds import bounds
    from sfumato.pipeline.release import Release
    from sfumato.policy import Policy
    from sfumato.risk.figure_bounds import Bounds
    from sfumato.workload.queries import Workload

    __version__: str

_HOMES = {
    "Advice": "sfumato.pipeline.advice.advice",
    "Assessment": "sfumato.pipeline.assessment",
    "Bounds": "sfumato.risk.figure_bounds",
    "CheckResult": "sfumato.pipeline.check_result",
    "Comparison": "sfumato.pipeline.comparison.compared_candidates",
    "Policy": "sfumato.policy",
    "Release": "sfumato.pipeline.release",
    "Workload": "sfumato.workload.queries",
    "advise": "sfumato.api",
    "anonymize": "sfumato.api",
    "assess": "sfumato.api",
    "attack": "sfumato.api",
    "bounds": "sfumato.pipeline.published_bounds",
    "check": "sfumato.api",
    "compare": "sfumato.api",
    "look_up": "sfumato.api",
    "propose": "sfumato.api",
    "tune": "sfumato.api",
    "workload_error": "sfumato.api",
}

__all__ = [
    "Advice",
    "Assessment",
    "Bounds",
    "CheckResult",
    "Comparison",
    "Policy",
    "Release",
    "Workload",
    "__version__",
    "advise",
    "anonymize",
    "assess",
    "attack",
    "bounds",
    "check",
    "compare",
    "look_up",
    "propose",
    "tune",
    "workload_error",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("sfumato")
    if name not in _HOMES:
        raise AttributeError(f"module 'sfumato' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
