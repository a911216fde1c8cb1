"""`sfumato --version`."""

from __future__ import annotations


def print_version() -> int:
    """Print the version; return the exit code."""
    from importlib.metadata import version

    print(f"sfumato {version('sfumato')}", flush=True)
    return 0
