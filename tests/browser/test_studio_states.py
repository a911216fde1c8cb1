"""Every state of the studio that is no plain step: readable, and it fits."""

from __future__ import annotations

import pytest

from sfumato.dp.account import Account
from sfumato.dp.cost import Cost, Relation
from sfumato.studio import data_step
from sfumato.studio.paid_comparison import begin
from tests.browser.studio_pages import fit_for_everybody, go, window
from tests.private_comparison import PRIVATE_POLICY
from tests.running_studio import RunningStudio, confirm_roles, running_studio

FAULTS = {
    "a policy that is no TOML": ("", "/data", "is not TOML"),
    "a file that is gone": ("data.path=gone.csv", "/data", "There is no file"),
    "a kind that does not fit": (
        "columns.sex.kind=integer",
        "/hierarchies?column=sex",
        "Change the kind of the column",
    ),
    "values that nothing covers": (
        "columns.sex.hierarchy=few.csv",
        "/hierarchies?column=sex",
        "Put them under",
    ),
    "a column that is gone": (
        "columns.nowhere.role=quasi",
        "/columns",
        "Take them out of the policy",
    ),
    "no quasi-identifier": ("*", "/columns", "No column is a quasi-identifier"),
    "steps without one": ("*", "/hierarchies", "Name a quasi-identifier first."),
    "nothing required": ("require", "/protection", "Nothing is required yet"),
    "nothing to compare": ("require", "/compare", "Require something first."),
    "a path that leads out": ("data.path=../x.csv", "/columns", "leads out of"),
    "columns not confirmed": ("data.missing_as=any", "/release", "Confirm the roles"),
    "no candidate": ("data.missing_as=any", "/attacks", "Choose a candidate first."),
}
ONE_COMPARED = {"algorithm": ["mondrian"], "key-0": "require.0.k", "values-0": "5, 10"}


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """One studio on the embedded example."""
    with running_studio(tmp_path_factory.mktemp("studio") / "home") as studio:
        studio.enter()
        studio.send("/data/example")
        (studio.root / "few.csv").write_text("F;*\n")
        yield studio


def changed(studio: RunningStudio, setting: str) -> str:
    """The policy of the example as an editor might have changed it."""
    policy = studio.space.require_policy()
    if not setting:
        return "version = "
    if setting == "*":
        return policy.edited({f"columns.{n}.role": "sensitive" for n in quasi(studio)})
    key, _, value = setting.partition("=")
    return policy.edited({key: value or None})


def quasi(studio: RunningStudio) -> list[str]:
    return list(studio.space.require_policy().names("quasi"))


@pytest.mark.parametrize("state", FAULTS)
def test_a_policy_with_a_fault_is_told_to_everybody(browser, example, state):
    setting, path, text = FAULTS[state]
    before = example.space.read_text()
    place = example.space.folder.policy
    place.write_text(changed(example, setting), encoding="utf-8")
    with window(browser, example) as opened:
        go(opened, example, path)
        assert text in opened.page.inner_text("main")
        fit_for_everybody(browser, opened)
    place.write_text(before, encoding="utf-8")


def test_a_task_that_failed_is_told_to_everybody(browser, example):
    example.upload("broken.parquet", b"no parquet at all")
    example.send("/data/choose", file="broken.parquet")
    example.wait()
    with window(browser, example) as opened:
        go(opened, example, "/data")
        assert "Looking at the data: failed." in opened.page.inner_text("main")
        fit_for_everybody(browser, opened)
    example.send("/task/dismiss")
    example.send("/data/delete", file="broken.parquet")


def test_an_error_that_nobody_expected_is_told_to_everybody(
    browser, example, monkeypatch
):
    monkeypatch.setattr(data_step, "_preview", None)
    with window(browser, example) as opened:
        go(opened, example, "/data")
        assert "An unexpected error" in opened.page.inner_text("main")
        fit_for_everybody(browser, opened)
        monkeypatch.undo()
        opened.page.click("text=Undo the last change")
        assert "Something went wrong" not in opened.page.inner_text("main")


def test_a_comparison_that_is_of_no_use_is_told_to_everybody(browser, tmp_path):
    """Canceled, of another file, and with no candidate that is accepted."""
    with running_studio(tmp_path / "home") as studio, window(browser, studio) as opened:
        studio.send("/data/example")
        confirm_roles(studio)
        limit = {"accept-prosecutor_max": "0.01", "values-0": "5, 5000"}
        studio.send("/compare/save", **{**ONE_COMPARED, **limit})
        studio.send("/compare/run")
        studio.wait()
        record = studio.space.folder.read_note("comparison")
        told = {**record, "stopped": True, "mark": "another"}
        studio.space.folder.write_note("comparison", told)
        for path in ("/compare", "/compare?candidate=1", "/compare?candidate=2"):
            go(opened, studio, path)
            text = opened.page.inner_text("main")
            assert "is accepted: prosecutor_max at most" in text
            assert "It was canceled" in text
            assert "changed since this comparison" in text
            fit_for_everybody(browser, opened)


def test_a_paid_comparison_that_was_lost_is_told_to_everybody(browser, tmp_path):
    with running_studio(tmp_path / "home") as studio, window(browser, studio) as opened:
        rows = "".join(f"{age % 90}\n" for age in range(400))
        studio.upload("ages.csv", f"age\n{rows}".encode())
        text = f'version = 1\n[data]\npath = "ages.csv"\n{PRIVATE_POLICY}'
        studio.space.history.write(text, what="test")
        begin(studio.space.require_policy(), studio.space)
        account = Account(studio.root / "ledger.json", Cost(3.0, 0.01))
        account.charge(Cost(0.5), relation=Relation.ADD_REMOVE, note="safepub")
        for path in ("/protection", "/compare"):
            go(opened, studio, path)
            fit_for_everybody(browser, opened)
        told = opened.page.inner_text("main")
        assert "1 of its candidates was charged to the ledger before: ε 0.5" in told
