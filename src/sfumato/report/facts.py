"""The facts of a release: everything its report says, in plain JSON-able form.

Facts are publishable: they hold names of columns, settings, counts and measures, and
no cell of the source. The seed, the source's hash and row numbers have no place here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import numpy as np
import numpy.typing as npt

from sfumato.models.base import Model

LAYOUT = 1
"""The version of this layout; it grows when a key changes its meaning."""
MOST_BARS = 24
"""Bars that a chart of group sizes may have."""


class RequirementFacts(TypedDict):
    """One requirement of the policy and what was found in the published table."""

    model: str
    parameters: dict[str, Any]
    holds: bool
    measured: float | None
    offending: int
    sentence: str
    blind_spot: str


class ColumnFacts(TypedDict):
    """What happened to one column of the source."""

    name: str
    role: str
    kind: str
    treatment: str
    """How it was published: "generalized", "kept", "dropped", …"""
    hierarchy: NotRequired[str]
    ncp: NotRequired[float]
    generalized_loss: NotRequired[float]


class SizeBin(TypedDict):
    """How many groups have between `low` and `high` rows, and their rows together."""

    low: int
    high: int
    groups: int
    rows: int


class AlgorithmFacts(TypedDict):
    """Which algorithm grouped the rows, and what it has to say."""

    name: str
    sentence: str
    options: dict[str, Any]
    facts: dict[str, Any]


class Facts(TypedDict):
    """All that a report needs."""

    layout: int
    title: str
    sfumato: str
    publishable: bool
    rows_in: int | None
    rows_out: int
    rows_suppressed: int | None
    groups: int
    requirements: list[RequirementFacts]
    columns: list[ColumnFacts]
    group_sizes: list[SizeBin]
    utility: dict[str, Any]
    risk: dict[str, Any]
    algorithm: AlgorithmFacts
    operator: str
    policy: dict[str, Any]
    hashes: dict[str, str]
    versions: dict[str, str]
    seconds: dict[str, float]
    notes: list[str]


def build(
    *,
    manifest: Mapping[str, Any],
    models: Sequence[Model],
    columns: Sequence[ColumnFacts],
    group_sizes: npt.NDArray[np.int64],
    policy: Mapping[str, Any],
    algorithm: AlgorithmFacts,
    operator: str,
    title: str = "Release report",
    publishable: bool = True,
    notes: Sequence[str] = (),
) -> Facts:
    """Collect the facts of a release.

    `manifest` is the publishable one of the release directory; `models` are its
    requirements in the same order; `group_sizes` counts the rows of each group of
    the published table; `policy` is the public form, without paths.
    """
    return Facts(
        layout=LAYOUT,
        title=title,
        sfumato=str(manifest["sfumato"]),
        publishable=publishable,
        rows_in=manifest.get("rows_in"),
        rows_out=manifest["rows_out"],
        rows_suppressed=manifest.get("rows_suppressed"),
        groups=manifest["groups"],
        requirements=_requirements(manifest["requirements"], models),
        columns=list(columns),
        group_sizes=size_bins(group_sizes),
        utility=dict(manifest.get("utility", {})),
        risk=dict(manifest.get("risk", {})),
        algorithm=algorithm,
        operator=operator,
        policy=dict(policy),
        hashes={k: v for k, v in manifest.items() if k.endswith("_sha256")},
        versions=dict(manifest.get("versions", {})),
        seconds=dict(manifest.get("seconds", {})),
        notes=list(notes),
    )


def _requirements(
    found: Sequence[Mapping[str, Any]], models: Sequence[Model]
) -> list[RequirementFacts]:
    return [
        RequirementFacts(
            model=entry["model"],
            parameters=dict(entry["parameters"]),
            holds=bool(entry["holds"]),
            measured=entry.get("measured"),
            offending=int(entry.get("offending", 0)),
            sentence=model.sentence,
            blind_spot=model.blind_spot,
        )
        for entry, model in zip(found, models, strict=True)
    ]


def size_bins(sizes: npt.NDArray[np.int64]) -> list[SizeBin]:
    """Group sizes in at most `MOST_BARS` bins of a round width."""
    if not len(sizes):
        return []
    low, high = int(sizes.min()), int(sizes.max())
    width = _round_width((high - low + 1) / MOST_BARS)
    edges = np.arange(low, high + width + 1, width)
    groups, _ = np.histogram(sizes, bins=edges)
    rows, _ = np.histogram(sizes, bins=edges, weights=sizes)
    return [
        SizeBin(
            low=int(edge),
            high=int(edge) + width - 1,
            groups=int(count),
            rows=int(total),
        )
        for edge, count, total in zip(edges[:-1], groups, rows, strict=True)
        if edge <= high
    ]


def _round_width(least: float) -> int:
    """The smallest of 1, 2, 5, 10, 20, 50, … that is at least `least`."""
    scale = 1
    while True:
        for step in (1, 2, 5):
            if step * scale >= least:
                return step * scale
        scale *= 10
