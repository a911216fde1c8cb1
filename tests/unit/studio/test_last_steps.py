"""Steps 5 to 7 on the embedded example: compare, attack, release; and every way to end."""

from __future__ import annotations

import json
import os
import signal

import pytest

from sfumato.policy import Policy
from sfumato.studio.background_task import TaskState
from tests.running_studio import confirm_roles, running_studio

FEW = {
    "algorithm": ["mondrian"],
    "key-0": "require.0.k",
    "values-0": "5, 10, 5000",
    "accept-prosecutor_max": "0.15",
}
PERSON = {"person-1": "F", "person-2": "04103"}


@pytest.fixture(scope="module")
def walked(tmp_path_factory):
    """The example from the first step to a release."""
    home = tmp_path_factory.mktemp("studio") / "home"
    with running_studio(home) as studio:
        studio.enter()
        studio.send("/data/example")
        confirm_roles(studio)
        studio.send("/compare/save", **FEW)
        studio.send("/compare/run")
        studio.wait()
        studio.send("/compare/choose", number=2)
        studio.wait()
        studio.send("/attacks/run", known=["sex"], sample=20, attack=["linkage"])
        studio.wait()
        studio.send("/attacks/lookup", **PERSON)
        studio.wait()
        studio.send("/release/sign", approver="Ada Example", note="for the test")
        studio.wait()
        yield studio


def test_the_front_has_a_link_for_every_candidate_with_figures(walked):
    text = walked.ask("/compare").text
    assert 'href="/compare?candidate=1"' in text
    assert 'class="shade"' in text
    assert "needs groups of at least 5,000" in text


def test_a_candidate_shows_losses_groups_and_records_that_are_hidden(walked):
    text = walked.ask("/compare?candidate=2").text
    assert "Loss per column" in text
    assert "•••" in text
    shown = walked.ask("/compare?candidate=2&show=records").text
    assert "•••" not in shown
    assert '<span class="before">' in shown


def test_a_candidate_that_was_not_made_shows_its_losses_and_groups_too(walked):
    text = walked.ask("/compare?candidate=1").text
    assert "Loss per column" in text
    assert "rows in a group" in text
    assert "Look at its records" in text


def test_choosing_a_candidate_is_an_edit_of_the_policy(walked):
    policy = Policy.load(walked.root / "policy.toml")
    assert policy.algorithm.name == "mondrian"
    assert policy.require[0].settings["k"] == 10


def test_attacks_are_shown_with_baseline_and_interval(walked):
    text = walked.ask("/attacks").text
    # Nothing is promised about an attacker who knows other columns.
    assert "No promise bounds these attacks." in text
    assert "baseline" in text
    assert "95% interval" in text


def test_a_person_is_looked_up_and_not_written_down(walked):
    assert "published rows may be the person" in walked.ask("/attacks").text
    notes = [p.read_text("utf-8") for p in walked.space.folder.notes.glob("*.json")]
    assert not any("04103" in text for text in notes)


def test_the_release_is_proven_signed_and_has_its_report(walked):
    text = walked.ask("/release").text
    assert "Proven again from the written file" in text
    assert "Approved by <strong>Ada Example</strong>" in text
    report = (walked.root / "release" / "report.html").read_text("utf-8")
    assert "Ada Example" in report
    manifest = json.loads((walked.root / "release" / "manifest.json").read_text())
    assert all(each["holds"] for each in manifest["requirements"])


def test_the_release_step_tells_what_exact_columns_give_away(walked):
    path = walked.space.folder.notes / "released.json"
    note = json.loads(path.read_text("utf-8"))
    assert note["exact"] is None
    assert note["warnings"] == []  # costs are in bands
    told = {"exact": "9% of rows are unique by 'ward'", "warnings": ["'ward' is rare"]}
    path.write_text(json.dumps(note | told), "utf-8")
    text = walked.ask("/release").text
    assert "<p>9% of rows are unique by &#39;ward&#39;</p>" in text
    assert "Warning:</strong> &#39;ward&#39; is rare" in text


def test_the_release_names_what_its_requirements_count(walked):
    assert "requirements count rows." in walked.ask("/release").text


