"""The account across releases: a file that is locked, charged first, and never overdrawn.

What a release claims is charged whole, before its data is touched, and stays charged if
the run fails afterwards: somebody may have seen how it failed.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.dp.cost import Cost, Relation, sequential
from sfumato.errors import BudgetError, OutputError, PolicyError, RefusedError

LAYOUT = 1


@dataclass(frozen=True)
class Balance:
    """What an account allows in all, and what has been charged to it."""

    budget: Cost
    relation: Relation
    charges: tuple[dict[str, Any], ...] = ()

    @property
    def spent(self) -> Cost:
        return sequential(Cost(c["epsilon"], c["delta"]) for c in self.charges)

    def after(self, cost: Cost, note: str) -> Balance:
        """The balance with one more charge, or a refusal."""
        total = self.spent + cost
        if not total.within(self.budget):
            raise BudgetError(
                f"This release costs epsilon {cost.epsilon:.6g}, delta {cost.delta:.3g}; "
                f"the ledger has {self._left()} left of epsilon "
                f"{self.budget.epsilon:.6g}, delta {self.budget.delta:.3g}.",
                hint="Lower epsilon or delta of the requirement to what is left; "
                "a spent budget cannot be given back.",
            )
        charge = {"note": note, "epsilon": cost.epsilon, "delta": cost.delta}
        return Balance(self.budget, self.relation, (*self.charges, charge))

    def _left(self) -> str:
        epsilon = max(self.budget.epsilon - self.spent.epsilon, 0.0)
        delta = max(self.budget.delta - self.spent.delta, 0.0)
        return f"epsilon {epsilon:.6g}, delta {delta:.3g}"


@dataclass(frozen=True)
class Account:
    """A ledger file that several releases share."""

    path: Path
    budget: Cost | None = None
    """The budget of a new file; of an existing one it must be the same."""

    def charge(self, cost: Cost, *, relation: Relation, note: str) -> Balance:
        """Charge a release, or refuse it and leave the file as it was."""
        with self._locked():
            balance = self._read(relation)
            if balance.relation is not relation:
                raise RefusedError(
                    f"The ledger counts {balance.relation} neighbors; this release "
                    f"claims something about {relation} neighbors.",
                    hint="Keep one ledger per relation, or change the sampling.",
                )
            after = balance.after(cost, note)
            self._write(after)
            return after

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock that every charge to this file waits for."""
        beside = self.path.with_name(f".{self.path.name}.lock")
        try:
            handle = os.open(beside, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as fault:
            raise self._unwritable(fault) from fault
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def _read(self, relation: Relation) -> Balance:
        if not self.path.exists():
            return self._fresh(relation)
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
            balance = _balance(found)
        except (OSError, ValueError, KeyError, TypeError) as fault:
            raise PolicyError(
                f"The ledger '{self.path.name}' cannot be read.",
                hint="Restore it from a copy; a ledger made anew forgets what was spent.",
            ) from fault
        if self.budget is not None and self.budget != balance.budget:
            raise PolicyError(
                f"The policy gives the ledger epsilon {self.budget.epsilon:g}, delta "
                f"{self.budget.delta:g}; the file has epsilon "
                f"{balance.budget.epsilon:g}, delta {balance.budget.delta:g}.",
                hint="Make both say the same; who raises a budget should say why.",
            )
        return balance

    def _fresh(self, relation: Relation) -> Balance:
        if self.budget is None:
            raise PolicyError(
                f"The ledger '{self.path.name}' does not exist, and the policy gives "
                "no budget to begin it with.",
                hint="Add privacy.epsilon (and privacy.delta): the budget of all "
                "releases together.",
            )
        return Balance(self.budget, relation)

    def _write(self, balance: Balance) -> None:
        """Replace the file at once: a crash leaves the old one or the new one."""
        aside = self.path.with_name(f".{self.path.name}.{secrets.token_hex(6)}")
        record = {
            "layout": LAYOUT,
            "epsilon": balance.budget.epsilon,
            "delta": balance.budget.delta,
            "relation": str(balance.relation),
            "charges": list(balance.charges),
        }
        try:
            with aside.open("x", encoding="utf-8") as file:
                file.write(json.dumps(record, indent=2) + "\n")
                file.flush()
                os.fsync(file.fileno())
            os.replace(aside, self.path)
        except OSError as fault:
            aside.unlink(missing_ok=True)
            raise self._unwritable(fault) from fault

    def _unwritable(self, fault: OSError) -> OutputError:
        return OutputError(
            f"The ledger '{self.path.name}' cannot be written: "
            f"{fault.strerror or 'unknown reason'}.",
            hint="A release that cannot be charged is not made.",
        )


def _balance(record: dict[str, Any]) -> Balance:
    if record["layout"] != LAYOUT:
        raise ValueError("another layout")
    charges = tuple(
        {
            "note": str(charge["note"]),
            "epsilon": float(charge["epsilon"]),
            "delta": float(charge["delta"]),
        }
        for charge in record["charges"]
    )
    budget = Cost(float(record["epsilon"]), float(record["delta"]))
    return Balance(budget, Relation(record["relation"]), charges)
