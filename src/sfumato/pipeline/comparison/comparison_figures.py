"""Measure the figures of one candidate, as far as anybody asks for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sfumato.data.rules import View
from sfumato.data.seeds import Seed
from sfumato.hierarchies.axis import CodedAxis
from sfumato.models.common.distances import s_diversity
from sfumato.models.common.groups import build_groups
from sfumato.pipeline.assessment import Assessment, Wanted, assess
from sfumato.pipeline.attack_run import AttackRun
from sfumato.pipeline.comparison.figure_catalogue import (
    ComparedFigure,
    FigureSource,
    find_figure,
)
from sfumato.pipeline.pair import PairFiles
from sfumato.pipeline.private_record import Alignment
from sfumato.pipeline.release import Release
from sfumato.risk.learned.learned_utility import SAMPLE
from sfumato.risk.table_pair import Pair, PublishedForm

if TYPE_CHECKING:
    from sfumato.workload.queries import Workload

ABOVE = {"above_0.09": "0.09", "above_k_11": "k = 11", "above_k_5": "k = 5"} | {
    "above_k_3": "k = 3"
}
WORST = {"l": min, "theta": max, "t": max}
"""Which of several sensitive columns counts."""
ERRORS = {
    "workload_error": "average_relative",
    "workload_median": "median_relative",
    "workload_absolute": "mean_absolute",
    "workload_chi2": "mean_chi2",
}
WEIGHTS = "it needs sampling weights, a column with the role 'weight'"
SENSITIVE = "it needs a sensitive column that the release shows"
NOT_HERE = "it does not apply to this release"
NEEDED = dict.fromkeys(("journalist_max", "journalist_mean"), WEIGHTS) | dict.fromkeys(
    ("l", "theta", "t", "s_diversity", "value_max"), SENSITIVE
)
"""What figures that no release has by itself need."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Measuring:
    """What is measured of every candidate, beyond what its manifest says."""

    names: tuple[str, ...] = ()
    """The figures that axes and limits ask for."""
    workload: Workload | None = None
    target: str | None = None
    sample: int | None = None
    seed: int = 0

    def figures(self) -> tuple[ComparedFigure, ...]:
        return tuple(find_figure(name) for name in self.names)

    def needs(self, *sources: FigureSource) -> bool:
        """Whether a figure from one of these sources is asked for."""
        return any(figure.source in sources for figure in self.figures())

    @property
    def beyond_release(self) -> bool:
        """Whether candidates are compared with their source."""
        return any(f.source is not FigureSource.RELEASE for f in self.figures())


@dataclass(frozen=True)
class MeasuredFigures:
    """The figures of a candidate, and why others are missing."""

    values: dict[str, float] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)


def figures_of(
    release: Release, source: pa.Table, measuring: Measuring
) -> MeasuredFigures:
    """Measure a release, and more of it the more is asked for."""
    values = {**release.utility, **_risks(release.risk)}
    missing: dict[str, str] = {}
    if measuring.beyond_release:
        files = _files(release, source)
        assessed, reasons = _assessed(files, measuring)
        values |= assessed
        missing |= reasons
        attacked, skipped = _attacked(files, measuring)
        values |= attacked
        missing |= skipped
    for name in measuring.names:
        if name not in values:
            missing.setdefault(name, NEEDED.get(name, NOT_HERE))
    return MeasuredFigures(values, missing)


def _risks(risk: Mapping[str, Any]) -> dict[str, float]:
    return {k: float(v) for k, v in risk.items() if isinstance(v, int | float)}


def _files(release: Release, source: pa.Table) -> PairFiles:
    kept, policy = release.source_rows, release.claim.policy
    return PairFiles(
        policy=policy,
        original=source,
        published=release.table,
        beside=release.beside,
        base=release.claim.base,
        known_rows=Alignment(kept, release.group_of[kept]),
    )


