"""Advise on a policy: ask each question about its data, and number the answers."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sfumato.algorithms.partition.mondrian import Mondrian
from sfumato.data.unique_rows import MOST_TOGETHER
from sfumato.pipeline.advice.advice import Advice
from sfumato.pipeline.advice.dependent_columns import dependence_edits, dependences
from sfumato.pipeline.advice.fitting_algorithm import (
    algorithm_fits,
    choice_notes,
    operator_fits,
    other_algorithm,
    other_operator,
)
from sfumato.pipeline.advice.hard_columns import column_edits, column_figures
from sfumato.pipeline.advice.hard_rows import rare_rows, row_edits
from sfumato.pipeline.advice.measured_edits import LossScale, measured, scale_of
from sfumato.pipeline.advice.parameter_costs import parameter_edits, within_loss
from sfumato.pipeline.advice.policy_ground import Ground, ground_of, repaired
from sfumato.pipeline.advice.probe_search import REFINEMENT, ProbeSearch, probe_of
from sfumato.pipeline.advice.suggestions import Suggestion, Topic, numbered
from sfumato.pipeline.advice.unmet_requirements import Unmet, outlooks
from sfumato.pipeline.exact_columns import unasked
from sfumato.pipeline.run import Run
from sfumato.publish.base import Form
from sfumato.publish.generalize import Generalize
from sfumato.report.number_text import amount, counted, listing, percent

LEAST_GAIN = 0.0005
"""A hierarchy that gains less than this share of all detail is not advised."""


def advise_on(run: Run) -> Advice:
    """Analyze a policy on its data, before anything heavy."""
    began = time.monotonic()
    run.progress("coding", 0.0)
    ground = ground_of(run)
    run.progress("searching", 0.05)
    probe = probe_of(
        ground.request, ground.table, ground.run.operator, ground.run.algorithm
    )
    repairs = repaired(probe, ground)
    models = repairs.request.models
    probe = replace(probe, request=replace(probe.request, models=models))
    run.progress("searching", 0.1)
    analysis = PolicyAnalysis(
        run=run,
        ground=ground,
        causes=repairs.causes,
        probe=probe,
        scale=scale_of(probe),
        needed=(*ground.needed, *repairs.edits),
    )
    advice = analysis.advice()
    seconds = round(time.monotonic() - began, 2)
    return replace(advice, facts={**advice.facts, "seconds": seconds})


@dataclass(frozen=True, eq=False, kw_only=True)
class PolicyAnalysis:
    """All that is known of a policy before edits are measured."""

    run: Run
    ground: Ground
    causes: tuple[Unmet, ...]
    probe: ProbeSearch
    scale: LossScale | None
    """None: even with the needed edits the search finds no release."""
    needed: tuple[Suggestion, ...]

    def advice(self) -> Advice:
        """Measure edits, look for dependences, and put everything together."""
        policy, source = self.run.policy, self.run.source
        fits = algorithm_fits(self.ground.request)
        operators = operator_fits(self.ground.run)
        self.run.progress("comparing columns", 0.12)
        found = dependences(self.ground.run.policy, source)
        edits = (
            [] if self.scale is None else self._measured(self.scale, fits, operators)
        )
        told = dependence_edits(self.ground.run.policy, found)
        edits += [each for each in told if self.ground.allows(each)]
        shown = [each for each in edits if _worth_telling(each)]
        return Advice(
            policy=policy,
            feasible=self._feasible(),
            outlooks=outlooks(self.ground.request, self.ground.asked),
            suggestions=numbered([*self.needed, *shown]),
            loss=None if self.scale is None else self.scale.loss,
            rows=self.ground.request.rows,
            columns=self._columns(edits),
            dependences=found,
            algorithms=fits,
            operators=operators,
            notes=tuple(self._notes(fits)),
            facts=self._facts(),
        )

    def _feasible(self) -> bool:
        if self.needed or self.causes or self.scale is None:
            return False
        return self.scale.loss <= self.ground.max_loss

    def _measured(
        self, scale: LossScale, fits: dict[str, str], operators: dict[str, str]
    ) -> list[Suggestion]:
        ground, probe, policy = self.ground, self.probe, self.ground.run.policy
        taken = [key for each in self.needed for key in each.settings]
        candidates = [
            *column_edits(probe, scale, policy, self.run.base),
            *row_edits(probe, policy.publish.max_suppressed),
            *parameter_edits(probe, ground.asked, taken),
            *within_loss(probe, ground.asked, ground.max_loss),
        ]
        valid = [each for each in candidates if ground.allows(each.suggestion)]
        found = measured(
            probe,
            scale,
            valid,
            lambda step, share: self.run.progress(step, 0.15 + 0.85 * share),
        )
        return [*found, *self._choices(scale, fits, operators)]

    def _choices(
        self, scale: LossScale, fits: dict[str, str], operators: dict[str, str]
    ) -> Iterator[Suggestion]:
        """Another algorithm or operator, with what it gains on the same request."""
        run, probe = self.ground.run, self.probe
        other = other_algorithm(run.policy, run.algorithm, fits)
        if other is not None and probe.thorough is None:
            best = probe.loss(probe.request, Mondrian(refine=REFINEMENT))
            loss = None if best is None else best.mean
            yield replace(
                other,
                loss_before=scale.loss,
                loss=loss,
                measured_by="mondrian, refined",
            )
        shown = other_operator(run, operators)
        if shown is not None:
            general = replace(probe, operator=Generalize()).mean(probe.request)
            if general is not None:
                after = min(general * scale.ratio, 1.0)
                yield replace(
                    shown,
                    loss_before=scale.loss,
                    loss=after,
                    measured_by=probe.quick.name,
                )

    def _columns(self, edits: Sequence[Suggestion]) -> tuple[dict[str, Any], ...]:
        if self.scale is None:
            return ()
        return column_figures(self.probe, self.scale, edits)

    def _facts(self) -> dict[str, Any]:
        probe = self.probe
        again = None if probe.thorough is None else f"{probe.thorough.name}, refined"
        return {
            "search": probe.quick.name,
            "search_of_the_best": again,
            "rows_searched": probe.request.rows,
            "rows": probe.rows,
            "rare_rows": rare_rows(probe.request),
        }

    def _notes(self, fits: dict[str, str]) -> Iterator[str]:
        yield from choice_notes(self.ground.run.policy, self.ground.request, fits)
        for cause in self.causes:
            if not cause.change:
                yield f"{cause.message} {cause.hint}"
        yield from self._about_search()
        yield from self._about_loss()
        yield from self._about_exact_columns()

    def _about_search(self) -> Iterator[str]:
        probe, own = self.probe, self.ground.run.algorithm.name
        if probe.quick.name != own:
            yield (
                f"Losses are those of '{probe.quick.name}', scaled to what it loses "
                f"after some refinement; '{own}' may lose somewhat less."
            )
        if probe.sampled:
            yield (
                f"Measured on a random sample of {amount(probe.request.rows)} of "
                f"{counted(probe.rows, 'row')}; all of them together lose less."
            )
        if self.run.operator.form is not Form.CELLS:
            yield (
                f"'{self.run.operator.name}' shows quasi-identifiers as they are; losses "
                "here say how unlike the rows of a group are."
            )
        if any(model.counts_values for model in probe.request.models):
            yield "Losses are measured without the constraints on shown values."

    def _about_exact_columns(self) -> Iterator[str]:
        names = unasked(self.run.policy, self.run.source.column_names)
        if names and self.run.operator.form is Form.CELLS:
            yield _exact_columns_note(names)

    def _about_loss(self) -> Iterator[str]:
        limit = self.ground.max_loss
        if self.scale is None:
            yield "The search finds no release, even with the needed edits applied."
        elif self.scale.loss > limit:
            yield (
                f"A release would lose {percent(self.scale.loss)} of its detail; "
                f"publish.max_loss allows {percent(limit)}. The edits that gain most "
                "help."
            )


def _exact_columns_note(names: Sequence[str]) -> str:
    listed = listing([f"'{name}'" for name in names])
    return (
        f"Not looked at: how many rows {listed} make unique beside the published "
        f"quasi-identifiers. The run measures it, and allows {MOST_TOGETHER:.0%}."
    )


def _worth_telling(each: Suggestion) -> bool:
    """Whether an edit that promises no less is worth its place."""
    if each.topic is Topic.HIERARCHY:
        return (each.gain or 0.0) >= LEAST_GAIN
    return each.topic is not Topic.ALGORITHM or (each.gain or 0.0) > 0.0
