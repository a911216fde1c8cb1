"""The manifest of a written release, which says how to check it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sfumato.errors import SfumatoError
from sfumato.pipeline.claimed_policy import claimed_policy
from sfumato.pipeline.verification import Claim


class SavedManifest(dict[str, Any]):
    """The manifest as it was written; `check_command` proves the release again."""

    def __init__(
        self,
        manifest: Mapping[str, Any],
        *,
        command: Callable[[], str],
        warnings: tuple[str, ...] = (),
    ) -> None:
        super().__init__(manifest)
        self._command = command
        self.warnings = warnings
        """Private: what the steward should know; the file does not have it."""

    @property
    def check_command(self) -> str:
        """The command that proves the written table again, without its source."""
        return self._command()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: check it with: {self.check_command}>"

    __str__ = __repr__


def check_command(claim: Claim, place: Path, table: str) -> str:
    """The command that proves a written release; `table` is its file or its address."""
    if not claim.models:
        # No table shows the guarantee of a process: its hash is all there is.
        return shlex.join(["sha256sum", table])
    manifest = place / "manifest.json"
    words = ["sfumato", "check", table, "--manifest", str(manifest)]
    if _needs_policy(manifest):
        words += ["--policy", "policy.toml"]
    if claim.needs_record:
        words += ["--groups", str(place / "private" / "rows.parquet")]
    return shlex.join(words)


def _needs_policy(manifest: Path) -> bool:
    """Return whether the manifest leaves out what a requirement looks at."""
    try:
        claimed_policy(manifest)
    except SfumatoError:
        return True
    return False
