"""One open project: its folder, its policy, its source and its task."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.data.json_records import dump_line
from sfumato.errors import RefusedError, SfumatoError, UsageError
from sfumato.pipeline.given_tables import read_table
from sfumato.policy import Policy
from sfumato.studio.background_task import BackgroundTask, TaskBoard
from sfumato.studio.hierarchy_views import ViewCache
from sfumato.studio.policy_history import PolicyHistory
from sfumato.studio.project_folder import ProjectFolder
from sfumato.studio.table_outlook import OutlookCache

SHORT_WAIT = 1.5
"""Seconds that a page waits for a task, so that short ones need no second page."""


@dataclass(eq=False)
class SourceCache:
    """The source as a table, read again only if the file or its settings changed."""

    _key: tuple[Any, ...] = ()
    _table: pa.Table | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def read(self, path: Path, policy: Policy) -> pa.Table:
        """The table of a file, as the policy reads it."""
        told = path.stat()
        settings = policy.data.model_dump_json(exclude={"missing", "missing_as"})
        key = (path, told.st_mtime_ns, told.st_size, settings)
        with self._lock:
            if self._table is None or key != self._key:
                self._table = None
                self._table = read_table(path, policy, {})
                self._key = key
            return self._table


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

    def data_path(self, policy: Policy) -> Path:
        """The source of a policy; it must be a file in the project folder."""
        if policy.data.url is not None:
            raise UsageError(
                "The policy reads a database, and the studio reads files.",
                hint="Write the table to a file, or use the commands.",
            )
        if policy.data.path is None:
            raise UsageError("The policy names no data.", hint="Choose a file.")
        return self.folder.data_file(policy.data.path)

    def source(self, policy: Policy) -> pa.Table:
        return self.sources.read(self.data_path(policy), policy)

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
        """A hash of what the policy says about data and columns."""
        assert self.policy is not None
        document = self.policy.model_dump(mode="json", exclude_defaults=True)
        kept = {key: document.get(key) for key in ("data", "columns", "unlisted")}
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
