"""Which rows make a policy hard: what leaving out a few would buy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sfumato.algorithms.base import Request
from sfumato.models.common.groups import packed
from sfumato.pipeline.advice.measured_edits import ProposedEdit
from sfumato.pipeline.advice.probe_search import ProbeSearch
from sfumato.pipeline.advice.suggestions import Suggestion, Topic
from sfumato.report.number_text import counted

SHARES = (0.001, 0.01, 0.05)
"""The shares of rows whose suppression is measured."""


def row_edits(probe: ProbeSearch, allowed: float) -> Iterator[ProposedEdit]:
    """Edits that let more rows be left out than are now allowed."""
    if any(model.counts_values for model in probe.request.models):
        return
    for share in SHARES:
        rows = int(share * probe.rows)
        if share <= allowed or rows < 1:
            continue
        suggestion = Suggestion(
            topic=Topic.ROWS,
            text=f"Let {share:.1%} of rows be left out ({counted(rows, 'row')}).",
            reason="Rows unlike all others make their groups coarse; each that is left "
            "out counts as lost in full.",
            settings={"publish.max_suppressed": share},
            weaker=True,
            facts={"rows": rows},
        )
        removable = int(share * probe.request.rows)
        yield ProposedEdit(suggestion, replace(probe.request, removable=removable))


def rare_rows(request: Request) -> int:
    """How many rows have values that fewer rows share than a group needs."""
    k = max((int(getattr(model, "k", 1)) for model in request.models), default=1)
    if not request.quasi:
        return 0
    key, _ = packed([coded.codes for coded in request.quasi])
    _, counts = np.unique(key, return_counts=True)
    return int(counts[counts < k].sum())
