"""Small pairs of an original and a published table."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from sfumato.pipeline.pair import PairFiles
from sfumato.policy import Policy
from sfumato.risk.table_pair import Pair
from sfumato.risk.utility import comparison


def policy_of(quasi: list[str], sensitive: list[str], **sections: Any) -> Policy:
    columns: dict[str, Any] = {name: {"role": "quasi"} for name in quasi}
    columns |= {name: {"role": "sensitive"} for name in sensitive}
    for name, section in sections.items():
        columns[name] = columns[name] | section
    return Policy.model_validate({"version": 1, "unlisted": "keep", "columns": columns})


def pair_of(
    original: dict[str, list],
    published: dict[str, list],
    *,
    quasi: list[str],
    sensitive: list[str] | None = None,
    sections: dict[str, Any] | None = None,
    **more: Any,
) -> Pair:
    policy = policy_of(quasi, sensitive or [], **(sections or {}))
    return PairFiles(
        policy=policy,
        original=pa.table(original),
        published=pa.table(published),
        **more,
    ).pair()


def compared(*args, **more):
    return comparison(pair_of(*args, **more))
