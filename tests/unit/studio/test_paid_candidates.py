"""Candidates of a process model cost a budget: told, confirmed, charged once, released."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal

import pytest

from sfumato.dp.account import Account
from sfumato.dp.cost import Cost, Relation
from sfumato.studio.background_task import TaskState
from sfumato.studio.paid_comparison import begin, settle
from tests.private_comparison import PRIVATE_POLICY
from tests.running_studio import RunningStudio, confirm_roles, running_studio

LEDGER = "ledger.json"
STRAY = 111
"""An age outside the declared domain."""
POLICY = f"""
version = 1
[data]
path = "ages.csv"
{PRIVATE_POLICY}"""


def ask_for_privacy(studio: RunningStudio) -> None:
    """Two candidates for differential privacy of a small table."""
    rows = "".join(f"{age % 90}\n" for age in range(400))
    studio.upload("ages.csv", f"age\n{rows}{STRAY}\n".encode())
    studio.space.history.write(POLICY, what="test")
    confirm_roles(studio)


@pytest.fixture(scope="module")
def paid(tmp_path_factory):
    """Two candidates that were paid for, the second one released."""
    with running_studio(tmp_path_factory.mktemp("studio") / "home") as studio:
        studio.enter()
        ask_for_privacy(studio)
        studio.send("/compare/run", spend="yes")
        studio.wait()
        studio.send("/compare/choose", number=2)
        studio.wait()
        studio.send("/release/sign", approver="Ada Example")
        studio.wait()
        yield studio


def charged(studio: RunningStudio) -> list[float]:
    """The cost of every charge in the ledger."""
    ledger = json.loads((studio.root / LEDGER).read_text("utf-8"))
    return [each["epsilon"] for each in ledger["charges"]]


def test_without_confirmation_nothing_is_charged(studio):
    ask_for_privacy(studio)
    assert "Charge ε 1.5, δ 2e-06" in studio.ask("/compare").text
    answer = studio.send("/compare/run")
    assert answer.status == 409
    assert "nothing was charged" in answer.text
    assert not (studio.root / LEDGER).exists()


def test_the_protection_step_compares_the_cost_with_the_ledger(studio):
    ask_for_privacy(studio)
    text = studio.ask("/protection").text
    assert "The ledger can pay for it." in text
    assert "tightest" not in text
    studio.send("/protection/save", place=0, **{"set-epsilon": "9.5"})
    text = studio.ask("/protection").text
    assert "A release costs epsilon 9.5" in text
    left = re.search(r"the ledger has epsilon ([0-9.]+), delta", text)
    assert left is not None
    assert f"Use epsilon = {left[1]}, the nearest feasible value" in text


def test_each_candidate_is_charged_once_and_its_release_costs_no_more(paid):
    assert charged(paid) == [0.5, 1.0]


def test_the_steward_alone_sees_how_many_cells_were_outside_their_domain(paid):
    text = paid.ask("/release").text
    assert "Cells outside what the policy declares count as missing: age 1." in text
    for file in (paid.root / "release").glob("*.*"):
        assert "count as missing" not in file.read_text("utf-8")


def test_the_paid_candidate_is_released_and_certified_by_the_ledger(paid):
    text = paid.ask("/release").text
    assert "Certified by the ledger of its making" in text
    manifest = json.loads((paid.root / "release" / "manifest.json").read_text("utf-8"))
    assert manifest["requirements"][0]["model"] == "differential-privacy"
    made = paid.root / "candidates" / "2" / "data.csv"
    assert (paid.root / "release" / "data.csv").read_bytes() == made.read_bytes()


def test_a_paid_candidate_is_not_compared_with_the_source(paid):
    text = paid.ask("/compare?candidate=2&show=records").text
    assert "not compared with the source" in text


def test_a_candidate_that_is_gone_is_not_paid_for_again(paid):
    shutil.rmtree(paid.root / "candidates" / "1")
    answer = paid.send("/compare/make", number=1)
    assert answer.status == 409
    assert "would charge the ledger again" in answer.text
    assert charged(paid) == [0.5, 1.0]


def test_what_was_paid_and_what_is_left_is_told(paid):
    text = paid.ask("/compare").text
    assert (
        "2 candidates charged to the ledger: ε 1.5, δ 2e-06; 2 finished and kept."
        in text
    )
    assert "The ledger has ε 1.5, δ 0.01 left of ε 3, δ 0.01." in text


def kill_after_a_charge(studio: RunningStudio) -> list[float]:
    """Kill the process of a comparison once a candidate was charged."""
    task = studio.space.tasks.current
    while not (studio.root / LEDGER).exists():
        assert task.running
        studio.ask("/task")
    os.kill(task.process_id, signal.SIGKILL)
    assert task.ended.wait(60)
    assert task.state is TaskState.LOST
    return charged(studio)


def test_a_paid_comparison_that_was_killed_tells_what_was_charged_and_is_left(studio):
    ask_for_privacy(studio)
    studio.send("/compare/run", spend="yes")
    spent = kill_after_a_charge(studio)
    text = studio.ask("/compare").text
    assert "The last comparison did not finish, and its candidates are gone." in text
    some = "1 of its candidates was" if len(spent) == 1 else "2 of its candidates were"
    assert f"{some} charged to the ledger before: ε {sum(spent):g}," in text
    assert f"The ledger has ε {3 - sum(spent):g}," in text


def test_what_a_killed_comparison_cost_is_told_after_a_restart(studio, tmp_path):
    ask_for_privacy(studio)
    studio.send("/compare/run", spend="yes")
    spent = kill_after_a_charge(studio)
    home = tmp_path / "again"
    shutil.copytree(studio.root.parent, home)
    with running_studio(home) as again:
        again.enter()
        assert f"ledger before: ε {sum(spent):g}," in again.ask("/compare").text
        again.space.history.edit(
            {"compare.set": {"require.0.epsilon": [0.25]}}, what=""
        )
        again.send("/compare/run", spend="yes")
        again.wait()
        text = again.ask("/compare").text
        assert "did not finish" not in text
        assert "1 candidate charged to the ledger: ε 0.25," in text


def test_a_candidate_that_was_charged_and_canceled_is_told(studio):
    """A canceled candidate gave no release, and its charge stays."""
    ask_for_privacy(studio)
    begin(studio.space.require_policy(), studio.space)
    account = Account(studio.root / LEDGER, Cost(3.0, 0.01))
    account.charge(Cost(0.5), relation=Relation.ADD_REMOVE, note="safepub")
    states = [{"status": "not run"}, {"status": "not run"}]
    paid = settle(studio.space, {"candidates": states})
    assert paid == {
        "charges": 1,
        "epsilon": 0.5,
        "delta": 0.0,
        "left": {"epsilon": 2.5, "delta": 0.01},
        "kept": 0,
    }
    assert studio.space.folder.read_note("paid") == {}
