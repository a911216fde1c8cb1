"""Make a release, or say everything that stands against it."""

from __future__ import annotations

from sfumato.errors import InfeasibleError
from sfumato.pipeline.make_release import make_release
from sfumato.pipeline.release import Release
from sfumato.pipeline.run import Run


def explained_release(run: Run) -> Release:
    """A release that meets the policy; where there is none, every cause and a way out."""
    try:
        return make_release(run)
    except InfeasibleError as fault:
        # Imported late: a run that succeeds needs no advice.
        from sfumato.pipeline.advice.explained_refusal import explained

        raise explained(run, fault) from None
