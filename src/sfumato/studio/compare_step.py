"""Step 5: candidates side by side, and the one to go on with."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from sfumato import registry
from sfumato.data.schema import Role
from sfumato.data.seeds import Seed
from sfumato.dp.cost import Cost, sequential
from sfumato.errors import RefusedError, SfumatoError, UsageError
from sfumato.pipeline.comparison.candidate_policies import (
    Candidate,
    candidates,
    lowered_texts,
)
from sfumato.pipeline.comparison.policy_floor import below_the_policy
from sfumato.policy import Policy
from sfumato.report.charts import group_size_chart, loss_chart, size_label
from sfumato.report.comparison_page import candidate_rows
from sfumato.report.facts import ColumnFacts, size_bins
from sfumato.report.scatter_chart import scatter_chart
from sfumato.studio.before_and_after import before_and_after
from sfumato.studio.chosen_candidate import (
    CHOSEN,
    COMPARISON,
    chosen_of,
)
from sfumato.studio.form_input import SentForm
from sfumato.studio.lowered_policy import answered_for, shortfalls
from sfumato.studio.paid_comparison import balance_of, begin, lost, settle
from sfumato.studio.policy_paths import refuse_outside
from sfumato.studio.protection_step import value_of
from sfumato.studio.step_base import (
    NO_QUASI,
    Query,
    StepState,
    StudioStep,
    needs_data,
)
from sfumato.studio.workspace import ProjectFacts, Workspace, refuse_while_running

LIMITS = {
    "prosecutor_max": "Highest re-identification risk, 0 to 1",
    "ncp": "Most detail (NCP) that may be lost, 0 to 1",
    "suppressed_share": "Most rows that may be left out, 0 to 1",
}


def state(facts: ProjectFacts) -> StepState:
    """Done once a candidate is chosen that fits the policy."""
    waits = needs_data(facts)
    if waits is not None:
        return waits
    assert facts.policy is not None
    if not facts.policy.require:
        return StepState.blocked("Require something first.")
    if not facts.policy.names(Role.QUASI):
        return StepState.blocked(NO_QUASI)
    if facts.space.tasks.running():
        return StepState.open("running")
    chosen = chosen_of(facts)
    if chosen is None:
        compared = bool(facts.note(COMPARISON))
        return StepState.open("none chosen yet" if compared else "nothing compared yet")
    if not chosen.fits:
        return StepState.open("the policy changed since")
    return (
        StepState.done(chosen.name) if chosen.made else StepState.open("not made yet")
    )


def show(facts: ProjectFacts, query: Query) -> dict[str, Any]:
    """What is compared, the front, and one candidate in detail."""
    policy = facts.policy
    if not facts.ready or policy is None or not policy.require:
        return {"record": None}
    record = facts.note(COMPARISON)
    shown: dict[str, Any] = {
        "record": record or None,
        "stale": bool(record) and record.get("mark") != facts.columns_mark,
        "settings": _settings(policy),
        "algorithms": [(e.name, e.sentence) for e in registry.catalogue("algorithms")],
        "operators": registry.catalogue("operators"),
        "limits": [(n, text, policy.accept.get(n, "")) for n, text in LIMITS.items()],
        "plan": _plan(facts),
        "detail": None,
        "chosen": chosen_of(facts),
    }
    shown["lost"] = lost(facts)
    if record:
        shown |= _compared(record)
        shown["detail"] = _detail(facts, record, query)
    return shown


def _settings(policy: Policy) -> dict[str, Any]:
    return {
        "algorithms": policy.compare.algorithms,
        "operators": policy.compare.operators,
        "set": [
            (key, ", ".join(map(str, values)))
            for key, values in policy.compare.set.items()
        ],
        **_size_setting(policy),
    }


def _size_setting(policy: Policy) -> dict[str, str | None]:
    """The path of k and the model that it is of, where the policy asks for one."""
    for place, wanted in enumerate(policy.require):
        if isinstance(wanted.settings.get("k"), int):
            return {"sizes": f"require.{place}.k", "size_model": wanted.model}
    return {"sizes": None, "size_model": None}


def _plan(facts: ProjectFacts) -> dict[str, Any]:
    """What a comparison would run, and what it would cost."""
    assert facts.policy is not None
    assert facts.table is not None
    try:
        found = inner_candidates(
            facts.space, facts.policy, facts.table.num_rows, allow_weaker=True
        )
        balance = balance_of(facts.policy, facts.space)
    except SfumatoError as fault:
        return {
            "fault": fault,
            "names": [],
            "weaker": [],
            "cost": None,
            "balance": None,
        }
    weaker = [each for each in found if each.below]
    return {
        "fault": None,
        "names": [each.name for each in found if not each.below],
        "weaker": lowered_texts(weaker),
        "cost": _cost([each for each in found if not each.below]),
        "weaker_cost": _cost(weaker),
        "balance": balance,
    }


def _cost(tried: Sequence[Candidate]) -> Cost | None:
    """What candidates cost together; None where nothing is charged."""
    costs = [m.cost for each in tried for m in each.policy.process_models()]
    return sequential(costs) if costs else None


def inner_candidates(
    space: Workspace, policy: Policy, rows: int, *, allow_weaker: bool
) -> tuple[Candidate, ...]:
    """The candidates of a policy; none may read or write outside the project folder."""
    found = candidates(policy, rows=rows, allow_weaker=allow_weaker)
    for each in found:
        refuse_outside(each.policy, space.folder)
    return found


def _compared(record: dict[str, Any]) -> dict[str, Any]:
    names = dict.fromkeys(each["algorithm"] for each in record["candidates"])
    return {
        "chart": scatter_chart(record),
        "drawn": list(names),
        "rows": candidate_rows(record),
        "figures": list(record["figures"].items()),
        "failed": [e for e in record["candidates"] if e["status"] == "failed"],
        "missing": [e for e in record["candidates"] if e["status"] == "not run"],
    }


def _detail(
    facts: ProjectFacts, record: dict[str, Any], query: Query
) -> dict[str, Any] | None:
    """One candidate: figures, and, once it is made, losses, groups and records."""
    number = query.get("candidate", "")
    found = [e for e in record["candidates"] if str(e["number"]) == number]
    if not found:
        return None
    place = facts.space.folder.candidates / number
    made = (place / "manifest.json").is_file()
    losses = [
        ColumnFacts(name=name, role="quasi", treatment="", ncp=loss)
        for name, loss in found[0].get("loss_by_column", {}).items()
    ]
    bins = size_bins(found[0].get("group_sizes", ()))
    return {
        "candidate": found[0],
        "below": _below(facts, record, int(number)),
        "made": made,
        "losses": [(each["name"], each["ncp"]) for each in losses],
        "loss_chart": loss_chart(losses) if losses else None,
        "size_chart": group_size_chart(bins) if bins else None,
        "sizes": [(size_label(each), each) for each in bins if each["groups"]],
        "records": _records(facts, place, record, query) if made else None,
    }


def _below(facts: ProjectFacts, record: dict[str, Any], number: int) -> str:
    """What a candidate asks less of, which has to be confirmed; mostly nothing."""
    space = facts.space
    try:
        candidate = _numbered(space, record, number)
    except SfumatoError:
        return ""
    return below_the_policy(shortfalls(facts, record, candidate.policy))


def _records(
    facts: ProjectFacts, place: Any, record: dict[str, Any], query: Query
) -> dict[str, Any] | None:
    policy = Policy.parse(record["policy"], base=facts.space.folder.root)
    if policy.process_models():
        return None
    asked = query.get("page", "1")
    page = int(asked) if asked.isdigit() and len(asked) < 12 else 1
    shown = query.get("show") == "records"
    return before_and_after(place, facts.table, policy, page=page, shown=shown)


def commands(facts: ProjectFacts) -> list[str]:
    """`compare`, and the release of the chosen candidate."""
    name = shlex.quote(facts.space.folder.policy_name)
    told = [f"sfumato compare {name} --page comparison.html"]
    if chosen_of(facts) is not None:
        told.append(f"sfumato anonymize {name} --out release")
    return told


def save(space: Workspace, form: SentForm) -> str | None:
    """Change what is compared, and what is accepted."""
    refuse_while_running(space)
    policy = space.require_policy()
    sent = {"compare": _compare_section(form), "accept": _accept(form)}
    written = policy.model_dump(mode="json", exclude_defaults=True)
    settings = {k: v or None for k, v in sent.items() if v != written.get(k, {})}
    if settings:
        what = "what is compared"
        space.history.edit(settings, what=what, revision=form.text("revision"))
    return None


def _compare_section(form: SentForm) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for kind in ("algorithm", "operator"):
        chosen = [name for name in form.all(kind) if name]
        if set(chosen) - set(registry.names(f"{kind}s")):
            raise UsageError(f"There is no such {kind}.", hint="Load the page again.")
        if chosen:
            found[f"{kind}s"] = chosen
    values = {
        form.text(f"key-{place}"): _values(form.text(f"values-{place}"))
        for place in range(20)
        if form.text(f"key-{place}").strip() and form.text(f"values-{place}").strip()
    }
    if values:
        found["set"] = values
    return found


def _values(text: str) -> list[Any]:
    return [value_of(each.strip()) for each in text.split(",") if each.strip()]


def _accept(form: SentForm) -> dict[str, float]:
    found = {}
    for name in LIMITS:
        text = form.text(f"accept-{name}").strip()
        if text:
            try:
                found[name] = float(text)
            except ValueError:
                raise UsageError(
                    f"The limit of '{name}' is not a number.", hint="For example 0.2."
                ) from None
    return found


def run(space: Workspace, form: SentForm) -> str | None:
    """Compare the candidates; under a process model only after confirmation."""
    refuse_while_running(space)
    policy = space.require_policy()
    space.source(policy)
    spend = form.text("spend") == "yes"
    if policy.process_models() and not spend:
        raise RefusedError(
            "Every candidate is charged to the ledger; nothing was charged.",
            hint="Confirm what it costs, then compare.",
        )
    weaker = form.text("weaker") == "yes"
    facts = ProjectFacts.of(space)
    if facts.table is not None:
        inner_candidates(space, policy, facts.table.num_rows, allow_weaker=weaker)
    mark = facts.columns_mark
    arguments = {
        "root": str(space.folder.root),
        "policy": space.read_text(),
        "seed": Seed.fresh().hex(),
        "spend": spend,
        "allow_weaker": weaker,
    }
    begin(policy, space)

    def finish(record: dict[str, Any]) -> None:
        space.folder.forget_note(CHOSEN)
        kept = {**record, "mark": mark, "paid": settle(space, record)}
        space.folder.write_note(COMPARISON, kept)

    task = space.tasks.begin("compare", "Comparing candidates", arguments, finish)
    task.ended.wait(0.5)
    return None


def _candidate(space: Workspace, form: SentForm) -> tuple[dict[str, Any], Candidate]:
    """The comparison, and the candidate that a form names."""
    record = space.folder.read_note(COMPARISON)
    number = form.number("number")
    if not record:
        raise UsageError("Nothing was compared yet.", hint="Compare first.")
    return record, _numbered(space, record, number)


def _numbered(space: Workspace, record: dict[str, Any], number: int) -> Candidate:
    policy = space.history.parsed(record["policy"])
    weaker = bool(record.get("allow_weaker"))
    rows = int(record["rows"])
    found = inner_candidates(space, policy, rows, allow_weaker=weaker)
    if not 1 <= number <= len(found):
        raise UsageError(f"There is no candidate {number}.", hint="Choose another.")
    return found[number - 1]


def make(space: Workspace, form: SentForm) -> str | None:
    """Make the release of a candidate, to look at it."""
    refuse_while_running(space)
    record, candidate = _candidate(space, form)
    number = candidate.number
    back = f"/compare?candidate={number}#candidate"
    if (space.folder.candidates / str(number) / "manifest.json").is_file():
        return back
    if candidate.policy.process_models():
        raise RefusedError(
            f"Candidate {number} was not kept, and making it again would charge the "
            "ledger again.",
            hint="Compare again: what that costs is told and confirmed there.",
        )
    arguments = {
        "root": str(space.folder.root),
        "policy": candidate.policy.dump(),
        "seed": record["seed"],
        "number": number,
    }
    title = f"Making candidate {number}"
    space.begin("candidate", title, arguments, note="made")
    return back


def choose(space: Workspace, form: SentForm) -> str | None:
    """Write the settings of a candidate into the policy, and go on with it."""
    refuse_while_running(space)
    record, candidate = _candidate(space, form)
    changes = shortfalls(ProjectFacts.of(space), record, candidate.policy)
    events = answered_for(form, changes)
    policy = space.require_policy()
    settings = dict(candidate.settings)
    if candidate.algorithm != policy.algorithm.name:
        gone = {f"algorithm.{name}": None for name in policy.algorithm.settings}
        settings = {**gone, **settings}
    what = f"candidate {candidate.number} chosen: {candidate.name}"
    revision = form.text("revision")
    space.history.edit(settings, what=what, revision=revision, lowered=events)
    mark = ProjectFacts.of(space).policy_mark
    told = {"number": candidate.number, "name": candidate.name, "mark": mark}
    space.folder.write_note(CHOSEN, told)
    return make(space, form)


STEP = StudioStep(
    key="compare",
    title="Run and compare",
    state=state,
    show=show,
    commands=commands,
    changes={"save": save, "run": run, "make": make, "choose": choose},
)
