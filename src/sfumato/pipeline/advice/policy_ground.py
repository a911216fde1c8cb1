"""The policy with what it needs to run at all, and the request that it makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sfumato.algorithms.base import Request
from sfumato.data.table import Table
from sfumato.errors import DataError, SfumatoError
from sfumato.pipeline.advice.fitting_algorithm import algorithm_needed, operator_needed
from sfumato.pipeline.advice.giveaway_columns import giveaway_edits
from sfumato.pipeline.advice.probe_search import ProbeSearch
from sfumato.pipeline.advice.suggestions import Suggestion
from sfumato.pipeline.advice.unmet_requirements import (
    AskedModel,
    Loosened,
    Unmet,
    asked_of,
    suggestion_of,
    unmet,
)
from sfumato.pipeline.build_request import build_request, coded_rows
from sfumato.pipeline.expand_requirements import generated_counts
from sfumato.pipeline.run import Run, replaced
from sfumato.report.number_text import percent


@dataclass(frozen=True, eq=False, kw_only=True)
class Ground:
    """A run that can begin, and its request."""

    run: Run
    table: Table
    request: Request
    asked: tuple[AskedModel, ...]
    needed: tuple[Suggestion, ...]
    """The edits without which it could not begin."""

    @property
    def max_loss(self) -> float:
        """The loss that a release may have; above 1 where any is allowed."""
        limit = self.run.policy.publish.max_loss
        return limit if self.run.operator.limits_loss and limit < 1 else 2.0

    def allows(self, each: Suggestion) -> bool:
        """Whether the policy with an edit is one that can be run."""
        try:
            policy = self.run.policy.with_settings(each.settings)
            policy.check_columns(self.run.source.column_names)
        except SfumatoError:
            return False
        return True


def ground_of(run: Run) -> Ground:
    """Build the request of the policy, with edits where it cannot run as it is."""
    _refuse_table(run)
    needed = list(giveaway_edits(run.policy, run.source))
    run = _with(run, needed)
    operator = operator_needed(run)
    if operator is not None:
        needed.append(operator)
        run = _with(run, [operator])
    table, _ = coded_rows(run)
    counts = generated_counts(run.policy.models(), table)
    request = build_request(run, table, None, counts)
    algorithm = algorithm_needed(run.policy, run.algorithm, request)
    if algorithm is not None:
        needed.append(algorithm)
        run = _with(run, [algorithm])
    return Ground(
        run=run,
        table=table,
        request=request,
        asked=asked_of(request, run.policy.requirements()),
        needed=tuple(needed),
    )


def _refuse_table(run: Run) -> None:
    if run.source.num_rows == 0:
        raise DataError("The table has no rows.", hint="There is nothing to advise on.")
    run.policy.check_columns(run.source.column_names)


def _with(run: Run, edits: Sequence[Suggestion]) -> Run:
    """The same run with edits applied to its policy."""
    settings = {key: value for each in edits for key, value in each.settings.items()}
    if not settings:
        return run
    return replaced(run, policy=run.policy.with_settings(settings))


@dataclass(frozen=True, eq=False, kw_only=True)
class Repaired:
    """What is out of reach, the edits that help, and the request with them."""

    causes: tuple[Unmet, ...]
    edits: tuple[Suggestion, ...]
    request: Request


def repaired(probe: ProbeSearch, ground: Ground) -> Repaired:
    """Find requirements that are out of reach, and the nearest that are not."""
    causes = tuple(unmet(ground.request, ground.asked, counting=False))
    repair = Loosened(probe, causes, ground.max_loss)
    repair.run()
    request = repair.changed(ground.request, repair.values)
    edits = []
    for cause in causes:
        values = {
            name: value
            for (place, name), value in repair.values.items()
            if place == cause.asked.place
        }
        if values:
            why = _why(cause, values, ground.max_loss)
            edits.append(suggestion_of(cause, values, why))
    counted = tuple(unmet(request, ground.asked, counting=True))
    edits += [
        suggestion_of(cause, cause.change, _why(cause, cause.change, 1.0))
        for cause in counted
        if cause.change
    ]
    return Repaired(
        causes=(*causes, *counted),
        edits=tuple(edits),
        request=_with_counts(request, counted),
    )


def _with_counts(request: Request, causes: Sequence[Unmet]) -> Request:
    """The request with constraints on shown values that can be met."""
    changes = {id(cause.asked.model): cause.change for cause in causes}
    models = tuple(
        replace(model, **changes[id(model)]) if id(model) in changes else model
        for model in request.models
    )
    return replace(request, models=models)


def _why(cause: Unmet, values: Mapping[str, float], limit: float) -> str:
    """Which value is the nearest, and why one beyond it is advised."""
    nearest = f" The nearest feasible value is {_listed(cause.change)}"
    beyond = {n: v for n, v in values.items() if v != cause.change.get(n)}
    if not beyond:
        return f"{nearest}."
    return (
        f"{nearest}, with next to nothing left to see; {_listed(beyond)} is the nearest "
        f"that was found to lose at most {percent(limit)} (publish.max_loss)."
    )


def _listed(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} = {value:g}" for name, value in values.items())
