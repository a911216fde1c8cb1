"""Columns that would be published as they are although they tell rows apart."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from sfumato.data.unique_rows import MOST
from sfumato.pipeline.advice.suggestions import Suggestion, Topic
from sfumato.pipeline.exact_columns import EXACT
from sfumato.pipeline.unique_values import rows_alone
from sfumato.policy import Policy
from sfumato.policy.edit_text import toml_key


def giveaway_edits(policy: Policy, source: pa.Table) -> Iterator[Suggestion]:
    """Leave out each column that a run would refuse to publish as it is."""
    for name in source.column_names:
        section = policy.column(name)
        if policy.role(name) not in EXACT or section.keep_as_is:
            continue
        alone = rows_alone(source, name, policy.data.missing)
        if alone > MOST * source.num_rows:
            yield Suggestion(
                topic=Topic.COLUMN,
                text=f"Leave out '{name}'.",
                reason=f"It would be published as it is, and {alone:,} of "
                f"{source.num_rows:,} rows have a value that occurs once; more than "
                f"{MOST:.0%} is refused.",
                settings={f"columns.{toml_key(name)}.drop": True},
                needed=True,
                weaker=True,
                facts={"column": name},
            )
