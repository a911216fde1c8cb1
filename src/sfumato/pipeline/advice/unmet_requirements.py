"""Which requirements the table can meet, and the nearest values that it can."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sfumato.algorithms.base import Request
from sfumato.algorithms.diva.constraint_targets import Sigma
from sfumato.data.rules import least_rows
from sfumato.errors import InfeasibleError, PolicyError
from sfumato.models.base import Feasibility, OutputModel
from sfumato.models.common.parameter_changes import Loosening
from sfumato.pipeline.advice.advice import Outlook
from sfumato.pipeline.advice.probe_search import ProbeSearch
from sfumato.pipeline.advice.suggestions import Suggestion, Topic
from sfumato.report.number_text import amount

LOOSEST: Mapping[str, tuple[float, ...]] = {
    "theta": (1.0,),
    "alpha": (1.0,),
    "t": (1.0,),
    "l": (1, 2),
    "p": (1,),
    "upper": (1.0,),
    "lower": (0.0,),
    "beta": (1000.0,),
    "delta": (100.0,),
    "c": (1.0, 1e9),
    "c1": (1e9,),
    "c2": (1e-4,),
    "r": (0.0,),
    "n": (1,),
    "at_most": (1.0,),
    "at_least": (0,),
    "k": (1,),
}
"""The loosest values of each parameter, whichever is valid; those that are asked first
are changed first."""
STEPS = 16
"""How finely values beyond the nearest feasible one are tried."""
SLACK = 0.99
"""The share of `publish.max_loss` that a fast search may reach: others may lose more."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AskedModel:
    """One requirement of the policy, and the models that it stands for."""

    place: int
    model: OutputModel
    stands_for: tuple[OutputModel, ...]

    @property
    def generated(self) -> bool:
        return self.stands_for != (self.model,)


@dataclass(frozen=True, eq=False, kw_only=True)
class Unmet:
    """A requirement that no release of this table meets."""

    asked: AskedModel
    message: str
    """What is needed, and what there is."""
    hint: str
    change: Mapping[str, float] = field(default_factory=dict)
    """The nearest values at which it can be met alone; empty: there are none."""


def asked_of(request: Request, policy_models: Sequence[Any]) -> tuple[AskedModel, ...]:
    """The requirements of a policy, in its order, with the request's models."""
    left = list(request.models)
    found = []
    for place, model in enumerate(policy_models):
        if not isinstance(model, OutputModel):
            continue
        count = 1
        if getattr(model, "generate", None):
            later = sum(
                not getattr(each, "generate", None)
                for each in policy_models[place + 1 :]
                if isinstance(each, OutputModel)
            )
            count = max(len(left) - later, 0)
        taken, left = left[:count], left[count:]
        own = taken[0] if count == 1 and taken else model
        found.append(AskedModel(place=place, model=own, stands_for=tuple(taken)))
    return tuple(found)


def unmet(
    request: Request, asked: Sequence[AskedModel], *, counting: bool
) -> Iterator[Unmet]:
    """Find the requirements that arithmetic shows to be out of reach.

    Those that count shown values depend on the others, so they are asked about apart.
    """
    for each in asked:
        if each.model.counts_values is not counting:
            continue
        for model in each.stands_for:
            found = judged(request, model)
            if not found.feasible:
                change = {} if each.generated else nearest(request, model)
                yield Unmet(
                    asked=each, message=found.message, hint=found.hint, change=change
                )
                break


def judged(request: Request, model: OutputModel) -> Feasibility:
    """Whether a table can meet one model, alone."""
    alone = replace(request, models=(*_others(request, model), model))
    whole = alone.as_one_group()
    found = model.feasibility(whole, removable=request.removable)
    if not found.feasible or not model.counts_values:
        return found
    try:
        Sigma.of(alone, k=least_rows(alone.rules())).refuse_impossible()
    except InfeasibleError as fault:
        return Feasibility(False, None, fault.message, fault.hint or "")
    return found


def _others(request: Request, model: OutputModel) -> tuple[OutputModel, ...]:
    """The requirements on groups that groups with counted values have to meet too."""
    if not model.counts_values:
        return ()
    return tuple(each for each in request.models if not each.counts_values)


def nearest(request: Request, model: OutputModel) -> Mapping[str, float]:
    """The nearest value of one parameter at which a table can meet a model."""
    loosest = ends(request, model)
    if model.counts_values and any(each.sensitive for each in request.models):
        # A few rows that show a value would have to meet the sensitive models alone.
        loosest.pop("at_most", None) if "at_least" in loosest else None
    search = Loosening(
        model, lambda changed: judged(request, changed).feasible, loosest
    )
    return next(iter(search.alone()), {})


