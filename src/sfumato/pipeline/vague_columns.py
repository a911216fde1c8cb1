"""Judge sensitive columns that show labels, intervals, sets or stars, at their worst."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.data.arrays import Flags
from sfumato.data.safe_repr import counted
from sfumato.data.schema import Role
from sfumato.models.base import TOLERANCE, OutputModel, SensitiveModel, Verdict
from sfumato.models.l_diversity import LDiversity
from sfumato.models.theta_diversity import ThetaDiversity
from sfumato.pipeline.manifest import requirement
from sfumato.policy import Policy
from sfumato.risk.table_pair import Pair
from sfumato.risk.uncertain_values import UncertainColumn, uncertain_cells


@dataclass(frozen=True, eq=False)
class VagueColumns:
    """The sensitive columns of a pair with cells that do not say which value they are."""

    pair: Pair
    columns: Mapping[str, UncertainColumn]
    clear: tuple[str, ...]
    """The other sensitive columns."""

    @classmethod
    def of(cls, pair: Pair) -> VagueColumns:
        """Find the columns with an uncertain cell."""
        found = {
            name: UncertainColumn(pair, name)
            for name in pair.sensitive
            if uncertain_cells(pair.published[name])
        }
        clear = tuple(name for name in pair.sensitive if name not in found)
        return cls(pair, found, clear)

    def concern(self, model: OutputModel) -> bool:
        """Whether a model judges values of such a column, or counts them as known."""
        if not self.columns or not isinstance(model, SensitiveModel):
            return False
        return model.others_known or any(
            name in self.columns for name in self._on(model)
        )

    def _on(self, model: SensitiveModel) -> tuple[str, ...]:
        names = (*self.columns, *self.clear)
        return tuple(view.column for view in model.views(names))

    def without(self, policy: Policy) -> Policy:
        """The policy with these columns beside the point."""
        if not self.columns:
            return policy
        aside = {
            name: policy.column(name).model_copy(update={"role": Role.INSENSITIVE})
            for name in self.columns
        }
        return policy.model_copy(update={"columns": {**policy.columns, **aside}})

    def measured(self) -> dict[str, dict[str, Any]]:
        """l, θ and t of each column, at their worst."""
        return {name: _measured(column) for name, column in self.columns.items()}

    def verdicts(self, asked: Sequence[OutputModel]) -> list[dict[str, Any]]:
        """The requirements that can be judged at their worst."""
        return [
            self._verdict(model)
            for model in asked
            if self.concern(model) and _plain(model)
        ]

    def _verdict(self, model: OutputModel) -> dict[str, Any]:
        assert isinstance(model, LDiversity | ThetaDiversity)
        columns = [UncertainColumn(self.pair, name) for name in self._on(model)]
        if isinstance(model, LDiversity):
            fewest = np.min([each.distinct() for each in columns], axis=0)
            return _record(model, fewest < model.l, float(fewest.min()))
        most = np.max([each.commonest() for each in columns], axis=0)
        return _record(model, most > model.theta + TOLERANCE, float(most.max()))

    def notes(self, asked: Sequence[OutputModel]) -> list[str]:
        """What is counted, and what is not judged."""
        said = [_said(name, column) for name, column in self.columns.items()]
        left = [m.name for m in asked if self.concern(m) and not _plain(m)]
        if left:
            listed = ", ".join(dict.fromkeys(left))
            said.append(f"Not judged, because of such cells: {listed}.")
        return said


def _plain(model: OutputModel) -> bool:
    """Whether the worst case of a model is known here."""
    if not isinstance(model, LDiversity | ThetaDiversity):
        return False
    counted_alone = model.level == 0 and not model.others_known
    return counted_alone and getattr(model, "kind", "distinct") == "distinct"


def _said(name: str, column: UncertainColumn) -> str:
    cells = uncertain_cells(column.column)
    words = (
        "does not say which value it is"
        if cells == 1
        else "do not say which value they are"
    )
    return (
        f"{counted(cells, 'cell')} of '{name}' {words}: its l, theta and t are the worst "
        "that is possible."
    )


def _record(model: OutputModel, broken: Flags, measured: float) -> dict[str, Any]:
    verdict = Verdict(not broken.any(), measured, int(broken.sum()))
    return requirement(model, verdict)


def _measured(column: UncertainColumn) -> dict[str, Any]:
    shift = column.shift()
    return {
        "l": int(column.distinct().min()),
        "theta": float(column.commonest().max()),
        "t": None if shift is None else float(shift.max()),
        "uncertain_cells": uncertain_cells(column.column),
    }
