"""The figures by which candidates can be compared, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum

from sfumato import registry
from sfumato.errors import UsageError
from sfumato.metrics.base import Metric
from sfumato.report.definitions import measure

DEFAULT_RISK, DEFAULT_UTILITY = "prosecutor_max", "ncp"
MORE_IS_BETTER = frozenset({"precision", "k", "l", "smallest_group", "learned_score"})


class FigureSide(StrEnum):
    """What a figure is about."""

    RISK = "risk"
    UTILITY = "utility"


class FigureSource(StrEnum):
    """Where a figure comes from."""

    RELEASE = "release"
    ASSESSMENT = "assessment"
    WORKLOAD = "workload"
    LEARNING = "learning"
    ATTACK = "attack"


@dataclass(frozen=True, kw_only=True)
class ComparedFigure:
    """A figure that every candidate may have."""

    name: str
    title: str
    side: FigureSide
    source: FigureSource
    share: bool = False
    """Whether it is written as a percentage."""

    @property
    def more_is_better(self) -> bool:
        return self.name in MORE_IS_BETTER

    def cost(self, value: float) -> float:
        """The figure as a cost: lower is better."""
        return -value if self.more_is_better else value


ASSESSED_RISKS = {
    "smallest_group": ("Smallest group, in people", False),
    "sample_uniques": ("People alone in their group", False),
    "above_0.09": ("People with a risk above 0.09", True),
    "above_k_11": ("People in groups of fewer than 11", True),
    "above_k_5": ("People in groups of fewer than 5", True),
    "above_k_3": ("People in groups of fewer than 3", True),
    "marketer": ("Marketer risk", True),
    "journalist_max": ("Highest journalist risk", True),
    "journalist_mean": ("Average journalist risk", True),
    "k": ("k that holds", False),
    "l": ("l that holds, worst column", False),
    "theta": ("θ that holds, worst column", True),
    "t": ("t that holds, worst column", False),
    "s_diversity": ("Average S-diversity (PM)", False),
}
LEARNED = {
    "learned_loss": ("Accuracy that models lose", True),
    "learned_score": ("Accuracy of models trained on the release", True),
}
WORKLOAD_ERRORS = {
    "workload_error": ("Average relative error of queries", True),
    "workload_median": ("Median relative error of queries", True),
    "workload_absolute": ("Mean absolute error of queries", False),
    "workload_chi2": ("Mean χ² error of queries", False),
}


def catalogue() -> dict[str, ComparedFigure]:
    """Every figure by its name: utility first, then risk."""
    found = [
        *(_metric(name) for name in registry.names("metrics")),
        _of_release("ncp_per_row", FigureSide.UTILITY),
        *_listed(WORKLOAD_ERRORS, FigureSide.UTILITY, FigureSource.WORKLOAD),
        *_listed(LEARNED, FigureSide.UTILITY, FigureSource.LEARNING),
        _of_release("prosecutor_max", FigureSide.RISK),
        _of_release("prosecutor_mean", FigureSide.RISK),
        _of_release("value_max", FigureSide.RISK),
        *_listed(ASSESSED_RISKS, FigureSide.RISK, FigureSource.ASSESSMENT),
        *(_attack(name) for name in registry.names("attacks")),
    ]
    return {each.name: each for each in found}


def find_figure(name: str, *, side: FigureSide | None = None) -> ComparedFigure:
    """The figure of a name, `-` and `_` being the same; of one side if that is given."""
    known = {
        key: each
        for key, each in catalogue().items()
        if side is None or each.side is side
    }
    for key, each in known.items():
        if _plain(key) == _plain(name):
            return each
    raise _unknown(name, known, side)


def _unknown(
    name: str, known: Mapping[str, ComparedFigure], side: FigureSide | None
) -> UsageError:
    kind = "figure" if side is None else f"{side} figure"
    close = get_close_matches(name, known, n=1)
    meant = f"Did you mean '{close[0]}'? " if close else ""
    return UsageError(
        f"There is no {kind} '{name}'.", hint=f"{meant}There are: {', '.join(known)}."
    )


def _plain(name: str) -> str:
    return name.replace("-", "_")


def _metric(name: str) -> ComparedFigure:
    words, kind = measure(name), registry.load("metrics", name)
    alone = issubclass(kind, Metric)
    return ComparedFigure(
        name=name,
        title=words.title,
        side=FigureSide.UTILITY,
        source=FigureSource.RELEASE if alone else FigureSource.ASSESSMENT,
        share=words.share,
    )


def _of_release(name: str, side: FigureSide) -> ComparedFigure:
    words = measure(name)
    return ComparedFigure(
        name=name,
        title=words.title,
        side=side,
        source=FigureSource.RELEASE,
        share=words.share,
    )


def _listed(
    words: Mapping[str, tuple[str, bool]], side: FigureSide, source: FigureSource
) -> Iterable[ComparedFigure]:
    return [
        ComparedFigure(name=name, title=title, side=side, source=source, share=share)
        for name, (title, share) in words.items()
    ]


def _attack(name: str) -> ComparedFigure:
    return ComparedFigure(
        name=name,
        title=f"Success of the attack '{name}'",
        side=FigureSide.RISK,
        source=FigureSource.ATTACK,
        share=True,
    )
