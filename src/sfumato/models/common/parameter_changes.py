"""Find parameter changes that make an infeasible model feasible, for hints."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from sfumato.errors import PolicyError
from sfumato.models.base import Feasibility, Model
from sfumato.models.common.feasibility import sentence, short_number

UNITS = 10**4
"""Steps of a share between 0 and 1: hints name four decimals."""

SomeModel = TypeVar("SomeModel", bound=Model)


@dataclass(frozen=True, eq=False)
class Loosening(Generic[SomeModel]):
    """Looks for the nearest values of parameters at which a model is feasible."""

    model: SomeModel
    feasible: Callable[[SomeModel], bool]
    ends: Mapping[str, float]
    """The loosest value of each parameter; a whole number for one that counts."""

    def explain(self, found: Feasibility) -> Feasibility:
        """An infeasible answer with a hint that names each parameter that helps.

        It names the nearest feasible value of each parameter that helps alone; where
        none does, values that help together.
        """
        if found.feasible:
            return found
        changes = [self._named(change) for change in self.alone()]
        ways = [*(changes or [self._named(self._joint())]), *found.other_ways]
        named = [way for way in ways if way]
        return replace(found, hint=sentence(named)) if named else found

    def alone(self) -> list[dict[str, float]]:
        """The nearest feasible value of each parameter that helps alone."""
        found = [self._nearest(self.model, name) for name in self.ends]
        return [change for change in found if change]

    def _joint(self) -> Mapping[str, float]:
        """Changes that help together: each the nearest, with later ones at their ends."""
        loose = replace(self.model, **self.ends)
        changes: dict[str, float] = {}
        for name in self.ends:
            before = {name: getattr(self.model, name)}
            change = (
                before if self._holds(loose, before) else self._nearest(loose, name)
            )
            loose = replace(loose, **change)
            changes |= change
        return changes if self.feasible(loose) else {}

    def _nearest(self, model: SomeModel, name: str) -> dict[str, float]:
        """The value nearest to the asked one at which a model is feasible, if any is."""
        asked, end = getattr(self.model, name), self.ends[name]
        step = 1 if isinstance(end, int) else UNITS
        tight = (math.floor if end > asked else math.ceil)(asked * step)
        loose = round(end * step)

        def change(units: int) -> dict[str, float]:
            return {name: units if step == 1 else units / step}

        if not self._holds(model, change(loose)):
            return {}
        while abs(loose - tight) > 1:
            middle = (loose + tight) // 2
            holds = self._holds(model, change(middle))
            tight, loose = (tight, middle) if holds else (middle, loose)
        return change(loose)

    def _holds(self, model: SomeModel, change: Mapping[str, float]) -> bool:
        """Return whether a changed model is valid and feasible."""
        try:
            return self.feasible(replace(model, **change))
        except PolicyError:
            return False

    def _named(self, changes: Mapping[str, float]) -> str:
        before = {name: getattr(self.model, name) for name in changes}
        return " and ".join(
            f"{'raise' if value > before[name] else 'lower'} {name} to "
            f"{short_number(value)}"
            for name, value in changes.items()
            if value != before[name]
        )
