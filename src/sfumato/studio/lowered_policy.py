"""What a candidate asks less of than the steward did, and who answers for that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.errors import PolicyError, RefusedError, UsageError
from sfumato.pipeline.comparison.policy_floor import (
    Lowered,
    below_the_policy,
    lowered,
    lowering_records,
)
from sfumato.policy import Policy
from sfumato.studio.chosen_candidate import chosen_of
from sfumato.studio.form_input import SentForm
from sfumato.studio.workspace import ProjectFacts


def shortfalls(
    facts: ProjectFacts, record: Mapping[str, Any], candidate: Policy
) -> tuple[Lowered, ...]:
    """What a candidate asks less of than the policy that the steward wrote.

    That is the policy of the comparison while nothing but the choice of a candidate
    changed it, and else the policy as it is.
    """
    asked = facts.policy
    chosen = chosen_of(facts)
    if asked is None:
        return ()
    if chosen is not None and chosen.fits:
        asked = facts.space.history.parsed(record["policy"])
    try:
        return lowered(asked, candidate)
    except (PolicyError, UsageError):
        return ()


def answered_for(form: SentForm, changes: tuple[Lowered, ...]) -> list[dict[str, Any]]:
    """What the history keeps of a weaker candidate; refuse one without an answer."""
    if not changes:
        return []
    by, because = form.text("by").strip(), form.text("because").strip()
    if form.text("weaker") != "yes" or not by or not because:
        raise RefusedError(
            f"This candidate is {below_the_policy(changes)}.",
            hint="Confirm both numbers, and say who lowers them and why: the report "
            "of the release keeps it.",
        )
    return lowering_records(changes, by=by, because=because)
