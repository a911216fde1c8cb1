"""Step 3: how each quasi-identifier becomes coarser."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from typing import Any

from sfumato.data.schema import Kind, Role
from sfumato.data.vocabularies.word_groups import NAMES
from sfumato.errors import HierarchyError, UsageError
from sfumato.hierarchies.masking import UNITS
from sfumato.policy import Policy
from sfumato.policy.edit_text import toml_key, toml_value
from sfumato.studio import hierarchy_edits as edits
from sfumato.studio.form_input import SentForm
from sfumato.studio.hierarchy_views import HierarchyView, file_rows
from sfumato.studio.protection_step import value_of
from sfumato.studio.step_base import (
    NO_QUASI,
    Query,
    StepState,
    StudioStep,
    needs_data,
)
from sfumato.studio.workspace import ProjectFacts, Workspace, refuse_while_running


def state(facts: ProjectFacts) -> StepState:
    """Done if every hierarchy fits its column."""
    waits = needs_data(facts)
    if waits is not None:
        return waits
    names = columns_of(facts)
    if not names:
        return StepState.blocked(NO_QUASI)
    wrong = [name for name in names if _view(facts, name).fault is not None]
    if wrong:
        return StepState.open(f"'{wrong[0]}' does not fit")
    return StepState.done(f"{len(names)} columns")


def columns_of(facts: ProjectFacts) -> tuple[str, ...]:
    """The columns that are generalized, and are in the table."""
    assert facts.policy is not None
    assert facts.table is not None
    known = set(facts.table.column_names)
    return tuple(n for n in facts.policy.names(Role.QUASI) if n in known)


def _view(facts: ProjectFacts, name: str) -> HierarchyView:
    assert facts.policy is not None
    return facts.space.views.view(facts.table, facts.policy, name)


def show(facts: ProjectFacts, query: Query) -> dict[str, Any]:
    """The columns, and the hierarchy of one of them."""
    if not facts.ready or facts.policy is None:
        return {"columns": (), "view": None}
    names = columns_of(facts)
    if not names:
        return {"columns": (), "view": None}
    asked = query.get("column", names[0])
    name = asked if asked in names else names[0]
    view = _view(facts, name)
    shown: dict[str, Any] = {} if view.coded is None else _shown(view, query)
    return {
        "columns": [(n, n == name, _view(facts, n).fault is not None) for n in names],
        "column": name,
        "view": view,
        "setting": _setting(facts.policy, name),
        **_kind(view),
        "units": UNITS,
        "vocabularies": NAMES,
        "values": view.values if view.editable else [],
        **{"levels": [], "tree": None, "groups": [], **shown},
    }


def _kind(view: HierarchyView) -> dict[str, Any]:
    if view.column is None:
        return {"kind": None, "numeric": False, "dates": False}
    kind = view.column.kind
    dates = kind in (Kind.DATE, Kind.DATETIME)
    return {"kind": str(kind), "numeric": kind.numeric, "dates": dates}


def _shown(view: HierarchyView, query: Query) -> dict[str, Any]:
    assert view.coded is not None
    rows = edits.rows_of(view.coded.axis) if view.editable else []
    inner = range(1, len(rows[0]) - 1) if rows else range(0)
    return {
        "levels": view.levels(),
        "tree": view.tree(_whole(query, "level"), _whole(query, "leaf") or 0),
        "whole": "level" not in query,
        "groups": [
            (level, list(dict.fromkeys(row[level] for row in rows))) for level in inner
        ],
    }


def _whole(query: Query, name: str) -> int | None:
    text = query.get(name, "")
    return int(text) if text.isdigit() and len(text) < 10 else None


def _setting(policy: Policy, name: str) -> str:
    spec = policy.column(name).hierarchy
    return "not set" if spec is None else toml_value(spec)


def commands(facts: ProjectFacts) -> list[str]:
    """The settings of all hierarchies, as an option of any run."""
    name = shlex.quote(facts.space.folder.policy_name)
    if not facts.ready or facts.policy is None:
        return [f"sfumato anonymize {name} --out release"]
    told = [
        f"columns.{toml_key(n)}.hierarchy={toml_value(facts.policy.column(n).hierarchy)}"
        for n in columns_of(facts)
        if facts.policy.column(n).hierarchy is not None
    ]
    options = " \\\n  ".join(f"--set {shlex.quote(text)}" for text in told)
    return [f"sfumato anonymize {name} --out release \\\n  {options}"]


def _back(name: str) -> str:
    from urllib.parse import quote

    return f"/hierarchies?column={quote(name)}"


def _asked(space: Workspace, form: SentForm) -> tuple[Policy, str, HierarchyView]:
    """The column that a form is about, with its hierarchy."""
    refuse_while_running(space)
    policy, name = space.require_policy(), form.text("column")
    if name not in policy.names(Role.QUASI):
        raise UsageError("There is no such quasi-identifier.", hint="Choose one.")
    return policy, name, space.views.view(space.source(policy), policy, name)


def _set(space: Workspace, form: SentForm, settings: Mapping[str, Any]) -> str:
    """Change settings of a column, if the hierarchy then can be built."""
    name = form.text("column")
    keyed = {f"columns.{toml_key(name)}.{key}": v for key, v in settings.items()}
    policy = space.require_policy()
    text = policy.edited(keyed)
    tried = space.history.parsed(text)
    found = space.views.view(space.source(tried), tried, name)
    if found.fault is not None and not found.uncovered:
        raise found.fault
    what = f"hierarchy of {name}"
    space.history.write(text, what=what, revision=form.text("revision"))
    return _back(name)


def wizard(space: Workspace, form: SentForm) -> str | None:
    """Set a hierarchy that follows a rule."""
    _asked(space, form)
    makers: Mapping[str, Callable[[SentForm], Any]] = {
        "intervals": _intervals,
        "quantiles": lambda f: {"quantiles": _numbers(f, "levels")},
        "prefix": lambda f: {"prefix": _numbers(f, "levels")},
        "calendar": lambda f: {"calendar": [u for u in UNITS if u in f.all("unit")]},
        "vocabulary": lambda f: {"vocabulary": f.text("vocabulary")},
        "auto": lambda _: "auto",
        "free": lambda _: "free",
        "flat": lambda _: "flat",
        "learned": lambda _: "learned",
    }
    builder = form.text("builder")
    if builder not in makers:
        raise UsageError("There is no such wizard.", hint="Choose one.")
    return _set(space, form, {"hierarchy": makers[builder](form)})


def _intervals(form: SentForm) -> dict[str, Any]:
    found: dict[str, Any] = {"intervals": _numbers(form, "levels")}
    for name in ("origin", "bottom", "top"):
        if form.text(name).strip():
            found[name] = value_of(form.text(name).strip())
    return found


def _numbers(form: SentForm, name: str) -> list[Any]:
    texts = form.text(name).replace(";", ",").split(",")
    found = [value_of(text.strip()) for text in texts if text.strip()]
    if not found or not all(isinstance(each, int | float) for each in found):
        raise UsageError(
            "The levels are not a list of numbers.", hint="For example 5, 10, 20."
        )
    return found


def order(space: Workspace, form: SentForm) -> str | None:
    """Say in which order the values of a category come."""
    _, _, view = _asked(space, form)
    told = [line.strip() for line in form.text("order").splitlines() if line.strip()]
    known = view.values
    if sorted(told) != sorted(known):
        raise UsageError(
            f"The list has {len(told):,} values, and the column {len(known):,}; every "
            "value is named once.",
            hint="Move lines, and keep each as it is.",
        )
    settings = {"kind": "ordered", "order": told, "hierarchy": "auto"}
    return _set(space, form, settings)


def _edited(space: Workspace, form: SentForm, rows: list[edits.LeafRow]) -> str:
    name = form.text("column")
    return _set(space, form, {"hierarchy": edits.written(space.folder, name, rows)})


def _rows(view: HierarchyView) -> list[edits.LeafRow]:
    if view.coded is None or not view.editable:
        raise HierarchyError(
            "This hierarchy is not changed value by value.",
            hint="Use a wizard, or import a file.",
        )
    return edits.rows_of(view.coded.axis)


def group(space: Workspace, form: SentForm) -> str | None:
    """Put values under a group, new or old."""
    _, _, view = _asked(space, form)
    level = form.number("level") if form.text("level") else 1
    label = form.text("label").strip()
    rows = edits.grouped(_rows(view), set(form.all("value")), label, level)
    return _edited(space, form, rows)


def rename(space: Workspace, form: SentForm) -> str | None:
    """Give a group another name."""
    _, _, view = _asked(space, form)
    level, _, old = form.text("group").partition(":")
    if not level.isdigit():
        raise UsageError("No group is chosen.", hint="Choose one.")
    rows = edits.renamed(_rows(view), int(level), old, form.text("label").strip())
    return _edited(space, form, rows)


def other(space: Workspace, form: SentForm) -> str | None:
    """Put values that the hierarchy does not know under a group "Other"."""
    policy, name, view = _asked(space, form)
    rows = None
    if view.column is not None and view.uncovered:
        rows = file_rows(view.column, policy, name)
    if rows is None:
        raise UsageError("Every value is covered.", hint="There is nothing to do.")
    return _edited(space, form, edits.with_other(rows, view.uncovered))


def take_file(space: Workspace, name: str, path: str, revision: str) -> str:
    """Use an imported file as the hierarchy of a column."""
    fields = {"column": [name], "revision": [revision]}
    form = SentForm(fields)
    _asked(space, form)
    return _set(space, form, {"hierarchy": path})


def exported(facts: ProjectFacts, name: str) -> str:
    """The hierarchy that is applied to a column, as CSV."""
    if not facts.ready or name not in columns_of(facts):
        raise UsageError("There is no such quasi-identifier.", hint="Choose one.")
    view = _view(facts, name)
    if view.coded is None:
        raise view.fault or UsageError("It cannot be built.", hint="Correct it.")
    return edits.csv_text(edits.rows_of(view.coded.axis))


STEP = StudioStep(
    key="hierarchies",
    title="Hierarchies",
    state=state,
    show=show,
    commands=commands,
    changes={
        "wizard": wizard,
        "order": order,
        "group": group,
        "rename": rename,
        "other": other,
    },
)
