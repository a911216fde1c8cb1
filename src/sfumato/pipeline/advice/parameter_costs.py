"""What a little more or less protection would cost: k, l and p around their values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sfumato.algorithms.base import Request
from sfumato.errors import PolicyError
from sfumato.models.base import OutputModel
from sfumato.models.common.parameter_changes import Loosening
from sfumato.pipeline.advice.measured_edits import ProposedEdit
from sfumato.pipeline.advice.probe_search import ProbeSearch
from sfumato.pipeline.advice.suggestions import Suggestion, Topic
from sfumato.pipeline.advice.unmet_requirements import SLACK, AskedModel, ends

AROUND = {"k": (-2, -1, 1, 2), "l": (-1, 1), "p": (-1, 1)}
"""How far from its value each parameter is tried."""
LEAST = {"k": 2, "l": 2, "p": 2}
"""Smaller values promise nothing."""


ENOUGH = "The nearest value that loses no more than publish.max_loss allows."


def parameter_edits(
    probe: ProbeSearch, asked: Sequence[AskedModel], taken: Sequence[str]
) -> Iterator[ProposedEdit]:
    """Edits of one parameter each, but not of settings that are changed anyway."""
    for each in asked:
        if each.generated or len(each.stands_for) != 1:
            continue
        for name, steps in AROUND.items():
            if f"require.{each.place}.{name}" not in taken:
                yield from _around(probe, each, name, steps)


def _around(
    probe: ProbeSearch, each: AskedModel, name: str, steps: Sequence[int]
) -> Iterator[ProposedEdit]:
    now = getattr(each.model, name, None)
    if not isinstance(now, int | float) or isinstance(now, bool):
        return
    # A k that doubles shows where the cost goes.
    for value in (
        *(now + step for step in steps),
        *((2 * now,) if name == "k" else ()),
    ):
        changed = _changed(each.model, name, value)
        if changed is not None and value >= LEAST[name]:
            yield ProposedEdit(
                _edit(each, name, now, value), _with(probe, each.model, changed)
            )


def within_loss(
    probe: ProbeSearch, asked: Sequence[AskedModel], max_loss: float
) -> list[ProposedEdit]:
    """Edits of one parameter each after which a release loses little enough."""
    now = probe.mean(probe.request)
    if now is not None and now <= max_loss:
        return []
    return [
        found
        for each in asked
        if len(each.stands_for) == 1 and not each.model.counts_values
        for found in _loose_enough(probe, each, max_loss)
    ]


def _loose_enough(
    probe: ProbeSearch, each: AskedModel, max_loss: float
) -> Iterator[ProposedEdit]:
    """The nearest value of one parameter of a requirement, if one suffices."""

    def suffices(model: OutputModel) -> bool:
        loss = probe.mean(_with(probe, each.model, model))
        return loss is not None and loss <= max_loss * SLACK

    loosest = dict(list(ends(probe.request, each.model).items())[:1])
    for change in Loosening(each.model, suffices, loosest).alone():
        ((name, value),) = change.items()
        now = getattr(each.model, name)
        edit = _edit(each, name, now, value)
        request = _with(probe, each.model, replace(each.model, **change))
        yield ProposedEdit(replace(edit, reason=ENOUGH, weaker=True), request)


def _changed(model: OutputModel, name: str, value: float) -> OutputModel | None:
    try:
        return replace(model, **{name: value})
    except PolicyError:
        return None


def _with(probe: ProbeSearch, old: OutputModel, new: OutputModel) -> Request:
    models = tuple(new if each is old else each for each in probe.request.models)
    return replace(probe.request, models=models)


def _edit(each: AskedModel, name: str, now: float, value: float) -> Suggestion:
    verb, effect = ("Lower", "less") if value < now else ("Raise", "more")
    model, place = each.model, each.place
    return Suggestion(
        topic=Topic.REQUIREMENT,
        text=f"{verb} {name} from {now:g} to {value:g} in {model.name} "
        f"(require.{place}).",
        reason=f"It then promises {effect}.",
        settings={f"require.{place}.{name}": value},
        weaker=value < now,
        facts={"parameter": name, "value": value},
    )
