"""A ledger file across releases: locked, charged first, never overdrawn."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading

import pytest

from sfumato.dp.account import Account
from sfumato.dp.cost import Cost, Relation, Unit
from sfumato.errors import BudgetError, OutputError, PolicyError, RefusedError

ADD_REMOVE = Relation.ADD_REMOVE


@pytest.fixture
def account(tmp_path) -> Account:
    return Account(tmp_path / "ledger.json", Cost(1.0, 1e-5))


def charge(account: Account, epsilon: float, delta: float = 0.0):
    return account.charge(Cost(epsilon, delta), relation=ADD_REMOVE, note="a release")


def test_a_new_file_begins_with_the_budget_of_the_policy(account):
    charge(account, 0.25, 1e-6)
    assert json.loads(account.path.read_text()) == {
        "layout": 1,
        "epsilon": 1.0,
        "delta": 1e-5,
        "relation": "add-remove",
        "unit": "row",
        "charges": [{"note": "a release", "epsilon": 0.25, "delta": 1e-6}],
    }


def test_charges_add_up_over_releases(account):
    charge(account, 0.25)
    assert charge(account, 0.5).spent == Cost(0.75)


def test_a_spent_ledger_refuses_and_stays_as_it_was(account):
    charge(account, 0.75)
    before = account.path.read_bytes()
    with pytest.raises(BudgetError, match=r"costs epsilon 0\.5.* has epsilon 0\.25"):
        charge(account, 0.5)
    assert account.path.read_bytes() == before


def test_a_spent_delta_refuses_too(account):
    with pytest.raises(BudgetError, match=r"delta 0\.0001"):
        charge(account, 0.1, 1e-4)


def test_another_relation_is_refused(account):
    charge(account, 0.1)
    with pytest.raises(RefusedError, match="counts add-remove neighbors"):
        account.charge(Cost(0.1), relation=Relation.SUBSTITUTION, note="")


def test_rows_and_subjects_are_not_added_up(account):
    """A subject of many rows costs more than one row: the sum would mean neither."""
    charge(account, 0.1)
    with pytest.raises(RefusedError, match=r"differ in one row; .* in one subject"):
        account.charge(Cost(0.1), relation=ADD_REMOVE, note="", unit=Unit.SUBJECT)


def test_a_link_to_the_ledger_is_the_same_ledger(account, tmp_path):
    charge(account, 0.75)
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link.json"
    link.symlink_to(account.path)
    charge(Account(link), 0.25)
    assert link.is_symlink()
    with pytest.raises(BudgetError, match="has epsilon 0"):
        charge(account, 0.25)


def test_a_ledger_with_two_names_is_refused(account, tmp_path):
    charge(account, 0.1)
    (tmp_path / "twin.json").hardlink_to(account.path)
    with pytest.raises(PolicyError, match=r"'ledger\.json' has 2 names"):
        charge(account, 0.1)


@pytest.mark.parametrize("epsilon", ["NaN", "-1", "Infinity"])
def test_a_charge_that_no_release_can_cost_is_damage(account, epsilon):
    charge(account, 0.5)
    text = account.path.read_text().replace('"epsilon": 0.5', f'"epsilon": {epsilon}')
    account.path.write_text(text)
    with pytest.raises(PolicyError, match="cannot be read"):
        charge(account, 0.1)


def test_a_charge_reaches_the_disk_with_its_name(account, monkeypatch):
    """The file before it takes its place, the directory after."""
    kinds = []

    def watched(handle: int) -> None:
        kinds.append(stat.S_ISDIR(os.fstat(handle).st_mode))

    monkeypatch.setattr(os, "fsync", watched)
    charge(account, 0.1)
    assert kinds == [False, True]


def test_processes_at_the_same_time_do_not_overdraw(account):
    """Eight processes on one file; three fit."""
    order = (
        "import sys; from pathlib import Path\n"
        "from sfumato.dp.account import Account\n"
        "from sfumato.dp.cost import Cost, Relation\n"
        "from sfumato.errors import BudgetError\n"
        "account = Account(Path(sys.argv[1]), Cost(1.0, 1e-5))\n"
        "try: account.charge(Cost(0.3), relation=Relation.ADD_REMOVE, note='')\n"
        "except BudgetError: sys.exit(4)\n"
    )
    command = [sys.executable, "-c", order, str(account.path)]
    running = [subprocess.Popen(command) for _ in range(8)]
    assert sorted(process.wait() for process in running) == [0] * 3 + [4] * 5


def test_a_file_that_does_not_exist_needs_a_budget(tmp_path):
    with pytest.raises(PolicyError, match=r"'none\.json' does not exist"):
        charge(Account(tmp_path / "none.json"), 0.1)


def test_a_policy_that_says_another_budget_is_refused(account):
    charge(account, 0.1)
    with pytest.raises(PolicyError, match=r"epsilon 9, .*the file has epsilon 1,"):
        charge(Account(account.path, Cost(9.0)), 0.1)


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"layout": 7}'])
def test_a_damaged_file_is_never_taken_for_an_empty_one(account, text):
    account.path.write_text(text)
    with pytest.raises(PolicyError, match="cannot be read"):
        charge(account, 0.1)


def test_a_place_that_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(OutputError, match=r"'ledger\.json' cannot be written"):
        charge(Account(tmp_path / "no" / "ledger.json", Cost(1.0)), 0.1)


def test_releases_at_the_same_time_do_not_overdraw(account):
    refused = []

    def release() -> None:
        try:
            charge(account, 0.3)
        except BudgetError as error:
            refused.append(error)

    threads = [threading.Thread(target=release) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 5
    assert len(json.loads(account.path.read_text())["charges"]) == 3
