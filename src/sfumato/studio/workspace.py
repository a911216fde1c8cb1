"""One open project: its folder, its policy, its source and its task."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from sfumato.data.json_records import dump_line
from sfumato.errors import RefusedError, SfumatoError, UsageError
from sfumato.policy import Policy
from sfumato.studio.background_task import BackgroundTask, TaskBoard
from sfumato.studio.hierarchy_views import ViewCache
from sfumato.studio.policy_history import PolicyHistory
from sfumato.studio.project_folder import ProjectFolder
from sfumato.studio.source_cache import SourceCache
from sfumato.studio.table_outlook import OutlookCache

SHORT_WAIT = 1.5
"""Seconds that a page waits for a task, so that short ones need no second page."""


@dataclass(eq=False)
class Workspace:
    """A project that is open in the studio."""

    folder: ProjectFolder
    history: PolicyHistory = field(init=False)
    tasks: TaskBoard = field(default_factory=TaskBoard)
    sources: SourceCache = field(default_factory=SourceCache)
    outlooks: OutlookCache = field(default_factory=OutlookCache)
    views: ViewCache = field(default_factory=ViewCache)
    answers: dict[str, Any] = field(default_factory=dict, repr=False)
    """What was found about one person; it is not written down."""

    def __post_init__(self) -> None:
        self.history = PolicyHistory(self.folder)

    def source(self, policy: Policy) -> pa.Table:
        """The source of a policy, as its runs number the rows."""
        return self.sources.read(policy, self.folder)

    def begin(
        self, name: str, title: str, arguments: Mapping[str, Any], *, note: str
    ) -> BackgroundTask:
        """Start a task whose result is remembered under a name; wait a moment for it."""

        def finish(result: Any) -> None:
            self.folder.write_note(note, result)

        task = self.tasks.begin(name, title, arguments, finish)
        task.ended.wait(SHORT_WAIT)
        return task

    def require_policy(self) -> Policy:
        """The policy; an error if there is none."""
        policy = self.history.policy()
        if policy is None:
            raise UsageError("There is no policy yet.", hint="Choose the data first.")
        return policy

    def read_text(self) -> str:
        """The text of the policy, or nothing."""
        return self.history.text() or ""


@dataclass(frozen=True, eq=False)
class ProjectFacts:
    """What is known of a project when a page is made."""

    space: Workspace
    policy: Policy | None
    fault: SfumatoError | None = None
    """Why the policy or its data cannot be read."""
    table: pa.Table | None = None

    @classmethod
    def of(cls, space: Workspace) -> ProjectFacts:
        """Read policy and source; what fails is a fact, too."""
        try:
            policy = space.history.policy()
        except SfumatoError as fault:
            return cls(space, None, fault)
        if policy is None:
            return cls(space, None)
        try:
            return cls(space, policy, None, space.source(policy))
        except SfumatoError as fault:
            return cls(space, policy, fault)

    @property
    def ready(self) -> bool:
        """Whether there is a policy with data that can be read."""
        return self.policy is not None and self.table is not None

    def note(self, name: str) -> dict[str, Any]:
        return self.space.folder.read_note(name)

    @property
    def columns_mark(self) -> str:
        """A hash of the source, and of what the policy says about it and its columns."""
        assert self.policy is not None
        document = self.policy.model_dump(mode="json", exclude_defaults=True)
        kept = {key: document.get(key) for key in ("data", "columns", "unlisted")}
        kept["source"] = self.space.sources.stamp
        return hashlib.sha256(dump_line(kept).encode()).hexdigest()

    @property
    def policy_mark(self) -> str:
        """A hash of what a release is made from: all but how it is chosen."""
        assert self.policy is not None
        chosen = self.policy.with_settings({"compare": {}, "accept": {}})
        document = chosen.model_dump(mode="json", exclude_defaults=True)
        return hashlib.sha256(dump_line(document).encode()).hexdigest()


def refuse_while_running(space: Workspace) -> None:
    """Refuse a change that a running task would not see."""
    if space.tasks.running():
        raise RefusedError(
            "A task is still running.", hint="Wait for it, or cancel it."
        )