def test_publishable_files_are_served_and_the_private_part_is_not(walked):
    got = walked.ask("/release/file?name=data.csv")
    assert got.text == (walked.root / "release" / "data.csv").read_text("utf-8")
    assert got.headers["content-disposition"].startswith("attachment")
    for name in ("private/audit.json", "private", "../policy.toml", ".", ""):
        assert walked.ask(f"/release/file?name={name}").status == 422
    text = walked.ask("/release").text
    assert "/release/private/" in text
    assert "never served" in text


def test_the_report_is_shown_without_any_script(walked):
    rules = walked.ask("/release/file?name=report.html&show=1").headers
    assert "sandbox" in rules["content-security-policy"]


def test_everything_the_studio_wrote_is_its_owners(walked):
    notes = [p for p in walked.space.folder.notes.rglob("*") if p.is_file()]
    private = [p for p in walked.root.rglob("private/*") if p.is_file()]
    assert {p.stat().st_mode & 0o777 for p in [*notes, *private]} == {0o600}
    assert walked.root.stat().st_mode & 0o777 == 0o700


def test_no_step_is_blocked_at_the_end_and_all_seven_are_done(walked):
    text = walked.ask("/release").text
    assert text.count('<li class="done">') == 7


def test_a_changed_policy_blocks_the_release_until_it_is_compared_again(example):
    confirm_roles(example)
    example.space.folder.write_note(
        "chosen", {"number": 1, "name": "mondrian", "mark": "of another policy"}
    )
    text = example.ask("/release").text
    assert "The policy changed since the candidate was chosen." in text
    assert example.send("/release/sign", approver="Ada").status == 409
    assert not (example.root / "release").exists()


def test_without_confirmed_columns_nothing_is_released(example):
    assert "Confirm the roles of the columns first." in example.ask("/release").text
    answer = example.send("/release/sign", approver="Ada")
    assert answer.status == 409
    assert not (example.root / "release").exists()


def test_a_canceled_comparison_keeps_what_is_finished(example):
    example.send("/compare/save", **{**FEW, "algorithm": ["mondrian", "k-member"]})
    example.send("/compare/run")
    task = example.space.tasks.current
    example.send("/task/cancel", back="compare")
    assert task.ended.wait(60)
    assert task.state in (TaskState.DONE, TaskState.CANCELED)
    text = example.ask("/compare").text
    assert "canceled" in text


def test_a_killed_worker_is_told_and_can_be_started_again(example):
    example.send("/compare/save", **FEW)
    example.send("/compare/run")
    task = example.space.tasks.current
    os.kill(task.process_id, signal.SIGKILL)
    assert task.ended.wait(60)
    assert task.state is TaskState.LOST
    text = example.ask("/compare").text
    assert "The worker process ended with -9" in text
    assert example.send("/task/dismiss", back="compare").status == 303
    assert "ended with -9" not in example.ask("/compare").text


def test_a_second_task_is_refused_while_one_runs(example):
    example.send("/compare/run")
    answer = example.send("/compare/run")
    assert answer.status == 409
    example.space.tasks.end()


def test_a_task_ends_with_the_studio(tmp_path):
    with running_studio(tmp_path / "home") as studio:
        studio.enter()
        studio.send("/data/example")
        studio.send("/compare/run")
        task = studio.space.tasks.current
    assert task.ended.wait(60)
    assert not task.running


def test_where_no_candidate_is_accepted_the_nearest_and_its_limit_are_told(example):
    limits = {"accept-prosecutor_max": "0.01", "values-0": "5, 10"}
    example.send("/compare/save", **{**FEW, **limits})
    example.send("/compare/run")
    example.wait()
    text = example.ask("/compare").text
    assert "None of 2 candidates is accepted" in text
    assert "Nearest is candidate 2 (mondrian, k = 10)" in text
    assert "prosecutor_max is 10.0%, at most 1.00% is accepted" in text


def test_a_comparison_of_an_older_file_is_told(walked):
    assert "changed since this comparison" not in walked.ask("/compare").text
    source = walked.root / "source.csv"
    before = source.stat()
    os.utime(source, ns=(1, 1))
    assert "changed since this comparison" in walked.ask("/compare").text
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert "changed since this comparison" not in walked.ask("/compare").text


