"""Step 4: what is promised, what it does not protect, and whether the table allows it."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any

from sfumato import registry
from sfumato.data.schema import Role
from sfumato.errors import SfumatoError, UsageError
from sfumato.models.common.judged_columns import NOTHING_JUDGED
from sfumato.pipeline.advice.advice import Outlook
from sfumato.policy import Policy
from sfumato.policy.edit_text import toml_value
from sfumato.studio.form_input import SentForm
from sfumato.studio.requirement_text import with_requirement, without_requirement
from sfumato.studio.step_base import (
    NO_QUASI,
    Query,
    StepState,
    StudioStep,
    needs_data,
)
from sfumato.studio.workspace import ProjectFacts, Workspace, refuse_while_running

FIRST_VALUES: Mapping[str, Any] = {
    "k": 5,
    "l": 2,
    "t": 0.2,
    "epsilon": 1.0,
    "at_most": 0.2,
}
"""What a new requirement asks for until it is changed."""
MORE_VALUES: Mapping[str, Mapping[str, Any]] = {"k-map": {"sampling_fraction": 0.01}}
"""Optional parameters without which a model asks for nothing yet."""
ON = "on"
REFUSED = "out of reach"


def state(facts: ProjectFacts) -> StepState:
    """Done once there is a requirement and the table allows all of them."""
    waits = needs_data(facts)
    if waits is not None:
        return waits
    assert facts.policy is not None
    if not facts.policy.names(Role.QUASI):
        return StepState.blocked(NO_QUASI)
    if not facts.policy.require:
        return StepState.open("nothing is required yet")
    try:
        found = outlooks_of(facts)
    except SfumatoError:
        return StepState.open(REFUSED)
    if not all(each.feasible for each in found):
        return StepState.open(REFUSED)
    count = len(facts.policy.require)
    return StepState.done(f"{count} requirement{'s' if count > 1 else ''}")


def outlooks_of(facts: ProjectFacts) -> Sequence[Outlook]:
    """What the table allows of each requirement."""
    assert facts.policy is not None
    folder = facts.space.folder
    return facts.space.outlooks.find(facts.table, facts.policy, folder.root)


def show(facts: ProjectFacts, _query: Query) -> dict[str, Any]:
    """Every requirement with its sentence, its blind spot and its outlook."""
    entries = {each.name: each for each in registry.catalogue("models")}
    found: Sequence[Outlook] = ()
    fault: SfumatoError | None = None
    if facts.ready and facts.policy is not None and facts.policy.require:
        try:
            found = outlooks_of(facts)
        except SfumatoError as refusal:
            fault = refusal
    policy = facts.policy or Policy()
    outlooks = {each.place: each for each in found}
    return {
        "requirements": [
            _requirement(policy, place, entries, outlooks.get(place))
            for place in range(len(policy.require))
        ],
        "unjudged": _unjudged(policy),
        "models": list(entries.values()),
        "refusal": fault,
        "sensitive": policy.names(Role.SENSITIVE),
        "publish": policy.publish,
        "process": bool(policy.process_models()),
        "privacy": policy.privacy,
    }


def _unjudged(policy: Policy) -> str | None:
    """What to say where no requirement is about a sensitive column."""
    try:
        judged = policy.judged
    except SfumatoError:
        # The requirement that cannot be made says so itself.
        return None
    return None if judged or policy.process_models() else NOTHING_JUDGED


def _requirement(
    policy: Policy, place: int, entries: Mapping[str, Any], outlook: Outlook | None
) -> dict[str, Any]:
    wanted = policy.require[place]
    settings = dict(wanted.settings)
    kind = registry.load("models", wanted.model)
    names = [each.name for each in fields(kind) if each.init]
    on = settings.pop(ON, None)
    return {
        "place": place,
        "model": wanted.model,
        "entry": entries[wanted.model],
        "settings": [(name, _field(value)) for name, value in settings.items()],
        "unset": [n for n in names if n not in settings and n != ON],
        "has_on": ON in names,
        "on": [on] if isinstance(on, str) else list(on or ()),
        "outlook": outlook,
        "nearest": _nearest(outlook),
    }


def _field(value: Any) -> str:
    return value if isinstance(value, str) else toml_value(value)


def _nearest(outlook: Outlook | None) -> tuple[str, str] | None:
    """The parameter and its nearest feasible value, where it is out of reach."""
    if outlook is None or outlook.feasible:
        return None
    if outlook.left is not None:
        return _payable(outlook.parameters["epsilon"], outlook.left["epsilon"])
    if outlook.tightest is None:
        return None
    if outlook.parameter is None:
        return None
    before = outlook.parameters.get(outlook.parameter)
    whole = isinstance(before, int) and float(outlook.tightest).is_integer()
    value = int(outlook.tightest) if whole else round(outlook.tightest, 6)
    return outlook.parameter, str(value)


def _payable(asked: float, left: float) -> tuple[str, str] | None:
    """The epsilon that the ledger can still pay, where more than that was asked."""
    return ("epsilon", f"{left:.6g}") if 0 < left < asked else None


def commands(facts: ProjectFacts) -> list[str]:
    """`advise` on the policy."""
    return [f"sfumato advise {shlex.quote(facts.space.folder.policy_name)}"]


def save(space: Workspace, form: SentForm) -> str | None:
    """Change the parameters of one requirement."""
    refuse_while_running(space)
    policy = space.require_policy()
    changed = _changed(policy, form)
    if changed:
        what = f"requirement {policy.require[_place(policy, form)].model}"
        space.history.edit(changed, what=what, revision=form.text("revision"))
    return None


def _changed(policy: Policy, form: SentForm) -> dict[str, Any]:
    """What a form asks of a requirement that the policy does not say yet."""
    place = _place(policy, form)
    sent = _sent(form)
    if form.text("asks-on"):
        sent[ON] = [name for name in form.all(ON) if name] or None
    before = policy.require[place].settings
    return {f"require.{place}.{k}": v for k, v in sent.items() if before.get(k) != v}


def typed(space: Workspace, form: SentForm) -> dict[str, Any]:
    """A requirement as it is typed, with what the table allows of it; nothing is saved."""
    policy = space.require_policy()
    place = _place(policy, form)
    text = policy.edited(_changed(policy, form))
    tried = space.history.parsed(text)
    found = space.outlooks.find(space.source(tried), tried, space.folder.root)
    outlook = next((each for each in found if each.place == place), None)
    entries = {each.name: each for each in registry.catalogue("models")}
    return _requirement(tried, place, entries, outlook)


def _sent(form: SentForm) -> dict[str, Any]:
    """The parameters of a form; an empty one is taken away."""
    found = {}
    for field in form.fields:
        if field.startswith("set-"):
            text = form.text(field).strip()
            found[field.removeprefix("set-")] = value_of(text) if text else None
    return found


def value_of(text: str) -> Any:
    """A setting as TOML reads it, or plain text."""
    try:
        read = tomllib.loads(f"value = {text}")
    except ValueError:
        return text
    return read["value"] if len(read) == 1 else text


def _place(policy: Policy, form: SentForm) -> int:
    place = form.number("place")
    if not 0 <= place < len(policy.require):
        raise UsageError("There is no such requirement.", hint="Load the page again.")
    return place


def add(space: Workspace, form: SentForm) -> str | None:
    """Require another model, with values to begin with."""
    refuse_while_running(space)
    policy = space.require_policy()
    name = form.text("model")
    if name not in registry.names("models"):
        raise UsageError("There is no model of this name.", hint="Choose one.")
    made = {"model": name, **_first_values(registry.load("models", name))}
    text = with_requirement(policy, space.read_text(), made)
    revision = form.text("revision")
    space.history.write(text, what=f"{name} required", revision=revision)
    return None


def _first_values(model: Any) -> dict[str, Any]:
    """Values for the parameters that a model cannot do without."""
    tried = model.examples[0] if model.examples else {}
    found: dict[str, Any] = dict(MORE_VALUES.get(model.name, {}))
    for each in fields(model):
        needed = each.default is MISSING and each.default_factory is MISSING
        if each.init and needed:
            values = list(tried.get(each.name, (1,)))
            found[each.name] = FIRST_VALUES.get(each.name, values[len(values) // 2])
    return found


def remove(space: Workspace, form: SentForm) -> str | None:
    """Require a model no more."""
    refuse_while_running(space)
    policy = space.require_policy()
    place = _place(policy, form)
    text = without_requirement(policy, space.read_text(), place)
    what = f"{policy.require[place].model} no longer required"
    space.history.write(text, what=what, revision=form.text("revision"))
    return None


def publish(space: Workspace, form: SentForm) -> str | None:
    """Change how much may be left out and lost, and the budget of a new ledger."""
    refuse_while_running(space)
    names = ("publish.max_suppressed", "publish.max_loss")
    settings: dict[str, Any] = {}
    for name in (*names, "privacy.epsilon", "privacy.delta"):
        text = form.text(name).strip()
        if text:
            settings[name] = _share(name, text)
    ledger = form.text("privacy.ledger").strip()
    if ledger:
        space.folder.inside(ledger)
        settings["privacy.ledger"] = ledger
    what = "limits of the release"
    space.history.edit(settings, what=what, revision=form.text("revision"))
    return None


def _share(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(
            f"'{name}' is not a number.", hint="For example 0.05."
        ) from None


STEP = StudioStep(
    key="protection",
    title="Protection",
    state=state,
    show=show,
    commands=commands,
    changes={"save": save, "add": add, "remove": remove, "publish": publish},
)
