"""Sfumato: publish personal data safely.

    >>> import sfumato as sf
    >>> policy = sf.Policy.load("policy.toml")  # doctest: +SKIP
    >>> release = sf.anonymize("patients.csv", policy)  # doctest: +SKIP

Everything heavy is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.api import (
        CheckResult,
        Release,
        anonymize,
        check,
        tune,
        workload_error,
    )
    from sfumato.policy import Policy
    from sfumato.workload.queries import Workload

_HOMES = {
    "CheckResult": "sfumato.api",
    "Policy": "sfumato.policy",
    "Release": "sfumato.api",
    "Workload": "sfumato.workload.queries",
    "anonymize": "sfumato.api",
    "check": "sfumato.api",
    "tune": "sfumato.api",
    "workload_error": "sfumato.api",
}

__all__ = [
    "CheckResult",
    "Policy",
    "Release",
    "Workload",
    "anonymize",
    "check",
    "tune",
    "workload_error",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'sfumato' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
