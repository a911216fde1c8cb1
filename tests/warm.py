"""Compiles the kernels once, so that tests that run side by side find them ready."""

from __future__ import annotations

import pyarrow as pa

import sfumato as sf
from sfumato import registry
from sfumato.errors import InfeasibleError, RefusedError

ROWS = 200


def table() -> pa.Table:
    """A small table with a number, a category, a code and something sensitive."""
    return pa.table(
        {
            "age": [str(20 + i * 7 % 60) for i in range(ROWS)],
            "work": ["abcdefg"[i * 3 % 7] for i in range(ROWS)],
            "zip": [f"{i * 37 % 1000:05}" for i in range(ROWS)],
            "disease": [f"D{i * 11 % 5}" for i in range(ROWS)],
        }
    )


def warm(algorithm: str) -> None:
    """Run one algorithm; one that refuses this request has nothing to warm here."""
    try:
        sf.anonymize(
            table(),
            quasi=["age", "work", "zip"],
            sensitive=["disease"],
            k=5,
            l=2,
            algorithm=algorithm,
        )
    except (InfeasibleError, RefusedError) as refusal:
        print(f"{algorithm}: {refusal.message}")


if __name__ == "__main__":
    for name in registry.CATALOGUE["algorithms"]:
        warm(name)
