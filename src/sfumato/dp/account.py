"""The account across releases: a file that is locked, charged first, and never overdrawn.

The full claim of a release is charged before its data is touched. It stays charged if
the run fails afterwards, because somebody may have seen how it failed.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sfumato.data.json_records import parse
from sfumato.data.unfinished_files import UNFINISHED
from sfumato.dp.cost import NOTHING, Cost, Relation, Unit, sequential
from sfumato.errors import BudgetError, OutputError, PolicyError, RefusedError

LAYOUT = 1


@dataclass(frozen=True)
class Balance:
    """What an account allows in all, and what has been charged to it."""

    budget: Cost
    relation: Relation
    unit: Unit = Unit.ROW
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
        return replace(self, charges=(*self.charges, charge))

    @property
    def left(self) -> Cost:
        """What further releases may cost."""
        epsilon = max(self.budget.epsilon - self.spent.epsilon, 0.0)
        return Cost(epsilon, max(self.budget.delta - self.spent.delta, 0.0))

    def _left(self) -> str:
        return f"epsilon {self.left.epsilon:.6g}, delta {self.left.delta:.3g}"


@dataclass(frozen=True)
class Account:
    """A ledger file that several releases share."""

    path: Path
    budget: Cost | None = None
    """The budget of a new file; of an existing one it must be the same."""

    def charge(
        self, cost: Cost, *, relation: Relation, note: str, unit: Unit = Unit.ROW
    ) -> Balance:
        """Charge a release, or refuse it and leave the file as it was."""
        # Every name of the file must lead to the same lock and the same total.
        place = Path(os.path.realpath(self.path))
        with self._locked(place):
            balance = self._read(place, Balance(self.budget or NOTHING, relation, unit))
            _refuse_mixture(balance, relation, unit)
            after = balance.after(cost, note)
            self._write(place, after)
            return after

    def balance(self, *, relation: Relation, unit: Unit = Unit.ROW) -> Balance:
        """Read what is left, without a charge and without a change of any file."""
        place = Path(os.path.realpath(self.path))
        balance = self._read(place, Balance(self.budget or NOTHING, relation, unit))
        _refuse_mixture(balance, relation, unit)
        return balance

    @contextmanager
    def _locked(self, place: Path) -> Iterator[None]:
        """Hold the lock that every charge to this file waits for."""
        beside = place.with_name(f".{place.name}.lock")
        try:
            handle = os.open(beside, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as fault:
            raise self._unwritable(fault) from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def _read(self, place: Path, fresh: Balance) -> Balance:
        if not place.exists():
            return self._begun(fresh)
        if (names := place.stat().st_nlink) > 1:
            raise PolicyError(
                f"The ledger '{self.path.name}' has {names} names (hard links); a charge "
                "under one of them would not reach the others.",
                hint="Remove the other names.",
            )
        try:
            found = parse(place.read_text(encoding="utf-8"))
            balance = _balance(found)
        except (OSError, ValueError, KeyError, TypeError, PolicyError):
            raise PolicyError(
                f"The ledger '{self.path.name}' cannot be read.",
                hint="Restore it from a copy; a new ledger would not know what was spent.",
            ) from None
        if self.budget is not None and self.budget != balance.budget:
            raise PolicyError(
                f"The policy gives the ledger epsilon {self.budget.epsilon:g}, delta "
                f"{self.budget.delta:g}; the file has epsilon "
                f"{balance.budget.epsilon:g}, delta {balance.budget.delta:g}.",
                hint="Make both agree. If you raise a budget, document why.",
            )
        return balance

    def _begun(self, fresh: Balance) -> Balance:
        if self.budget is None:
            raise PolicyError(
                f"The ledger '{self.path.name}' does not exist, and the policy gives no "
                "budget to start it with.",
                hint="Add privacy.epsilon (and privacy.delta): the budget of all "
                "releases together.",
            )
        return fresh

    def _write(self, place: Path, balance: Balance) -> None:
        """Replace the file atomically: a crash leaves the old one or the new one."""
        aside = place.with_name(f".{place.name}.{secrets.token_hex(6)}")
        record = {
            "layout": LAYOUT,
            "epsilon": balance.budget.epsilon,
            "delta": balance.budget.delta,
            "relation": str(balance.relation),
            "unit": str(balance.unit),
            "charges": list(balance.charges),
        }
        try:
            with UNFINISHED.holding(aside):
                with aside.open("x", encoding="utf-8") as file:
                    file.write(json.dumps(record, indent=2) + "\n")
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(aside, place)
            _keep_names(place.parent)
        except OSError as fault:
            aside.unlink(missing_ok=True)
            raise self._unwritable(fault) from None

    def _unwritable(self, fault: OSError) -> OutputError:
        return OutputError(
            f"The ledger '{self.path.name}' cannot be written: "
            f"{fault.strerror or 'unknown reason'}.",
            hint="A release that cannot be charged is not made.",
        )


def _refuse_mixture(balance: Balance, relation: Relation, unit: Unit) -> None:
    if balance.relation is not relation:
        raise RefusedError(
            f"The ledger counts {balance.relation} neighbors; this release "
            f"claims something about {relation} neighbors.",
            hint="Keep one ledger per relation, or change the sampling.",
        )
    if balance.unit is not unit:
        raise RefusedError(
            f"The ledger counts neighbors that differ in one {balance.unit}; this "
            f"release claims something about those that differ in one {unit}.",
            hint="Declare the subject column in every policy of a ledger, or in none.",
        )


def _keep_names(directory: Path) -> None:
    """Sync the directory to disk: a charge must survive a power loss."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _balance(record: dict[str, Any]) -> Balance:
    if record["layout"] != LAYOUT:
        raise ValueError("another layout")
    charges: tuple[dict[str, Any], ...] = tuple(
        {
            "note": str(charge["note"]),
            "epsilon": float(charge["epsilon"]),
            "delta": float(charge["delta"]),
        }
        for charge in record["charges"]
    )
    budget = Cost(float(record["epsilon"]), float(record["delta"]))
    unit = Unit(record["unit"])
    for charge in charges:
        Cost(charge["epsilon"], charge["delta"])  # Refuses what no release can cost.
    return Balance(budget, Relation(record["relation"]), unit, charges)
