"""Keep what attacks found in the private part of the release that was attacked."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from sfumato.data.json_records import dump_line
from sfumato.errors import OutputError
from sfumato.io.atomic_files import append_own
from sfumato.pipeline.attack_run import Attacked
from sfumato.pipeline.release_files import ReleaseFiles
from sfumato.pipeline.reports import ATTACKS


def keep_attacks(found: Attacked, release: Path) -> Path | None:
    """Add the private facts to the release's own, readable only by its owner.

    Those of earlier runs stay: every run begins with a line that says when it was. None
    where the release has no private part.
    """
    place = ReleaseFiles.of(release).private
    if place is None:
        return None
    head, *results = found.private_lines()
    when = datetime.now(UTC).isoformat(timespec="seconds")
    lines = [head | {"time": when}, *results]
    target = place / ATTACKS
    try:
        append_own(target, "".join(dump_line(line) + "\n" for line in lines))
    except OSError as fault:
        raise OutputError(
            f"'{target}' cannot be written: {fault.strerror}.",
            hint="Look at the permissions of the release's private part.",
        ) from None
    return target