WEAKER = {
    "algorithm": ["mondrian"],
    "key-0": "require.0.k",
    "values-0": "2, 5, 10, 25",
}
ANSWER = {"weaker": "yes", "by": "Ada Example", "because": "the board agreed"}


@pytest.fixture(scope="module")
def lowered(tmp_path_factory):
    """The example with a comparison of candidates below its k = 5, too."""
    home = tmp_path_factory.mktemp("studio") / "home"
    with running_studio(home) as studio:
        studio.enter()
        studio.send("/data/example")
        confirm_roles(studio)
        studio.send("/compare/save", **WEAKER)
        studio.send("/compare/run", weaker="yes")
        studio.wait()
        yield studio


def test_candidates_below_the_policy_are_tried_only_if_they_are_asked_for(example):
    example.send("/compare/save", **WEAKER)
    text = example.ask("/compare").text
    assert "3 candidates</h2>" in text
    assert "below the policy, too (k = 2 instead of 5)" in text
    example.send("/compare/run")
    example.wait()
    record = example.space.folder.read_note("comparison")
    sizes = [e["settings"]["require.0.k"] for e in record["candidates"]]
    assert sizes == [5, 10, 25]


def test_a_candidate_below_the_policy_is_shaded_and_named(lowered):
    text = lowered.ask("/compare").text
    assert text.count("below the policy: k = 2 instead of 5") >= 2
    assert 'class="point k0 weaker"' in text
    assert '<tr class="weaker">' in text


def test_a_candidate_below_the_policy_is_not_chosen_without_an_answer(lowered):
    before = (lowered.root / "policy.toml").read_text("utf-8")
    page = lowered.ask("/compare?candidate=1").text
    assert "Go on with this weaker candidate" in page
    assert "Go on with this candidate" not in page
    for sent in ({}, {**ANSWER, "by": " "}, {**ANSWER, "weaker": ""}):
        answer = lowered.send("/compare/choose", number=1, **sent)
        assert answer.status == 409
        assert "below the policy: k = 2 instead of 5" in answer.text
    assert (lowered.root / "policy.toml").read_text("utf-8") == before


def test_the_report_keeps_what_was_asked_who_lowered_it_and_why(lowered):
    lowered.send("/compare/choose", number=1, **ANSWER)
    lowered.wait()
    text = (lowered.root / "policy.toml").read_text("utf-8")
    assert "stands out from 4 others" not in text
    assert "k = 2 " in text
    event = lowered.space.history.lowered()[0]
    words = (
        f"asked: 5; lowered to 2 by Ada Example on {event['date']} because the board"
    )
    assert words in lowered.ask("/release").text
    lowered.send("/release/sign", approver="Ada Example")
    lowered.wait()
    for name in ("report.html", "private/report.html"):
        assert words in (lowered.root / "release" / name).read_text("utf-8")
    manifest = json.loads((lowered.root / "release" / "manifest.json").read_text())
    assert manifest["lowered"] == [event]


def test_another_candidate_is_still_judged_by_what_was_asked(lowered):
    lowered.send("/compare/choose", number=1, **ANSWER)
    lowered.wait()
    assert "weaker candidate" in lowered.ask("/compare?candidate=1").text
    assert "weaker candidate" not in lowered.ask("/compare?candidate=2").text
    lowered.send("/compare/choose", number=2)
    lowered.wait()
    assert lowered.space.history.lowered() == []


def test_a_policy_that_was_raised_since_is_the_floor(lowered):
    lowered.send("/compare/choose", number=2)
    lowered.wait()
    lowered.space.history.edit({"require.0.k": 7}, what="k raised")
    assert lowered.send("/compare/choose", number=2).status == 409
    assert "k = 5 instead of 7" in lowered.ask("/compare?candidate=2").text
    lowered.space.history.undo()


def test_operators_are_compared_and_no_longer(example):
    chosen = ["generalize", "suppress"]
    assert example.send("/compare/save", operator=chosen).status == 303
    assert list(example.space.require_policy().compare.operators) == chosen
    assert example.ask("/compare").text.count(" checked") == 2
    assert example.send("/compare/save", operator=["none such"]).status == 422
    assert example.send("/compare/save").status == 303
    assert example.space.require_policy().compare.operators == ()
