"""Every state of a project's policy: autosave, undo, redo, and changes from outside."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sfumato.errors import RefusedError, UsageError
from sfumato.io.atomic_files import OWN_DIRECTORY, OWN_FILE
from sfumato.pipeline.comparison.policy_floor import still_lowered
from sfumato.pipeline.reports import replace_file
from sfumato.policy import Policy
from sfumato.studio.policy_paths import refuse_outside
from sfumato.studio.project_folder import ProjectFolder

HISTORY = "history"
MOST_STATES = 200
OUTSIDE = "changed outside the studio"
ELSEWHERE = (
    "The policy was changed in another tab or outside the studio since this page."
)


@dataclass(eq=False)
class PolicyHistory:
    """The policy file of a project, and what it was before."""

    folder: ProjectFolder
    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    def text(self) -> str | None:
        """The policy as it is on disk; None if there is none yet."""
        try:
            found = self.folder.policy.read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            return None
        except (OSError, ValueError):
            raise UsageError(
                f"'{self.folder.policy.name}' cannot be read as UTF-8 text.",
                hint="A policy is a TOML file.",
            ) from None
        with self._lock:
            self._notice(found)
        return found

    def policy(self) -> Policy | None:
        """The policy as it is on disk, checked; None if there is none yet."""
        text = self.text()
        if text is None:
            return None
        return self.parsed(text, source=f"'{self.folder.policy.name}'")

    def parsed(self, text: str, *, source: str = "The changed policy") -> Policy:
        """A text as a policy of this project; no path of it may lead out of the folder."""
        policy = Policy.parse(text, source=source, base=self.folder.root)
        refuse_outside(policy, self.folder)
        return policy

    def revision(self) -> str:
        """What a page shows that it was made from; empty without a policy."""
        text = self.text()
        return "" if text is None else revision_of(text)

    def write(
        self,
        text: str,
        *,
        what: str,
        revision: str | None = None,
        lowered: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Put another text in the place of the policy, and remember why.

        `revision` is that of the page that asks for it; None writes in any case.
        `lowered` says what it asks less of, who answers for that, and why.
        """
        with self._lock:
            if revision is not None and revision != self.revision():
                raise RefusedError(
                    ELSEWHERE, hint="Look at what it is now, and change it again."
                )
            if text == self.text():
                return
            self.parsed(text)
            self._append(text, what, lowered)
            replace_file(self.folder.policy, text, mode=OWN_FILE)

    def edit(
        self,
        settings: Mapping[str, Any],
        *,
        what: str,
        revision: str | None = None,
        lowered: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Change settings of the policy, by their paths; None takes one away."""
        policy = self.policy()
        if policy is None:
            raise UsageError("There is no policy yet.", hint="Choose the data first.")
        text = policy.edited(settings)
        self.write(text, what=what, revision=revision, lowered=lowered)

    def lowered(self) -> list[dict[str, Any]]:
        """What the policy asked before somebody lowered it, as far as it still does."""
        policy = self.policy()
        state = self._record()
        if policy is None or not state["states"]:
            return []
        events = state["states"][state["at"]].get("lowered", [])
        return [each for each in events if still_lowered(policy, each)]

    def undo(self) -> None:
        """Go one state back."""
        self._go(-1, "There is nothing to undo.")

    def redo(self) -> None:
        """Go one state forward again."""
        self._go(+1, "There is nothing to redo.")

    @property
    def can_undo(self) -> str:
        """What the next undo takes back; empty if there is nothing."""
        record = self._record()
        states, at = record["states"], record["at"]
        return str(states[at]["what"]) if 0 < at < len(states) else ""

    @property
    def can_redo(self) -> str:
        """What the next redo brings back; empty if there is nothing."""
        record = self._record()
        states, at = record["states"], record["at"]
        return str(states[at + 1]["what"]) if at + 1 < len(states) else ""

    def _go(self, step: int, nothing: str) -> None:
        with self._lock:
            self.text()
            record = self._record()
            at = record["at"] + step
            if not 0 <= at < len(record["states"]):
                raise UsageError(nothing, hint="The policy is as it was.")
            text = self._state(record["states"][at]["number"])
            self.folder.write_note(HISTORY, {**record, "at": at})
            replace_file(self.folder.policy, text, mode=OWN_FILE)

    def _notice(self, text: str) -> None:
        """Remember a state that somebody else wrote."""
        record = self._record()
        states, at = record["states"], record["at"]
        if not states or self._state(states[at]["number"]) != text:
            self._append(text, OUTSIDE if states else "opened")

    def _append(
        self, text: str, what: str, lowered: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        record = self._record()
        kept = record["states"][: record["at"] + 1]
        for gone in [*record["states"][len(kept) :], *kept[:-MOST_STATES]]:
            self._place(gone["number"]).unlink(missing_ok=True)
        number = record["next"]
        self._place(number).parent.mkdir(mode=OWN_DIRECTORY, exist_ok=True)
        replace_file(self._place(number), text, mode=OWN_FILE)
        when = datetime.now(UTC).isoformat(timespec="seconds")
        # Every state has all of them, because the oldest states are forgotten.
        events = _with_events(kept[-1].get("lowered", []) if kept else [], lowered)
        state = {"number": number, "what": what, "when": when, "lowered": events}
        states = [*kept[-MOST_STATES:], state]
        made = {"states": states, "at": len(states) - 1, "next": number + 1}
        self.folder.write_note(HISTORY, made)

    def _record(self) -> dict[str, Any]:
        found = self.folder.read_note(HISTORY)
        states = found.get("states", [])
        if not states or not all(self._place(s["number"]).is_file() for s in states):
            return {"states": [], "at": -1, "next": found.get("next", 1)}
        return found

    def _place(self, number: int) -> Any:
        return self.folder.notes / HISTORY / f"{number:06d}.toml"

    def _state(self, number: int) -> str:
        return str(self._place(number).read_text(encoding="utf-8"))


def _with_events(
    before: Sequence[Mapping[str, Any]], lowered: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Add events; one about the same setting and value takes the place of another."""
    again = [(each["setting"], each["asked"]) for each in lowered]
    stay = [each for each in before if (each["setting"], each["asked"]) not in again]
    return [*stay, *lowered]


def revision_of(text: str) -> str:
    """A short hash of a policy's text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]
