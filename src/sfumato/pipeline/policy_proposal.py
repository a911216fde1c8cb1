"""Propose a policy for a file or a frame that a caller passes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from sfumato.io.csv_grammar import UNLIKE_ROWS, line_breaks
from sfumato.io.decimals import pointed
from sfumato.pipeline.given_tables import Source, read_table
from sfumato.policy import Policy
from sfumato.policy.keywords import Settings
from sfumato.policy.propose import propose


def policy_proposal(
    data: Source,
    *,
    delimiter: str | None,
    encoding: str | None,
    multiline: bool,
    missing: Sequence[str] | None,
    k: int | None,
    profile: str | None,
) -> Policy:
    """Read the data as the arguments say, and propose a policy for them."""
    settings: Settings = {"delimiter": delimiter, "encoding": encoding}
    breaks = line_breaks(multiline=multiline, otherwise=UNLIKE_ROWS)
    source, decimal = pointed(read_table(data, None, settings, breaks=breaks))
    proposal = propose(
        source,
        multiline=multiline,
        path=os.fspath(data) if isinstance(data, str | os.PathLike) else None,
        missing=missing,
        decimal=decimal,
        k=k,
        profile=profile,
    )
    return Policy.parse(proposal.text, source="the proposal", base=Path())
