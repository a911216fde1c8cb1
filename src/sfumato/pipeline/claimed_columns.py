"""What a claim says of the columns of a published table, and what it leaves unsaid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from sfumato.data.schema import Role
from sfumato.pipeline.unique_values import released_giveaways
from sfumato.pipeline.verification import BOUNDS
from sfumato.policy import Policy
from sfumato.publish.base import Form


def added(policy: Policy, names: Sequence[str]) -> list[str]:
    """Columns that the operator adds, among those that are there."""
    roles = {name: policy.role(name) or Role.INSENSITIVE for name in names}
    roles |= dict.fromkeys(policy.names(Role.QUASI), Role.QUASI)
    there = frozenset(names)
    own = policy.operator_instance().own_names(roles, lambda name: name not in there)
    gone = [name for name in policy.names(Role.QUASI) if name not in there]
    ends = [name + end for name in gone for end in BOUNDS if name + end in there]
    return list(dict.fromkeys([*own, *ends]))


def withheld(policy: Policy, names: Sequence[str]) -> tuple[str, ...]:
    """Columns that a release must not have, but for those that the operator adds."""
    secret = policy.withheld().difference(added(policy, names))
    return tuple(name for name in names if name in secret)


def unmentioned(policy: Policy, names: Sequence[str]) -> tuple[str, ...]:
    """Columns that the policy, or the settings of a call, do not speak of."""
    known = {*policy.columns, *added(policy, names)}
    return tuple(name for name in names if name not in known)


def claimed_giveaways(policy: Policy, table: pa.Table, form: Form) -> dict[str, Any]:
    """How many rows columns that are no quasi-identifiers give away, if not swapped."""
    names = table.column_names
    quasi = [name for name in names if policy.role(name) is Role.QUASI]
    quasi += [name for name in added(policy, names) if name not in quasi]
    swapped = policy.names(Role.SENSITIVE) if form is Form.SWAPPED else ()
    return released_giveaways(policy, table, quasi=quasi, but=swapped)
