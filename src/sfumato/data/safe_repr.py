"""Objects whose printed form shows counts and verdicts, and nothing else.

What an object prints ends up in notebooks, logs and tracebacks, where no cell, no seed
and no row number belongs.
"""

from __future__ import annotations


class SafeRepr:
    """An object whose text is its type and what `_summary` returns."""

    def _summary(self) -> str:
        """Counts and verdicts, for people; empty: the type says enough."""
        return ""

    def __repr__(self) -> str:
        told = self._summary()
        name = type(self).__name__
        return f"<{name}: {told}>" if told else f"<{name}>"

    def __str__(self) -> str:
        return repr(self)


def counted(count: int, thing: str) -> str:
    """Format a count: `1 row`, `2,000 rows`."""
    return f"{count:,} {thing if count == 1 else thing + 's'}"
