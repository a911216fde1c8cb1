"""The result of `advise`: what is feasible, and numbered edits of the policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sfumato.data.result_classes import comes_from
from sfumato.data.safe_repr import SafeRepr, counted
from sfumato.pipeline.advice.suggestions import (
    Suggestion,
    chosen,
    merged_settings,
)
from sfumato.pipeline.private_notes import PRIVATE
from sfumato.policy import Policy
from sfumato.report.advice_card import advice_card

UNREAD = (
    "No cell was read: under differential privacy advice uses only the policy and the "
    "ledger. Types and domains are checked by the run, before the charge."
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Outlook(SafeRepr):
    """What the table allows of one requirement."""

    place: int
    """Its place in the policy, from 0, as in the settings: `require.0`."""
    model: str
    parameters: Mapping[str, Any]
    feasible: bool
    parameter: str | None = None
    """The parameter that `tightest` is a value of."""
    tightest: float | None = None
    """The tightest value that any release of this table can have."""
    message: str = ""
    """Where it is not feasible: what is needed, and what there is."""
    unread: bool = False
    """Whether no cell was read: the requirement is about how the release is made."""
    left: Mapping[str, float] | None = None
    """What the ledger has left (`epsilon`, `delta`), where no cell is read."""

    def _summary(self) -> str:
        return "feasible" if self.feasible else "not feasible"

    def record(self) -> dict[str, Any]:
        """Every figure, machine-readable."""
        record = {
            "requirement": self.place,
            "model": self.model,
            "parameters": dict(self.parameters),
            "feasible": self.feasible,
            "parameter": self.parameter,
            "tightest": self.tightest,
            "message": self.message or None,
        }
        if self.unread:
            record["ledger_left"] = None if self.left is None else dict(self.left)
        return record


@comes_from("sfumato.advise(data, policy)")
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Advice(SafeRepr):
    """What a policy asks of its data, and edits that help.

    It is computed from the source, and so it is private. Under differential privacy no
    cell is read.

    Example:
        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> people = pa.table({"age": [23, 25, 31, 34], "ill": list("abab")})
        >>> advice = sf.advise(people, quasi="age", sensitive="ill", k=5)
        >>> advice.feasible, advice.needed
        (False, (1,))
        >>> advice.apply(1).requirements()[0].k
        2
    """

    policy: Policy
    """The policy that was asked about."""
    feasible: bool
    """Whether a release that meets the policy seems possible."""
    outlooks: tuple[Outlook, ...]
    """Each requirement: whether it is feasible, and the tightest value that is."""
    suggestions: tuple[Suggestion, ...]
    """The edits, the greatest gain first: `number`, `text`, `settings`, `gain`, …"""
    loss: float | None = None
    """The loss of the policy, with the needed edits applied, on the search used."""
    rows: int = 0
    """Rows of the source."""
    columns: tuple[Mapping[str, Any], ...] = ()
    """Each quasi-identifier: what it loses, and what leaving it out would gain.

    Where no cell is read: each declared column, and how many values it declares.
    """
    dependences: tuple[Mapping[str, Any], ...] = ()
    """Columns that give other columns away."""
    algorithms: Mapping[str, str] = field(default_factory=dict)
    """Each algorithm: "fits", or why it does not."""
    operators: Mapping[str, str] = field(default_factory=dict)
    """Each operator: "fits", or why it does not."""
    notes: tuple[str, ...] = ()
    """What else to know, such as that a sample was searched."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """How it was measured: the search, its rows, rare rows, seconds."""
    unread: bool = False
    """Whether no cell was read, as under differential privacy; then it is not private."""

    def _summary(self) -> str:
        verdict = "feasible" if self.feasible else "not feasible"
        return f"{verdict}, {counted(len(self.suggestions), 'suggestion')}"

    def _repr_html_(self) -> str:
        return advice_card(self.record())

    @property
    def privacy(self) -> str:
        """What may be done with it: its first line wherever it is shown."""
        return UNREAD if self.unread else PRIVATE

    @property
    def needed(self) -> tuple[int, ...]:
        """The numbers of the edits without which no release is possible."""
        return tuple(each.number for each in self.suggestions if each.needed)

    def settings(self, *numbers: int) -> dict[str, Any]:
        """The settings that these suggestions change."""
        return merged_settings(chosen(self.suggestions, numbers))

    def apply(self, *numbers: int) -> Policy:
        """Return the policy with these suggestions applied."""
        return self.policy.with_settings(self.settings(*numbers))

    def text(self, *numbers: int) -> str:
        """The policy with these suggestions applied, as text with its comments."""
        return self.policy.edited(self.settings(*numbers))

    def record(self) -> dict[str, Any]:
        """Every figure, machine-readable."""
        return {
            "private": None if self.unread else PRIVATE,
            "feasible": self.feasible,
            "needed": list(self.needed),
            "rows": self.rows,
            "loss": self.loss,
            "requirements": [each.record() for each in self.outlooks],
            "advice": [each.record() for each in self.suggestions],
            "columns": [dict(each) for each in self.columns],
            "dependences": [dict(each) for each in self.dependences],
            "algorithms": dict(self.algorithms),
            "operators": dict(self.operators),
            "notes": list(self.notes),
            "measured": dict(self.facts),
        }
