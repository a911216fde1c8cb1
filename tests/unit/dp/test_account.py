"""A ledger file across releases: locked, charged first, never overdrawn."""

from __future__ import annotations

import json
import threading

import pytest

from sfumato.dp.account import Account
from sfumato.dp.cost import Cost, Relation
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
