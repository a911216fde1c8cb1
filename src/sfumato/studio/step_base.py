"""What every step of the studio has: a state, a page, and changes of the policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sfumato.risk.attacks.judgment import Light
from sfumato.studio.form_input import SentForm
from sfumato.studio.workspace import ProjectFacts, Workspace


class Progressed(StrEnum):
    """How far a step is."""

    DONE = "done"
    OPEN = "open"
    BLOCKED = "blocked"


@dataclass(frozen=True)
class StepState:
    """How far a step is, and why."""

    progressed: Progressed
    reason: str = ""
    light: Light | None = None
    """How good what was found is, where that is judged."""

    @classmethod
    def done(cls, reason: str = "", *, light: Light | None = None) -> StepState:
        return cls(Progressed.DONE, reason, light)

    @classmethod
    def open(cls, reason: str = "") -> StepState:
        return cls(Progressed.OPEN, reason)

    @classmethod
    def blocked(cls, reason: str) -> StepState:
        return cls(Progressed.BLOCKED, reason)


Query = Mapping[str, str]
Change = Callable[[Workspace, SentForm], str | None]
"""Makes a change; returns where to go on, if not to the page of the step."""
Show = Callable[[ProjectFacts, Query], dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class StudioStep:
    """One step of the rail."""

    key: str
    title: str
    state: Callable[[ProjectFacts], StepState]
    show: Show
    """What the template of the step is filled with."""
    commands: Callable[[ProjectFacts], list[str]]
    """The commands that do the same."""
    changes: Mapping[str, Change] = field(default_factory=dict)
    """What the forms of the step ask for, by the end of their address."""


NO_DATA = "Choose the data first."
NO_QUASI = "Name a quasi-identifier first."
UNREADABLE = "The policy or its data cannot be read."


def needs_data(facts: ProjectFacts) -> StepState | None:
    """The state of a step that waits for data; None if they are there."""
    if facts.fault is not None:
        return StepState.blocked(UNREADABLE)
    return None if facts.ready else StepState.blocked(NO_DATA)
