"""Compare the columns of a published table with those that a policy mentions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.data.arrays import Counts
from sfumato.data.cell_text import distinct
from sfumato.data.schema import Role
from sfumato.engines.base import Engine
from sfumato.hierarchies.bands import exact_values
from sfumato.models.common.groups import total_times
from sfumato.pipeline.exact_columns import Holders
from sfumato.pipeline.unique_values import released_giveaways
from sfumato.pipeline.verification import BOUNDS
from sfumato.policy import Policy
from sfumato.publish.base import Form, Operator


def added(policy: Policy, operator: Operator, names: Sequence[str]) -> list[str]:
    """The columns of a table that its operator added."""
    roles = {name: policy.role(name) or Role.INSENSITIVE for name in names}
    roles |= dict.fromkeys(policy.names(Role.QUASI), Role.QUASI)
    there = frozenset(names)
    own = operator.own_names(roles, lambda name: name not in there)
    gone = [name for name in policy.names(Role.QUASI) if name not in there]
    ends = [name + end for name in gone for end in BOUNDS if name + end in there]
    return list(dict.fromkeys([*own, *ends]))


def withheld(
    policy: Policy, names: Sequence[str], *, but: Collection[str]
) -> tuple[str, ...]:
    """Columns that a release must not have, except those that its operator added."""
    secret = policy.withheld().difference(but)
    return tuple(name for name in names if name in secret)


def unmentioned(
    policy: Policy, names: Sequence[str], *, but: Collection[str]
) -> tuple[str, ...]:
    """Columns that neither the policy nor the settings of a call mention."""
    known = {*policy.columns, *but}
    return tuple(name for name in names if name not in known)


def exact_cells(policy: Policy, table: pa.Table) -> dict[str, int]:
    """How many cells are not the bands that the policy publishes, by column."""
    names = [name for name in table.column_names if policy.bands(name) is not None]
    counts = {name: _exact(policy, name, table.column(name)) for name in names}
    return {name: count for name, count in counts.items() if count}


def counted_exact_cells(policy: Policy, engine: Engine) -> dict[str, int]:
    """The same for a table whose rows an engine counts."""
    counts = {}
    for name in engine.source.names:
        if policy.bands(name) is not None:
            lines = engine.count([name])
            counts[name] = _exact(policy, name, lines.lines.column(name), lines.times)
    return {name: count for name, count in counts.items() if count}


def _exact(
    policy: Policy, name: str, cells: pa.ChunkedArray, times: Counts | None = None
) -> int:
    """Count the cells that bands of a column do not publish; one for `times` rows."""
    bands, kind = policy.bands(name), policy.column(name).kind
    assert bands is not None
    values, rows = distinct(cells, name=name)
    exact = exact_values(name, values, bands, kind=kind, missing=policy.data.missing)
    # A missing cell finds the last flag.
    return int(total_times(np.append(exact, False)[rows], times, 2)[1])


def claimed_giveaways(
    policy: Policy,
    table: pa.Table,
    form: Form,
    *,
    made: Sequence[str],
    held: Holders,
) -> dict[str, Any]:
    """How many rows the columns that are not quasi-identifiers give away.

    `made` are the columns that the operator added. Swapped columns are left out.
    """
    names = table.column_names
    quasi = [name for name in names if policy.role(name) is Role.QUASI]
    quasi += [name for name in made if name not in quasi]
    swapped = policy.names(Role.SENSITIVE) if form is Form.SWAPPED else ()
    return released_giveaways(policy, table, quasi=quasi, held=held, but=swapped)
