"""Step 6: what attacks find on the chosen candidate, and one person looked up."""

from __future__ import annotations

import shlex
from typing import Any

from sfumato import registry
from sfumato.data.schema import Role
from sfumato.errors import UsageError
from sfumato.pipeline.attack_run import names_of
from sfumato.policy import Policy
from sfumato.report.attack_verdict import HOW_JUDGED, attack_summary, not_tried_sentence
from sfumato.report.risk_rows import attack_table
from sfumato.studio.chosen_candidate import chosen_of, record_at, why_not
from sfumato.studio.form_input import SentForm
from sfumato.studio.step_base import Query, StepState, StudioStep, needs_data
from sfumato.studio.workspace import (
    SHORT_WAIT,
    ProjectFacts,
    Workspace,
    refuse_while_running,
)

ATTACKED = "attacked"
SAMPLE = 2_000
"""People that are attacked, unless another number is asked for."""
MOST_SHOWN = 12


def state(facts: ProjectFacts) -> StepState:
    """Done once the chosen candidate was attacked."""
    waits = needs_data(facts)
    if waits is not None:
        return waits
    reason = why_not(facts)
    if reason is not None:
        return StepState.blocked(reason)
    attacks = results(facts).get("attacks", ())
    if not attacks:
        return StepState.open("not attacked yet")
    summary = attack_summary(attacks)
    return StepState.done(summary.short, light=summary.light)


def results(facts: ProjectFacts) -> dict[str, Any]:
    """What attacks found on the chosen candidate; empty if none ran."""
    chosen, found = chosen_of(facts), facts.note(ATTACKED)
    fits = chosen is not None and found.get("place") == _stamp(facts)
    return found if fits else {}


def _stamp(facts: ProjectFacts) -> str:
    """Which file was attacked."""
    chosen = chosen_of(facts)
    assert chosen is not None
    return str(record_at(chosen.place / "manifest.json").get("data_sha256"))


def show(facts: ProjectFacts, _query: Query) -> dict[str, Any]:
    """The results, and the answer about one person."""
    if not facts.ready or facts.policy is None or why_not(facts) is not None:
        return {"found": None, "known": ()}
    return {
        "found": results(facts) or None,
        "known": facts.policy.names(Role.QUASI),
        "sample": SAMPLE,
        "names": [_choice(name) for name in names_of("all")],
        **_table(results(facts)),
        "person": facts.space.answers.get("lookup"),
        "most": MOST_SHOWN,
        "chosen": chosen_of(facts),
    }


def _choice(name: str) -> tuple[str, str]:
    """An attack, and what it tries; of a slow one also why it comes last."""
    kind = registry.load("attacks", name)
    last = f" It comes last: it {kind.slow}." if kind.slow else ""
    return name, kind.sentence + last


def _table(found: dict[str, Any]) -> dict[str, Any]:
    """The results as the private report shows them, each with what it tries."""
    told = {each.name: each.sentence for each in registry.catalogue("attacks")}
    attacks, shown = found.get("attacks", []), []
    table = attack_table(attacks)
    for each, cells in zip(attacks, table.rows, strict=True):
        # What an attack tries is said once, at its first column.
        sentence = told.pop(each["name"], "")
        shown.append((cells, sentence, each["note"]))
    return {
        "head": table.head,
        "rows": shown,
        "summary": attack_summary(attacks),
        "how": HOW_JUDGED,
        "not_tried": not_tried_sentence(attacks, found.get("skipped", {})),
    }


def commands(facts: ProjectFacts) -> list[str]:
    """`attack` on the release of the candidate."""
    policy = shlex.quote(facts.space.folder.policy_name)
    chosen = chosen_of(facts)
    place = "candidates/1" if chosen is None else f"candidates/{chosen.number}"
    return [
        f"sfumato attack all {place} --policy {policy}",
        f"sfumato attack lookup {place} --record - --policy {policy}",
    ]


def _usable(space: Workspace) -> tuple[ProjectFacts, Policy, int]:
    refuse_while_running(space)
    facts = ProjectFacts.of(space)
    reason = why_not(facts)
    chosen = chosen_of(facts)
    if reason is not None or chosen is None or facts.policy is None:
        raise UsageError(reason or "There is no candidate.", hint="Go to step 5.")
    return facts, facts.policy, chosen.number


def run(space: Workspace, form: SentForm) -> str | None:
    """Attack the chosen candidate in every way."""
    facts, policy, number = _usable(space)
    known = [name for name in form.all("known") if name in policy.names(Role.QUASI)]
    sample = form.number("sample") if form.text("sample") else SAMPLE
    stamp = _stamp(facts)

    def finish(record: dict[str, Any]) -> None:
        space.folder.write_note(ATTACKED, {**record, "place": stamp})

    everything = len(known) == len(policy.names(Role.QUASI))
    arguments = {
        "root": str(space.folder.root),
        "policy": space.read_text(),
        "number": number,
        "known": [] if everything else known,
        "sample": max(1, sample),
        "names": [name for name in names_of("all") if name in form.all("attack")],
    }
    task = space.tasks.begin("attack", "Attacking the candidate", arguments, finish)
    task.ended.wait(SHORT_WAIT)
    return None


def lookup(space: Workspace, form: SentForm) -> str | None:
    """Look a person up; the answer stays in memory alone."""
    _, policy, number = _usable(space)
    person = {
        name: form.text(f"person-{place}").strip()
        for place, name in enumerate(policy.names(Role.QUASI))
        if form.text(f"person-{place}").strip()
    }
    if not person:
        raise UsageError(
            "Nothing is known of the person.", hint="Fill in one field or more."
        )

    def finish(record: dict[str, Any]) -> None:
        space.answers["lookup"] = {**record, "asked": person}

    space.answers.pop("lookup", None)
    arguments = {
        "root": str(space.folder.root),
        "policy": space.read_text(),
        "number": number,
        "person": person,
    }
    task = space.tasks.begin("lookup", "Looking a person up", arguments, finish)
    task.ended.wait(SHORT_WAIT)
    return "/attacks#lookup"


def forget(space: Workspace, _form: SentForm) -> str | None:
    """Forget the person that was looked up."""
    space.answers.pop("lookup", None)
    return None


STEP = StudioStep(
    key="attacks",
    title="Attacks",
    state=state,
    show=show,
    commands=commands,
    changes={"run": run, "lookup": lookup, "forget": forget},
)
