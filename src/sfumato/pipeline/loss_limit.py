"""Refuse a release that is safe but useless."""

from __future__ import annotations

import numpy as np

from sfumato import registry
from sfumato.errors import LossError
from sfumato.metrics.ncp import Ncp
from sfumato.pipeline.findings import Findings

ALL = 1.0 - 1e-9
"""A column that loses at least this much shows nothing."""


def refuse_loss(found: Findings) -> None:
    """Refuse a draft that loses more than `publish.max_loss` of its detail.

    The loss is the manifest's `utility.ncp`. Under a process model nothing is refused:
    the ledger was not charged for revealing how much is lost.
    """
    if found.certificate is not None or not found.run.operator.limits_loss:
        return
    limit = found.run.policy.publish.max_loss
    loss = float(Ncp().measure(found.measured))
    if loss <= limit + 1e-9:
        return
    raise LossError(
        f"The release would lose {loss:.1%} of its detail (NCP {loss:.3f}); "
        f"publish.max_loss allows {limit:.1%}. {_reason(found)}",
        hint=_ways_out(found),
    )


def _reason(found: Findings) -> str:
    """Explain the loss in counts."""
    sizes = found.solution.grouping.sizes()
    shown = found.rows_out
    empty = int((_losses(found) >= ALL).sum())
    parts = [f"{empty} of {len(found.shown)} quasi-identifiers show nothing"]
    if len(sizes) == 1:
        parts.append(f"all {shown} published rows are one group")
    elif len(sizes):
        largest = int(sizes.max())
        parts.append(
            f"the largest of {len(sizes)} groups has {largest} of {shown} rows"
        )
    if found.rows_in > shown:
        parts.append(f"{found.rows_in - shown} of {found.rows_in} rows are left out")
    growth = found.solution.facts.get("growth")
    return f"{', '.join(parts).capitalize()}." + (f" {growth}" if growth else "")


def _losses(found: Findings) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The mean loss of each column over the published rows."""
    sizes = found.solution.grouping.sizes()
    return np.asarray(sizes @ found.draft.ncp / max(int(sizes.sum()), 1))


def _ways_out(found: Findings) -> str:
    ways = []
    if found.run.algorithm.name != registry.DEFAULT_ALGORITHM:
        ways.append(f"leave out algorithm.name to take '{registry.DEFAULT_ALGORITHM}'")
    ways += [
        "ask for less (a smaller k or l)",
        "name fewer quasi-identifiers",
        "give them finer hierarchies",
        "set publish.max_loss = 1 to publish it anyway",
    ]
    text = f"{', '.join(ways[:-1])}, or {ways[-1]}."
    return f"{text[0].upper()}{text[1:]}"