def ends(request: Request, model: OutputModel) -> dict[str, float]:
    """The loosest valid value of each parameter of a model."""
    found = {}
    for name, values in LOOSEST.items():
        present = getattr(model, name, None)
        if present is None or isinstance(present, bool):
            continue
        if model.counts_values and isinstance(present, int):
            values = (request.rows,) if name == "at_most" else (0,)
        valid = [value for value in values if _valid(model, name, value)]
        if valid and valid[0] != present:
            found[name] = valid[0]
    return found


def _valid(model: OutputModel, name: str, value: float) -> bool:
    try:
        replace(model, **{name: value})
    except PolicyError:
        return False
    return True


def outlooks(request: Request, asked: Sequence[AskedModel]) -> tuple[Outlook, ...]:
    """What the table allows of each requirement."""
    return tuple(_outlook(request, each) for each in asked)


def _outlook(request: Request, each: AskedModel) -> Outlook:
    answers = [judged(request, model) for model in each.stands_for]
    bad = next((found for found in answers if not found.feasible), None)
    only = next((n for n in LOOSEST if getattr(each.model, n, None)), None)
    parameter = answers[0].parameter or only
    best = answers[0].best if len(answers) == 1 else None
    if bad is None and parameter in ("at_most", "at_least"):
        best = None if each.model.counts_values else best
    return Outlook(
        place=each.place,
        model=each.model.name,
        parameters=each.model.parameters(),
        feasible=bad is None,
        parameter=parameter if best is not None else None,
        tightest=best,
        message="" if bad is None else bad.message,
    )


@dataclass(eq=False)
class Loosened:
    """Finds values at which all requirements can be met together."""

    probe: ProbeSearch
    causes: Sequence[Unmet]
    max_loss: float
    values: dict[tuple[int, str], float] = field(default_factory=dict)
    """By place and parameter: the value that helps."""

    def run(self) -> bool:
        """Loosen what is unmet, no more than is needed; whether that suffices."""
        for each in self.causes:
            for name, value in each.change.items():
                self.values[each.asked.place, name] = value
        if not self.values or self._holds(self.values):
            return bool(self.values) and self._holds(self.values)
        start = dict(self.values)
        step = self._first(lambda at: self._between(start, at))
        if step is None:
            return False
        self.values = self._between(start, step)
        for key in start:
            self._tighten(key, start[key])
        return True

    def _first(self, values: Any) -> int | None:
        """The first step at which values hold; a later one holds if one does."""
        if not self._holds(values(STEPS)):
            return None
        low, high = 0, STEPS
        while high - low > 1:
            middle = (low + high) // 2
            if self._holds(values(middle)):
                high = middle
            else:
                low = middle
        return high

    def _tighten(self, key: tuple[int, str], start: float) -> None:
        """Bring one value back to where it began, as far as all still hold."""
        end = self.values[key]

        def moved(at: int) -> dict[tuple[int, str], float]:
            return {**self.values, key: _mixed(start, end, at)}

        if self._holds(moved(0)):
            self.values = moved(0)
            return
        step = self._first(moved)
        if step is not None:
            self.values = moved(step)

    def _between(
        self, start: Mapping[tuple[int, str], float], at: int
    ) -> dict[tuple[int, str], float]:
        request = self.probe.request
        models = {each.asked.place: each.asked.model for each in self.causes}
        return {
            (place, name): _mixed(value, ends(request, models[place])[name], at)
            for (place, name), value in start.items()
        }

    def _holds(self, values: Mapping[tuple[int, str], float]) -> bool:
        loss = self.probe.mean(self.changed(self.probe.request, values))
        return loss is not None and loss <= self.max_loss * SLACK

    def changed(
        self, request: Request, values: Mapping[tuple[int, str], float]
    ) -> Request:
        """A request with these values."""
        models = list(request.models)
        for each in self.causes:
            mine = {
                n: v for (place, n), v in values.items() if place == each.asked.place
            }
            for model in each.asked.stands_for if mine else ():
                at = next(i for i, m in enumerate(request.models) if m is model)
                models[at] = replace(model, **mine)
        return replace(request, models=tuple(models))


def _mixed(start: float, end: float, at: int) -> float:
    """A value some steps from one towards another; whole where both are."""
    value = start + (end - start) * at / STEPS
    if isinstance(start, int):
        return round(value)
    return round(value, 4)


def suggestion_of(cause: Unmet, values: Mapping[str, float], why: str) -> Suggestion:
    """The edit that makes an unmet requirement feasible."""
    model, place = cause.asked.model, cause.asked.place
    changes = [
        f"{'raise' if value > getattr(model, name) else 'lower'} {name} from "
        f"{amount(getattr(model, name))} to {amount(value)}"
        for name, value in values.items()
    ]
    text = f"{' and '.join(changes)} in {model.name} (require.{place})"
    return Suggestion(
        topic=Topic.REQUIREMENT,
        text=f"{text[0].upper()}{text[1:]}.",
        reason=f"{cause.message}{why}",
        settings={f"require.{place}.{name}": value for name, value in values.items()},
        needed=True,
        weaker=True,
    )
