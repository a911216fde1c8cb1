"""Every search ends: with an answer, with a reason, or with its budget spent."""

from __future__ import annotations

import _thread
import signal
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import partial
from types import MappingProxyType

from sfumato.algorithms.base import Algorithm, Request
from sfumato.data.schema import Kind, Role
from sfumato.errors import InfeasibleError, RefusedError, SearchError
from sfumato.models.base import OutputModel
from sfumato.models.diversity import Diversity
from sfumato.models.k_anonymity import KAnonymity
from sfumato.testing.awkward_tables import Awkward, awkward_tables, request_for
from sfumato.testing.conformance_check import Check

SMALL_BUDGETS: Mapping[str, int] = MappingProxyType(
    {"budget": 100_000, "node_limit": 1, "max_checks": 5}
)
"""Options that bound a search, each set low."""
HANGS = 300.0
"""Seconds after which a search with a small budget counts as endless. They take
milliseconds; this is no limit on speed."""


def ending_checks(algorithm: Algorithm, variant: str) -> Iterator[Check]:
    """One check for each awkward table."""
    for table in awkward_tables():
        run = partial(_ends, on_a_small_budget(algorithm), table)
        yield Check("a search ends within its budget", run, f"{variant} {table}")


def on_a_small_budget(algorithm: Algorithm) -> Algorithm:
    """The same algorithm, with every bound on its work set low."""
    known = {option.name for option in fields(algorithm)}
    chosen = {name: low for name, low in SMALL_BUDGETS.items() if name in known}
    return replace(algorithm, **chosen)


def _ends(algorithm: Algorithm, table: Awkward) -> None:
    for models in _asked(algorithm, table):
        with _interrupted_if_endless():
            _tried(algorithm, request_for(table, models))


def _tried(algorithm: Algorithm, request: Request) -> None:
    try:
        algorithm.solve(request)
    except (InfeasibleError, RefusedError, SearchError):
        return


def _asked(algorithm: Algorithm, table: Awkward) -> list[list[OutputModel]]:
    """k alone; with values to keep, also all rows that have a column's commonest."""
    asked: list[list[OutputModel]] = [[KAnonymity(k=5)]]
    if algorithm.keeps_values:
        kept = _constraints(table)
        asked += [[KAnonymity(k=5), one] for one in kept] + [[KAnonymity(k=2), *kept]]
    return asked


def _constraints(table: Awkward) -> list[OutputModel]:
    """Per category, every row that has the commonest value must show it."""
    found: list[OutputModel] = []
    for name in table.names(Role.QUASI):
        known = [v for v in table.source.column(name).to_pylist() if v is not None]
        if table.kinds[name] is Kind.CATEGORY and known:
            value, count = Counter(known).most_common(1)[0]
            found.append(Diversity(where={name: value}, at_least=count))
    return found


@contextmanager
def _interrupted_if_endless() -> Iterator[None]:
    """Interrupt what never ends, so that a check fails instead of hanging.

    A program started in the background ignores interrupts until it is told otherwise.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    expired = threading.Event()

    def stop() -> None:
        expired.set()
        _thread.interrupt_main()

    watch = threading.Timer(HANGS, stop)
    watch.daemon = True
    watch.start()
    try:
        yield
    except KeyboardInterrupt:
        if not expired.is_set():
            raise
        raise AssertionError(f"no end within {HANGS:g} seconds") from None
    finally:
        watch.cancel()
        signal.signal(signal.SIGINT, before)
