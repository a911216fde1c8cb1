"""Step 7: the written file proven again, signed, and ready to be taken away."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from sfumato.errors import RefusedError, UsageError
from sfumato.report.making_rows import lowered_rows
from sfumato.studio.attack_step import results
from sfumato.studio.chosen_candidate import (
    chosen_of,
    outside_domain,
    record_at,
    why_not,
)
from sfumato.studio.columns_step import confirmed
from sfumato.studio.form_input import SentForm
from sfumato.studio.step_base import Query, StepState, StudioStep, needs_data
from sfumato.studio.workspace import (
    SHORT_WAIT,
    ProjectFacts,
    Workspace,
    refuse_while_running,
)

RELEASED = "released"
WORDS = {
    "manifest.json": "manifest: what was promised, measured and hashed",
    "report.html": "report for readers",
    "README.txt": "how to join the tables",
}


def state(facts: ProjectFacts) -> StepState:
    """Done once the policy as it is was released."""
    waits = needs_data(facts)
    if waits is not None:
        return waits
    missing = unmet(facts)
    if missing:
        return StepState.blocked(missing[0])
    return StepState.done("released") if is_current(facts) else StepState.open()


def unmet(facts: ProjectFacts) -> list[str]:
    """Everything that stands in the way of a release."""
    found = [] if confirmed(facts) else ["Confirm the roles of the columns first."]
    reason = why_not(facts)
    return [*found, *([reason] if reason is not None else [])]


def is_current(facts: ProjectFacts) -> bool:
    """Whether the release that is there is that of the policy as it is."""
    told = facts.note(RELEASED)
    manifest = record_at(facts.space.folder.release / "manifest.json")
    same = told.get("data_sha256") == manifest.get("data_sha256")
    return bool(told) and same and told.get("mark") == facts.policy_mark


def show(facts: ProjectFacts, _query: Query) -> dict[str, Any]:
    """What is in the way, the form to sign, and the files."""
    if not facts.ready:
        return {"missing": [], "released": None}
    chosen = chosen_of(facts)
    return {
        "missing": unmet(facts),
        "chosen": chosen,
        "attacked": bool(chosen and why_not(facts) is None and results(facts)),
        "outside": {} if chosen is None else outside_domain(chosen.place),
        "released": facts.note(RELEASED) or None,
        "lowered": list(lowered_rows(facts.space.history.lowered())),
        "current": is_current(facts),
        "files": publishable(facts.space.folder.release),
        "folder": facts.space.folder.release,
    }


def publishable(place: Path) -> list[tuple[str, str, int]]:
    """The files of a release that may be taken away; never its private part."""
    if not (place / "manifest.json").is_file():
        return []
    found = sorted(p for p in place.iterdir() if p.is_file() and not p.is_symlink())
    return [(p.name, _word(p.name), p.stat().st_size) for p in found]


def _word(name: str) -> str:
    if name.startswith("data."):
        return "the released table"
    return WORDS.get(name, "second table" if name.startswith("sensitive.") else "")


def file_of(facts: ProjectFacts, name: str) -> Path:
    """A publishable file by its name; nothing else is served."""
    place = facts.space.folder.release
    if name not in {each for each, _, _ in publishable(place)}:
        raise UsageError(
            "There is no such file in the release.", hint="Choose one of the list."
        )
    return place / name


def commands(facts: ProjectFacts) -> list[str]:
    """A release, its check and its signature."""
    name = shlex.quote(facts.space.folder.policy_name)
    data = "data.csv"
    for each, _, _ in publishable(facts.space.folder.release):
        data = each if each.startswith("data.") else data
    return [
        f"sfumato anonymize {name} --out release",
        f"sfumato check release/{data} --policy {name} --manifest release/manifest.json",
        "sfumato report release --approver NAME --note TEXT",
    ]


def release(space: Workspace, form: SentForm) -> str | None:
    """Prove, sign and put the release in its place."""
    refuse_while_running(space)
    facts = ProjectFacts.of(space)
    chosen = chosen_of(facts)
    missing = ["Choose the data first."] if not facts.ready else unmet(facts)
    if missing or chosen is None:
        raise RefusedError(
            (missing or ["There is no candidate."])[0], hint="Do it first."
        )
    approver = form.text("approver").strip()
    if not approver:
        raise UsageError("Nobody approves.", hint="Write the name of the approver.")
    mark = facts.policy_mark

    def finish(record: dict[str, Any]) -> None:
        space.folder.write_note(RELEASED, {**record, "mark": mark})

    arguments = {
        "root": str(space.folder.root),
        "policy": space.read_text(),
        "number": chosen.number,
        "approver": approver,
        "lowered": space.history.lowered(),
        "note": form.text("note").strip(),
    }
    task = space.tasks.begin("release", "Releasing", arguments, finish)
    task.ended.wait(SHORT_WAIT)
    return None


STEP = StudioStep(
    key="release",
    title="Release",
    state=state,
    show=show,
    commands=commands,
    changes={"sign": release},
)
