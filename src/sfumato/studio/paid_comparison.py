"""What a comparison under a process model was charged, whether it finished or not."""

from __future__ import annotations

from typing import Any

from sfumato.dp.account import Balance
from sfumato.dp.cost import Cost, sequential
from sfumato.errors import SfumatoError
from sfumato.pipeline.advice.process_advice import ProcessAnalysis
from sfumato.pipeline.private_run import account_of, unit_of
from sfumato.policy import Policy
from sfumato.studio.workspace import ProjectFacts, Workspace

PAID = "paid"
"""The note of a comparison that has begun; it is gone once its result is kept."""


def balance_of(policy: Policy, space: Workspace) -> Balance | None:
    """The ledger of a policy as it is; None where nothing is charged to one."""
    if not policy.process_models():
        return None
    analysis = ProcessAnalysis.of(policy, space.folder.root)
    account, relation = account_of(analysis.run), analysis.algorithm.relation
    if account is None:
        return None
    return account.balance(relation=relation, unit=unit_of(policy))


def begin(policy: Policy, space: Workspace) -> None:
    """Note how many charges the ledger has before a comparison."""
    balance = balance_of(policy, space)
    if balance is not None:
        charges, text = len(balance.charges), space.read_text()
        space.folder.write_note(PAID, {"charges": charges, "policy": text})


def settle(space: Workspace, record: dict[str, Any]) -> dict[str, Any] | None:
    """What a comparison that ended was charged; None if nothing could be."""
    charged = _charged(space)
    space.folder.forget_note(PAID)
    if charged is None:
        return None
    states = [each["status"] for each in record["candidates"]]
    return {**charged, "kept": states.count("finished")}


def lost(facts: ProjectFacts) -> dict[str, Any] | None:
    """What a comparison was charged that never ended; None if there is none."""
    if facts.space.tasks.running():
        return None
    try:
        return _charged(facts.space)
    except SfumatoError:
        return None


def _charged(space: Workspace) -> dict[str, Any] | None:
    """The charges since a comparison began, and what the ledger has left."""
    note = space.folder.read_note(PAID)
    if not note:
        return None
    balance = balance_of(space.history.parsed(note["policy"]), space)
    if balance is None:
        return None
    since = balance.charges[note["charges"] :]
    cost = sequential(Cost(each["epsilon"], each["delta"]) for each in since)
    return {
        "charges": len(since),
        "epsilon": cost.epsilon,
        "delta": cost.delta,
        "left": {"epsilon": balance.left.epsilon, "delta": balance.left.delta},
    }