def _assessed(
    files: PairFiles, measuring: Measuring
) -> tuple[dict[str, float], dict[str, str]]:
    """Everything that an assessment says, by the names of the catalogue."""
    wanted = Wanted(
        workload=measuring.workload,
        learn=measuring.needs(FigureSource.LEARNING),
        target=measuring.target,
        sample=SAMPLE if measuring.sample is None else measuring.sample,
        seed=measuring.seed,
    )
    found = assess(files, wanted)
    utility = found.utility
    values = {k: v for k, v in utility.items() if isinstance(v, int | float)}
    values |= _exposure(found) | _claims(found) | _workload(utility) | _learned(utility)
    protection = _protection(files.pair())
    if protection is not None:
        values["s_diversity"] = protection
    return values, {name: f"it {why}" for name, why in utility["not_measured"].items()}


def _exposure(found: Assessment) -> dict[str, float]:
    after = found.risk.get("after")
    if after is None:
        return {}
    prosecutor = after["prosecutor"]
    values = {
        "smallest_group": after["smallest_group"],
        "sample_uniques": after["sample_uniques"],
        "marketer": after["marketer"],
        **{name: prosecutor["above"].get(key, 0.0) for name, key in ABOVE.items()},
    }
    if "journalist" in after:
        values["journalist_max"] = after["journalist"]["highest"]
        values["journalist_mean"] = after["journalist"]["mean"]
    return values


def _claims(found: Assessment) -> dict[str, float]:
    """k, and the worst l, θ and t of the sensitive columns."""
    values = {"k": found.risk["k"]} if "k" in found.risk else {}
    columns: Iterable[Mapping[str, Any]] = found.risk.get("sensitive", {}).values()
    listed = list(columns)
    for letter, worst in WORST.items():
        said = [c[letter] for c in listed if c.get(letter) is not None]
        if said:
            values[letter] = worst(said)
    return values


def _workload(utility: Mapping[str, Any]) -> dict[str, float]:
    error = utility.get("workload")
    if error is None:
        return {}
    return {name: error[key]["value"] for name, key in ERRORS.items()}


def _learned(utility: Mapping[str, Any]) -> dict[str, float]:
    """The score of the model that learns best, and what the release costs models."""
    learned = utility.get("learned")
    if learned is None:
        return {}
    models = learned["models"].values()
    losses = [each["original"]["value"] - each["release"]["value"] for each in models]
    return {
        "learned_score": max(each["release"]["value"] for each in models),
        "learned_loss": float(np.mean(losses)),
    }


def _protection(pair: Pair) -> float | None:
    """S-diversity of definition 2.5 of Loukides and Shao 2008, averaged over groups.

    Values are those of the original rows, as an attacker who finds a group learns them.
    """
    rows = pair.source_row
    if rows is None or not pair.sensitive or pair.form is PublishedForm.SYNTHETIC:
        return None
    shown = {
        name: CodedAxis(pair.original[name].axis, pair.original[name].codes[rows])
        for name in pair.sensitive
    }
    views = [View(name) for name in shown]
    _, groups = np.unique(pair.groups, return_inverse=True)
    count = int(groups.max(initial=-1)) + 1
    made = build_groups(groups.astype(np.int32), count, sensitive=shown, views=views)
    found = sum(s_diversity(made.histograms[view], r=1.0) for view in views)
    return float(np.mean(found))


def _attacked(
    files: PairFiles, measuring: Measuring
) -> tuple[dict[str, float], dict[str, str]]:
    """How often the attacks that are asked for succeed; the worst column counts."""
    wanted = [f.name for f in measuring.figures() if f.source is FigureSource.ATTACK]
    if not wanted:
        return {}, {}
    seed = Seed.guessable(measuring.seed)
    found = AttackRun(files=files, seed=seed).run(wanted)
    values: dict[str, float] = {}
    for each in found.results:
        values[each.name] = max(values.get(each.name, 0.0), each.success)
    return values, dict(found.skipped)
