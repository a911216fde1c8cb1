"""Candidates of a process model cost a budget: told, confirmed, charged once, released."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.private_comparison import PRIVATE_POLICY
from tests.running_studio import RunningStudio, confirm_roles, running_studio

LEDGER = "ledger.json"
POLICY = f"""
version = 1
[data]
path = "ages.csv"
{PRIVATE_POLICY}"""


def ask_for_privacy(studio: RunningStudio) -> None:
    """Two candidates for differential privacy of a small table."""
    rows = "".join(f"{age % 90}\n" for age in range(400))
    studio.upload("ages.csv", f"age\n{rows}".encode())
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


def test_each_candidate_is_charged_once_and_its_release_costs_no_more(paid):
    assert charged(paid) == [0.5, 1.0]


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
