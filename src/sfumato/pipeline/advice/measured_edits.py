"""Measure what edits gain: all on a fast search, the best ones again on a slower one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato.algorithms.base import Request
from sfumato.data.arrays import Floats
from sfumato.pipeline.advice.probe_search import ProbedLoss, ProbeSearch
from sfumato.pipeline.advice.suggestions import Suggestion, makes_most_rare

MEASURED_AGAIN = 2
"""How many of the best edits are measured again, with the column that makes most rows
rare, if there is one."""
SHARE_OF_EDITS = 0.6
"""How much of the progress the fast search gets."""


@dataclass(frozen=True, eq=False)
class ProposedEdit:
    """An edit that is not measured yet, and the request that it leads to."""

    suggestion: Suggestion
    request: Request


@dataclass(frozen=True, eq=False, kw_only=True)
class LossScale:
    """The loss of the policy, and how the slower search compares with the fast one."""

    quick: ProbedLoss
    thorough: float | None
    """What the slower search loses, where there is one."""

    @property
    def loss(self) -> float:
        """The loss of the policy, as well as it is known."""
        return self.quick.mean if self.thorough is None else self.thorough

    @property
    def ratio(self) -> float:
        """How much of the fast search's loss the slower one leaves."""
        if self.thorough is None or self.quick.mean == 0.0:
            return 1.0
        return self.thorough / self.quick.mean

    @property
    def by_column(self) -> Floats:
        """The loss of each quasi-identifier, scaled like all losses."""
        return np.minimum(self.quick.by_column * self.ratio, 1.0)


def scale_of(probe: ProbeSearch) -> LossScale | None:
    """Measure the policy itself; None if the search finds no release."""
    quick = probe.loss(probe.request)
    if quick is None:
        return None
    again = None
    if probe.thorough is not None:
        again = probe.loss(probe.request, probe.thorough)
    return LossScale(quick=quick, thorough=None if again is None else again.mean)


def measured(
    probe: ProbeSearch,
    scale: LossScale,
    candidates: Sequence[ProposedEdit],
    told: Callable[[str, float], None],
) -> list[Suggestion]:
    """Measure every edit that leads to a release, the best ones twice."""
    found = []
    for at, each in enumerate(candidates):
        told("measuring edits", SHARE_OF_EDITS * at / max(len(candidates), 1))
        loss = probe.mean(each.request)
        if loss is not None:
            found.append((loss, each))
    found.sort(key=lambda pair: pair[0])
    done = []
    for at, (loss, each) in enumerate(found):
        best = at < MEASURED_AGAIN or makes_most_rare(each.suggestion)
        again = best and probe.thorough is not None
        done.append(_with_loss(probe, scale, each, loss, again=again))
        rest = (1 - SHARE_OF_EDITS) * at / max(len(found), 1)
        told("measuring the best again", SHARE_OF_EDITS + rest)
    return done


def _with_loss(
    probe: ProbeSearch,
    scale: LossScale,
    each: ProposedEdit,
    loss: float,
    *,
    again: bool,
) -> Suggestion:
    thorough = probe.loss(each.request, probe.thorough) if again else None
    after = loss * scale.ratio if thorough is None else thorough.mean
    search = probe.quick if thorough is None else probe.thorough
    return replace(
        each.suggestion,
        loss_before=scale.loss,
        loss=min(after, 1.0),
        measured_by=_named(search.name if search else "", refined=thorough is not None),
    )


def _named(name: str, *, refined: bool) -> str:
    return f"{name}, refined" if refined else name
