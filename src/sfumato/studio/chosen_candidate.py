"""The candidate that a project goes on with, and whether it still fits the policy."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.studio.workspace import ProjectFacts

CHOSEN = "chosen"
COMPARISON = "comparison"


@dataclass(frozen=True)
class ChosenCandidate:
    """A candidate that was chosen, and the directory of its release."""

    number: int
    name: str
    place: Path
    fits: bool
    """Whether the policy still asks for what it was made from."""

    @property
    def made(self) -> bool:
        return (self.place / "manifest.json").is_file()

    @property
    def usable(self) -> bool:
        return self.made and self.fits


def chosen_of(facts: ProjectFacts) -> ChosenCandidate | None:
    """The candidate that was chosen last; None if none was."""
    told = facts.note(CHOSEN)
    if not told or facts.policy is None:
        return None
    number = int(told["number"])
    return ChosenCandidate(
        number=number,
        name=str(told["name"]),
        place=facts.space.folder.candidates / str(number),
        fits=told.get("mark") == facts.policy_mark,
    )


def record_at(place: Path) -> dict[str, Any]:
    """A JSON file of a release; empty if it is not there."""
    try:
        found = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def outside_domain(place: Path) -> dict[str, int]:
    """How many cells of each column a process model counted as missing; private."""
    found: dict[str, int] = record_at(place / "private" / "audit.json").get(
        "outside_domain", {}
    )
    return found


def why_not(facts: ProjectFacts) -> str | None:
    """Why there is no candidate to go on with; None if there is one."""
    chosen = chosen_of(facts)
    if chosen is None:
        return "Choose a candidate first."
    if not chosen.fits:
        return "The policy changed since the candidate was chosen. Compare again."
    return None if chosen.made else "Make the chosen candidate first."
