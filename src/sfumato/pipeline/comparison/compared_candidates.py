"""The result of a comparison: candidates with figures, the front, and what to choose."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import version
from typing import Any

import numpy as np

from sfumato.data.arrays import Flags, Floats
from sfumato.data.result_classes import comes_from
from sfumato.data.safe_repr import SafeRepr, counted
from sfumato.errors import InfeasibleError, RefusedError, UsageError
from sfumato.io.private_page import write_private_page
from sfumato.pipeline.comparison.candidate_policies import Candidate
from sfumato.pipeline.comparison.figure_catalogue import ComparedFigure, catalogue
from sfumato.pipeline.comparison.pareto_front import dominated_by, on_front
from sfumato.pipeline.comparison.picking import (
    PICKS,
    AcceptLimit,
    Pick,
    choose,
    excess,
    no_knee,
)
from sfumato.pipeline.comparison.policy_floor import lowering_records
from sfumato.pipeline.comparison.trade_off_dial import Dial
from sfumato.pipeline.comparison.try_candidate import Outcome, SharedWork
from sfumato.pipeline.private_notes import PRIVATE
from sfumato.pipeline.release import Release
from sfumato.pipeline.repeated_identifiers import warn_about


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ComparedCandidate(SafeRepr):
    """A candidate, and what became of it."""

    candidate: Candidate
    outcome: Outcome | None
    """None: the comparison was stopped before it was finished."""
    on_front: bool = False
    """Whether no other candidate is at least as good in both figures and better in
    one."""
    accepted: bool = False
    """Whether it is finished, no weaker than the policy, and within every limit of
    `[accept]`."""
    dominated_by: int | None = None
    """The number of a candidate that is better."""

    @property
    def weaker(self) -> bool:
        """Whether it asks for less than the policy; it is then on no front."""
        return bool(self.candidate.below)

    def _summary(self) -> str:
        return f"{self.number}, {self.candidate.name}: {self.status}"

    @property
    def number(self) -> int:
        return self.candidate.number

    @property
    def name(self) -> str:
        return self.candidate.name

    @property
    def figures(self) -> Mapping[str, float]:
        return {} if self.outcome is None else self.outcome.figures

    @property
    def finished(self) -> bool:
        return self.outcome is not None and self.outcome.failure is None

    @property
    def status(self) -> str:
        if self.outcome is None:
            return "not run"
        return "finished" if self.outcome.failure is None else "failed"

    def record(self) -> dict[str, Any]:
        """All of it as plain values."""
        record = {
            "number": self.number,
            "name": self.name,
            "algorithm": self.candidate.algorithm,
            "operator": self.candidate.operator,
            "settings": dict(self.candidate.settings),
            "status": self.status,
            "on_front": self.on_front,
            "accepted": self.accepted,
            "dominated_by": self.dominated_by,
            "below_policy": [each.record() for each in self.candidate.below],
            "below_text": self.candidate.below_text,
        }
        if self.outcome is None:
            return record
        if self.outcome.failure is not None:
            return record | {"error": vars(self.outcome.failure)}
        return record | {
            "figures": dict(self.figures),
            "not_measured": dict(self.outcome.not_measured),
            **self.outcome.counts,
            "loss_by_column": dict(self.outcome.loss_by_column),
            "group_sizes": [dict(each) for each in self.outcome.group_sizes],
            "requirements": [
                {key: each[key] for key in ("model", "parameters", "measured")}
                for each in self.outcome.requirements
            ],
            "seconds": round(self.outcome.seconds, 3),
        }


@comes_from("sfumato.compare(data, policy)")
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Comparison(SafeRepr):
    """Candidate releases side by side, by a figure of risk and one of utility; private.

    Example:
        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> people = pa.table({"age": [23, 25, 31, 34], "ill": list("abab")})
        >>> policy = sf.Policy.build(quasi="age", sensitive="ill", k=2)
        >>> some = {"compare.algorithms": ["mondrian"], "publish.max_loss": 1.0}
        >>> some["compare.set"] = {"require.0.k": [2, 4]}
        >>> found = sf.compare(people, policy.with_settings(some), workers=1)
        >>> [each.name for each in found.front]
        ['mondrian, k = 4', 'mondrian, k = 2']
        >>> found.pick("min-loss").number, found.release("min-loss").verdicts[0]["measured"]
        (1, 2.0)
    """

    tried: tuple[Candidate, ...]
    """The settings of each candidate."""
    outcomes: Mapping[int, Outcome]
    """What came of each candidate, by its number: figures, or why it failed."""
    risk: ComparedFigure
    """The figure of risk that was compared."""
    utility: ComparedFigure
    """The figure of utility that was compared."""
    limits: tuple[AcceptLimit, ...] = ()
    """The limits of `[accept]`."""
    stopped: bool = False
    """Whether it was stopped before all candidates were finished."""
    notes: tuple[str, ...] = ()
    """What else to know about the comparison."""
    dial: bool = False
    """Whether the candidates sweep `utility_weight`."""
    work: SharedWork
    """Private: what the candidates were made from."""
    provenance: Mapping[str, Any] = field(default_factory=dict)
    """Private: how a release of this source is written."""

    def _summary(self) -> str:
        finished = sum(each.finished for each in self.candidates)
        return (
            f"{finished} of {counted(len(self.tried), 'candidate')} finished, "
            f"{len(self.front)} on the front"
        )

    @cached_property
    def candidates(self) -> tuple[ComparedCandidate, ...]:
        """Every candidate with its place in the comparison."""
        return tuple(self._placed(place) for place in range(len(self.tried)))

    @property
    def front(self) -> tuple[ComparedCandidate, ...]:
        """The candidates that no other one beats, from the lowest risk on."""
        found = [each for each in self.candidates if each.on_front]
        place = {each.number: self._points[each.number - 1] for each in found}
        return tuple(sorted(found, key=lambda each: tuple(place[each.number])))

    @property
    def accepted(self) -> tuple[ComparedCandidate, ...]:
        """The finished candidates within every limit of `[accept]` and of the policy."""
        return tuple(each for each in self.candidates if each.accepted)

    def _placed(self, place: int) -> ComparedCandidate:
        candidate, above = self.tried[place], dominated_by(self._points, place)
        return ComparedCandidate(
            candidate=candidate,
            outcome=self.outcomes.get(candidate.number),
            on_front=bool(self._on_front[place]),
            accepted=self._meets_limits(candidate) and not candidate.below,
            dominated_by=None if above is None else above + 1,
        )

    def _meets_limits(self, candidate: Candidate) -> bool:
        outcome = self.outcomes.get(candidate.number)
        if outcome is None or outcome.failure is not None:
            return False
        return excess(self.limits, outcome.figures) == 0.0

    @cached_property
    def _points(self) -> Floats:
        """(candidates, 2): risk and loss as costs; NaN where one is not known.

        A candidate that is weaker than the policy has no place among the others.
        """
        nothing: Mapping[str, float] = {}
        rows = []
        for candidate in self.tried:
            outcome = self.outcomes.get(candidate.number)
            figures = nothing if outcome is None or candidate.below else outcome.figures
            rows.append([_cost(f, figures) for f in (self.risk, self.utility)])
        return np.array(rows, dtype=np.float64).reshape(-1, 2)

    @cached_property
    def _on_front(self) -> Flags:
        return on_front(self._points)

    def pick(self, pick: Pick | int = "knee") -> ComparedCandidate:
        """Choose among the accepted candidates, or take the one of a number."""
        if isinstance(pick, int):
            return self._numbered(pick)
        if pick not in PICKS:
            raise UsageError(
                "There is no pick of this name.", hint=f"There are: {', '.join(PICKS)}."
            )
        known = [
            each
            for each in self.accepted
            if not np.isnan(self._points[each.number - 1]).any()
        ]
        if not known:
            raise self.nothing_accepted()
        points = self._points[[each.number - 1 for each in known]]
        place = choose(points, pick)
        if place is None:
            raise no_knee(points)
        return known[place]

    def _numbered(self, number: int) -> ComparedCandidate:
        if not 1 <= number <= len(self.tried):
            raise UsageError(
                f"There is no candidate {number}.",
                hint=f"They are numbered from 1 to {len(self.tried):,}.",
            )
        return self.candidates[number - 1]

    def release(
        self,
        pick: Pick | int = "knee",
        *,
        by: str | None = None,
        because: str | None = None,
    ) -> Release:
        """The release of a candidate, proven; its `save` proves the file again.

        It is made once more from the same seed, unless it spent privacy budget: then it
        is the one that was made. A candidate that is weaker than the policy is released
        only if you say who lowers it and why; the manifest and the report keep both.
        """
        changes = self.refuse_weaker(pick, by=by, because=because)
        release = self.made(self.pick(pick).number)
        warn_about(release.warnings, frames=3)
        if not changes:
            return release
        return replace(release, manifest={**release.manifest, "lowered": changes})

    def refuse_weaker(
        self, pick: Pick | int, *, by: str | None, because: str | None
    ) -> list[dict[str, Any]]:
        """Refuse a candidate below the policy that nobody answers for.

        Return what the history keeps of it; empty if it is not below the policy.
        """
        chosen = self.pick(pick)
        _finished(chosen)
        if not chosen.weaker:
            return []
        if not (by and because):
            raise RefusedError(
                f"Candidate {chosen.number} ({chosen.name}) is "
                f"{chosen.candidate.below_text}.",
                hint="Say who lowers it and why: --by NAME --because TEXT (from Python: "
                "by=…, because=…). The report keeps both.",
            )
        return lowering_records(chosen.candidate.below, by=by, because=because)

    def made(self, number: int) -> Release:
        """The release of any candidate that is finished, to look at it."""
        chosen = self._numbered(number)
        outcome = _finished(chosen)
        release = outcome.release or self.work.make(chosen.candidate.policy)
        return replace(release, **self.provenance)

    def nothing_accepted(self) -> InfeasibleError:
        """The error where no candidate is within the limits, or none is finished."""
        strict = [each for each in self.candidates if not each.weaker]
        finished = [each for each in strict if each.finished]
        if not finished:
            return _nothing_finished(strict)
        if not self.limits:
            return InfeasibleError(
                f"No candidate has both {self.risk.name} and {self.utility.name}.",
                hint="Choose other axes with --risk and --utility.",
            )
        nearest = min(finished, key=lambda each: excess(self.limits, each.figures))
        return InfeasibleError(
            f"None of {counted(len(finished), 'candidate')} is accepted: "
            f"{'; '.join(self._met(finished))}.",
            hint=f"Nearest is candidate {nearest.number} ({nearest.name}): "
            f"{'; '.join(self._beyond(nearest))}. Change [accept], or compare more.",
        )

    def _met(self, finished: list[ComparedCandidate]) -> list[str]:
        """How many candidates meet each limit, the one that binds most first."""
        counts = [
            (sum(l.excess(c.figures.get(l.figure.name)) == 0.0 for c in finished), l)
            for l in self.limits
        ]
        counts.sort(key=lambda each: each[0])
        return [
            f"{l.told()} is met by {'none' if count == 0 else count}"
            for count, l in counts
        ]

    def _beyond(self, nearest: ComparedCandidate) -> list[str]:
        said = []
        for limit in self.limits:
            value = nearest.figures.get(limit.figure.name)
            if value is None:
                said.append(f"{limit.figure.name} was not measured")
            elif limit.excess(value) > 0.0:
                said.append(limit.told(value))
        return said

    def picks(self) -> dict[str, int]:
        """The number of the candidate behind each pick; empty if none is accepted.

        There is no `knee` where the front has none.
        """
        numbers: dict[str, int] = {}
        for pick in PICKS:
            with suppress(InfeasibleError, UsageError):
                numbers[pick] = self.pick(pick).number
        return numbers

    def record(self) -> dict[str, Any]:
        """All of it, for JSON; the first entry says that it is private."""
        swept = self.sweeps
        return {
            "private": " ".join((PRIVATE, *self.notes)),
            "notes": list(self.notes),
            "sfumato": version("sfumato"),
            "rows": int(self.work.source.num_rows),
            "risk": self.risk.name,
            "utility": self.utility.name,
            "figures": self._measured(),
            "accept": {limit.figure.name: limit.limit for limit in self.limits},
            "stopped": self.stopped,
            "front": [each.number for each in self.front],
            "picks": self.picks(),
            "candidates": [each.record() for each in self.candidates],
            **({} if swept is None else {"dial": swept.record()}),
        }

    @property
    def sweeps(self) -> Dial | None:
        """The trade-off dial in numbers, where it was swept."""
        if not self.dial:
            return None
        return Dial.of([(each.candidate, each.figures) for each in self.candidates])

    def _measured(self) -> dict[str, dict[str, Any]]:
        """The figures that any candidate has, and how to read them."""
        names = {name for each in self.candidates for name in each.figures}
        return {
            name: {
                "title": figure.title,
                "side": figure.side.value,
                "share": figure.share,
                "more_is_better": figure.more_is_better,
            }
            for name, figure in catalogue().items()
            if name in names
        }

    def page(self, path: str | os.PathLike[str]) -> None:
        """Write the comparison as one self-contained page that only you can read."""
        from sfumato.report.comparison_page import render_comparison

        write_private_page(path, render_comparison(self.record()))

    def plot(self) -> Any:
        """The candidates as an Altair chart (`pip install 'sfumato[plots]'`)."""
        from sfumato.report.plots import comparison_plot

        return comparison_plot(self.record())

    def _repr_html_(self) -> str:
        from sfumato.report.comparison_page import comparison_card

        return comparison_card(self.record())


def _nothing_finished(strict: Sequence[ComparedCandidate]) -> InfeasibleError:
    """The error where no candidate that asks as much as the policy gave a release."""
    outcomes = [each.outcome for each in strict if each.outcome is not None]
    first = next((each.failure for each in outcomes if each.failure is not None), None)
    if first is None:
        return InfeasibleError(
            "No candidate was finished.", hint="Let the comparison run on."
        )
    fault = InfeasibleError(
        f"None of {counted(len(strict), 'candidate')} gave a release; the first says: "
        f"{first.message}",
        hint=first.hint,
    )
    fault.exit_code = first.exit_code
    return fault


def _finished(chosen: ComparedCandidate) -> Outcome:
    """The outcome of a candidate, if it gave a release."""
    if not chosen.finished or chosen.outcome is None:
        raise InfeasibleError(
            f"Candidate {chosen.number} ({chosen.name}) gave no release.",
            hint="Choose one that is finished.",
        )
    return chosen.outcome


def _cost(figure: ComparedFigure, figures: Mapping[str, float]) -> float:
    value = figures.get(figure.name)
    return float("nan") if value is None else figure.cost(value)
