"""Prove and measure a published table by counts of an engine, without holding its rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sfumato.data.schema import Role
from sfumato.engines.base import Engine
from sfumato.errors import DataError
from sfumato.models.base import OutputModel
from sfumato.pipeline.exact_columns import (
    engine_exact_risk,
    engine_unique,
    exact_names,
    refuse_unique,
    unasked,
)
from sfumato.pipeline.unique_values import UNTOUCHED, alone_shares, refuse_alone
from sfumato.pipeline.verification import Claim
from sfumato.policy import Policy
from sfumato.verify import Proof


def prove_on_engine(claim: Claim, engine: Engine) -> Proof:
    """Count the distinct published lines, and judge them."""
    asked = claim.judged_columns(engine.source.names)
    counted = engine.count(asked)
    if not counted.lines.num_rows:
        raise DataError("The table has no rows.", hint="There is nothing to judge.")
    return claim.verify(counted.lines, times=counted.times)


def proof_rows(proof: Proof) -> int:
    """How many rows a proof is about."""
    return int(proof.groups.rows.sum())


def refuse_counted_giveaways(
    policy: Policy, engine: Engine, rows: int, *, but: Collection[str] = ()
) -> None:
    """Refuse to publish a column that tells rows apart, unless the policy says so."""
    names = unasked(policy, engine.source.names, but=but)
    missing = policy.data.missing
    alone = {name: engine.alone(name, (), missing) for name in names}
    refuse_alone(policy, alone, rows)


def refuse_counted_unique_rows(
    policy: Policy,
    engine: Engine,
    rows: int,
    *,
    quasi: Sequence[str],
    but: Collection[str] = (),
) -> None:
    """Refuse a table of which exact columns make too many rows unique."""
    names = unasked(policy, engine.source.names, but=but)
    if names:
        refuse_unique(policy, names, engine_unique(engine, quasi, names), rows)


def engine_giveaways(
    policy: Policy,
    engine: Engine,
    *,
    quasi: Sequence[str],
    rows: int,
    models: Sequence[OutputModel],
    but: Collection[str] = (),
) -> dict[str, Any]:
    """How many rows the columns that are not quasi-identifiers give away."""
    left_out = {*quasi, *but}
    names = [name for name in engine.source.names if name not in left_out]
    roles = {name: policy.role(name) or Role.INSENSITIVE for name in names}
    kept = {name: role for name, role in roles.items() if role in UNTOUCHED}
    missing = policy.data.missing
    single = {name: engine.alone(name, (), missing) for name in kept}
    found = {
        name: alone_shares(
            role, single[name], engine.alone(name, quasi, missing), rows=rows
        )
        for name, role in kept.items()
    }
    if not found:
        return {}
    exact = {name: single[name] for name in exact_names(kept)}
    together = engine_exact_risk(
        policy, engine, quasi=quasi, single=exact, rows=rows, models=models
    )
    return together | {"columns": found}
