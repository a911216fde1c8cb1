"""The policy is saved at once, goes back and forth, and knows other writers."""

from __future__ import annotations

import pytest

from sfumato.errors import PolicyError, RefusedError, UsageError
from sfumato.studio.policy_history import PolicyHistory
from sfumato.studio.project_folder import ProjectFolder

ONE = 'version = 1\n[columns.age]\nrole = "quasi"  # known to neighbors\n'


@pytest.fixture
def history(tmp_path):
    return PolicyHistory(ProjectFolder.made(tmp_path / "project"))


def test_a_new_project_has_no_policy(history):
    assert history.text() is None
    assert history.revision() == ""
    assert not history.can_undo
    assert not history.can_redo


def test_an_edit_keeps_comments_and_names_itself(history):
    history.write(ONE, what="first")
    history.edit({"columns.age.kind": "integer"}, what="kind of age")
    assert "known to neighbors" in history.text()
    assert history.can_undo == "kind of age"


def test_undo_and_redo_go_through_every_state(history):
    texts = [ONE, ONE + "# two\n", ONE + "# three\n"]
    for number, text in enumerate(texts):
        history.write(text, what=f"change {number}")
    history.undo()
    history.undo()
    assert history.text() == texts[0]
    history.redo()
    assert history.text() == texts[1]
    assert history.can_redo == "change 2"


def test_a_change_after_undo_forgets_what_was_undone(history):
    for text in (ONE, ONE + "# two\n"):
        history.write(text, what="change")
    history.undo()
    history.write(ONE + "# other\n", what="other")
    assert not history.can_redo
    history.undo()
    assert history.text() == ONE


def test_the_first_state_cannot_be_undone(history):
    history.write(ONE, what="first")
    with pytest.raises(UsageError, match="There is nothing to undo"):
        history.undo()


def test_a_page_of_an_older_state_changes_nothing(history):
    history.write(ONE, what="first")
    seen = history.revision()
    history.write(ONE + "# two\n", what="second")
    with pytest.raises(RefusedError, match="changed in another tab"):
        history.write(ONE + "# three\n", what="third", revision=seen)
    assert history.text() == ONE + "# two\n"


def test_what_an_editor_wrote_can_be_undone(history):
    history.write(ONE, what="first")
    history.folder.policy.write_text(ONE + "# by hand\n", encoding="utf-8")
    assert history.text() == ONE + "# by hand\n"
    assert history.can_undo == "changed outside the studio"
    history.undo()
    assert history.text() == ONE


def test_a_policy_that_cannot_be_read_is_not_written(history):
    history.write(ONE, what="first")
    with pytest.raises(PolicyError, match="is not TOML"):
        history.write("version = ", what="broken")
    assert history.text() == ONE


def test_another_start_finds_the_same_history(history):
    for text in (ONE, ONE + "# two\n"):
        history.write(text, what="change")
    again = PolicyHistory(ProjectFolder.opened(history.folder.root))
    again.undo()
    assert again.text() == ONE


def test_every_file_is_its_owners(history):
    history.write(ONE, what="first")
    files = [p for p in history.folder.root.rglob("*") if p.is_file()]
    assert {p.stat().st_mode & 0o777 for p in files} == {0o600}


KEPT = {"setting": "require.0.k", "name": "k", "asked": 5, "instead": 2}
REQUIRED = ONE + '[[require]]\nmodel = "k-anonymity"\nk = 5\n'


def test_what_was_lowered_stays_with_later_states_and_goes_with_undo(history):
    history.write(REQUIRED, what="first")
    history.edit({"require.0.k": 2}, what="lowered", lowered=[KEPT])
    history.edit({"columns.age.kind": "integer"}, what="kind of age")
    assert history.lowered() == [KEPT]
    history.undo()
    assert history.lowered() == [KEPT]
    history.undo()
    assert history.lowered() == []


def test_lowering_the_same_setting_again_keeps_one_event(history):
    history.write(REQUIRED, what="first")
    history.edit({"require.0.k": 2}, what="lowered", lowered=[KEPT])
    again = {**KEPT, "instead": 3}
    history.edit({"require.0.k": 3}, what="lowered", lowered=[again])
    assert history.lowered() == [again]
