"""Step 2: what each column is, why, and how well it tells people apart."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.data.cell_text import as_text, has_text
from sfumato.data.json_records import dump_line
from sfumato.data.schema import Kind, Role
from sfumato.errors import UsageError
from sfumato.hierarchies.bands import Bands
from sfumato.pipeline.code_table import coded_column
from sfumato.policy import Policy
from sfumato.policy.consistency import BANDED
from sfumato.policy.edit_text import toml_key
from sfumato.policy.sections import ColumnSection
from sfumato.studio.form_input import SentForm
from sfumato.studio.step_base import Query, StepState, StudioStep, needs_data
from sfumato.studio.workspace import (
    ProjectFacts,
    Workspace,
    refuse_while_running,
)

DROP = "drop"
ROLES = {
    str(Role.IDENTIFIER): "identifier: removed",
    str(Role.QUASI): "quasi-identifier: generalized",
    str(Role.SENSITIVE): "sensitive: protected",
    str(Role.INSENSITIVE): "insensitive: published as it is",
    str(Role.SUBJECT): "person: counted, not published",
    str(Role.WEIGHT): "weight of the row",
    DROP: "left out",
}
CONFIRMED = "confirmed"
VALUES_SHOWN = 8
BANDS = {
    "bands": "width of bands",
    "bottom": "lowest end",
    "top": "highest end",
}
"""Settings of columns that are published in bands, as the page calls them."""


def state(facts: ProjectFacts) -> StepState:
    """Done once a person has confirmed the roles as they are."""
    waits = needs_data(facts)
    if waits is not None:
        return waits
    assert facts.policy is not None
    if not facts.policy.names(Role.QUASI):
        return StepState.open("no quasi-identifier")
    if not confirmed(facts):
        return StepState.open("not confirmed yet")
    return StepState.done("confirmed")


def confirmed(facts: ProjectFacts) -> bool:
    """Whether the roles are those that a person confirmed."""
    assert facts.policy is not None
    return facts.note(CONFIRMED).get("roles") == _roles_mark(facts.policy)


def _roles_mark(policy: Policy) -> str:
    roles = {n: [str(s.role), str(s.kind), s.drop] for n, s in policy.columns.items()}
    told = {"columns": roles, "unlisted": policy.unlisted}
    return hashlib.sha256(dump_line(told).encode()).hexdigest()


def show(facts: ProjectFacts, query: Query) -> dict[str, Any]:
    """Every column with its role, its kind, reasons and identifying power."""
    if not facts.ready or facts.policy is None or facts.table is None:
        return {"rows": [], "sets": [], "profiled": False}
    profile = facts.note("profile")
    known = profile.get("columns", {})
    asked = query.get("values", "")
    return {
        "rows": [
            _row(place, name, facts, known.get(name, {}), shown=asked == name)
            for place, name in enumerate(facts.table.column_names)
        ],
        "roles": ROLES,
        "kinds": [str(kind) for kind in Kind],
        "band_words": BANDS,
        "sets": profile.get("sets", [])[:6],
        "profiled": all(name in known for name in facts.table.column_names),
        "confirmed": confirmed(facts),
        "gone": gone(facts),
        "warnings": list(_warnings(facts.policy, known)),
    }


def gone(facts: ProjectFacts) -> list[str]:
    """Columns that the policy has, and the table has not."""
    assert facts.policy is not None
    assert facts.table is not None
    return [n for n in facts.policy.columns if n not in facts.table.column_names]


def _row(
    place: int,
    name: str,
    facts: ProjectFacts,
    guess: Mapping[str, Any],
    *,
    shown: bool,
) -> dict[str, Any]:
    policy, table = facts.policy, facts.table
    assert policy is not None
    assert table is not None
    section, role = policy.column(name), policy.role(name)
    return {
        "place": place,
        "name": name,
        "role": DROP if role is None else str(role),
        "kind": "" if section.kind is None else str(section.kind),
        "bands": _bands(section) if role in BANDED else {},
        "guess": guess,
        "proposed": _word(guess),
        "differs": bool(guess) and _word(guess) != _word({"role": role}),
        "values": _values(table, name) if shown else None,
    }


def _bands(section: ColumnSection) -> dict[str, str]:
    """The texts of the settings of bands, empty where there is none."""
    given = {key: getattr(section, key) for key in BANDS}
    return {key: "" if end is None else str(end) for key, end in given.items()}


def _word(guess: Mapping[str, Any]) -> str:
    """The role of a column, as the list of roles calls it."""
    dropped = not guess or guess.get("drop") or guess["role"] is None
    return ROLES[DROP if dropped else str(guess["role"])].split(":")[0]


def _values(table: pa.Table, name: str) -> list[tuple[str, int]]:
    """The commonest values of a column with their counts."""
    column = table.column(name)
    if not has_text(column):
        return []
    counted = pc.value_counts(as_text(column, name=name)).field
    values, counts = counted(0), counted(1)
    order = pc.sort_indices(counts, sort_keys=[("", "descending")])[:VALUES_SHOWN]
    texts, numbers = values.take(order).to_pylist(), counts.take(order).to_pylist()
    return [("" if t is None else t, n) for t, n in zip(texts, numbers, strict=True)]


def _warnings(policy: Policy, known: Mapping[str, Mapping[str, Any]]) -> list[str]:
    found = []
    if not policy.names(Role.QUASI):
        found.append(
            "No column is a quasi-identifier, so nothing would be generalized."
        )
    for name in policy.names(Role.INSENSITIVE):
        if known.get(name, {}).get("role") == str(Role.IDENTIFIER):
            found.append(f"'{name}' looks like an identifier and would be published.")
    return found


def commands(facts: ProjectFacts) -> list[str]:
    """What the command line says about the columns."""
    name = shlex.quote(facts.space.folder.policy_name)
    return [f"sfumato advise {name}"]


def save(space: Workspace, form: SentForm) -> str | None:
    """Change roles and kinds."""
    refuse_while_running(space)
    policy = space.require_policy()
    table = space.source(policy)
    settings: dict[str, Any] = {}
    for place, name in enumerate(table.column_names):
        settings |= _changed(policy, name, form, place)
    if settings:
        changed = space.history.parsed(policy.edited(settings))
        _refuse_other_kinds(policy, changed, table)
        what = _what(settings)
        space.history.edit(settings, what=what, revision=form.text("revision"))
    return None


def _refuse_other_kinds(policy: Policy, changed: Policy, table: pa.Table) -> None:
    """Refuse a kind, or bands, that the cells of a column do not have."""
    for name in table.column_names:
        if _read_as(changed, name) != _read_as(policy, name):
            coded_column(changed, table, name)


def _read_as(policy: Policy, name: str) -> tuple[Kind | None, Bands | None]:
    return policy.column(name).kind, policy.bands(name)


def _changed(policy: Policy, name: str, form: SentForm, place: int) -> dict[str, Any]:
    """The settings that a form changes of one column."""
    role, kind = form.text(f"role-{place}"), form.text(f"kind-{place}")
    if role not in ROLES or (kind and kind not in list(Kind)):
        raise UsageError("The form names no such role or kind.", hint="Load it again.")
    section, key = policy.column(name), f"columns.{toml_key(name)}"
    before = policy.role(name)
    found: dict[str, Any] = {}
    if role != (DROP if before is None else str(before)):
        found[f"{key}.drop"] = True if role == DROP else None
        found[f"{key}.role"] = None if role == DROP else role
        if role not in (Role.QUASI, Role.SENSITIVE) and section.hierarchy is not None:
            found[f"{key}.hierarchy"] = None
    if kind != ("" if section.kind is None else str(section.kind)):
        found[f"{key}.kind"] = kind or None
    found |= {f"{key}.{k}": v for k, v in _new_bands(section, form, place, role)}
    return {k: v for k, v in found.items() if v is not None or _has(policy, name, k)}


def _new_bands(
    section: ColumnSection, form: SentForm, place: int, role: str
) -> Iterator[tuple[str, int | float | str | None]]:
    """The settings of bands that a form changes; another role takes them away."""
    for setting, before in _bands(section).items():
        text = form.text(f"{setting}-{place}", before).strip()
        text = text if role in BANDED else ""
        if text != before:
            yield setting, _end(text)


def _end(text: str) -> int | float | str | None:
    """A number, or the text of a date."""
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text or None


def _has(policy: Policy, name: str, key: str) -> bool:
    """Whether a setting that is taken away is there."""
    section = policy.columns.get(name)
    setting = key.rsplit(".", 1)[-1]
    # An end of bands may be 0.
    return section is not None and not any(
        getattr(section, setting) is nothing for nothing in (None, False)
    )


def _what(settings: Mapping[str, Any]) -> str:
    names = dict.fromkeys(key.rsplit(".", 1)[0].split(".", 1)[1] for key in settings)
    listed = list(names)
    more = f" and {len(listed) - 1} more" if listed[1:] else ""
    return f"column {listed[0]}{more}"


def forget(space: Workspace, form: SentForm) -> str | None:
    """Take away what the policy says of columns that the table does not have."""
    refuse_while_running(space)
    settings = {f"columns.{toml_key(n)}": None for n in gone(ProjectFacts.of(space))}
    what = "columns that are gone"
    space.history.edit(settings, what=what, revision=form.text("revision"))
    return None


def confirm(space: Workspace, form: SentForm) -> str | None:
    """Remember that a person has read the roles."""
    save(space, form)
    policy = space.require_policy()
    space.folder.write_note(CONFIRMED, {"roles": _roles_mark(policy)})
    return None


def look(space: Workspace, _form: SentForm) -> str | None:
    """Count what each column tells, where that is not known yet."""
    policy = space.require_policy()
    space.source(policy)
    arguments = {"root": str(space.folder.root), "policy": space.read_text()}
    space.begin("profile", "Looking at columns", arguments, note="profile")
    return None


STEP = StudioStep(
    key="columns",
    title="Columns",
    state=state,
    show=show,
    commands=commands,
    changes={"save": save, "confirm": confirm, "look": look, "forget": forget},
)
