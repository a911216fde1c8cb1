"""Step 1: choose, upload or open the data, and look at them page by page."""

from __future__ import annotations

import math
import shlex
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.data.cell_text import as_text, has_text
from sfumato.data.source import delimiter_of, encoding_of, has_row_numbers
from sfumato.demo import write as write_demo
from sfumato.errors import SfumatoError, UsageError
from sfumato.io.atomic_files import OWN_FILE
from sfumato.io.formats import Format, format_of
from sfumato.policy import Policy
from sfumato.policy.profiles import PROFILES
from sfumato.studio.form_input import SentForm
from sfumato.studio.project_folder import HIERARCHIES, POLICY, TABLES
from sfumato.studio.source_cache import source_name
from sfumato.studio.step_base import Query, StepState, StudioStep
from sfumato.studio.workspace import (
    SHORT_WAIT,
    ProjectFacts,
    Workspace,
    refuse_while_running,
)

PAGE_ROWS = 50
MEANT = "meant"
UPLOADS = "uploads"
LONGEST_CELL = 60
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}


def state(facts: ProjectFacts) -> StepState:
    """Done once there is a policy whose data can be read."""
    if facts.fault is not None:
        return StepState.open("cannot be read")
    if facts.table is None:
        return StepState.open("nothing chosen yet")
    return StepState.done(f"{facts.table.num_rows:,} rows")


def show(facts: ProjectFacts, query: Query) -> dict[str, Any]:
    """The files of the folder, and a page of the table."""
    files, uploads = facts.space.folder.data_files(), uploaded(facts.space)
    return {
        "files": [(name, _size(size), name in uploads) for name, size in files],
        "profiles": [(each.name, each.title) for each in PROFILES.values()],
        "delimiters": DELIMITERS,
        "preview": None if facts.table is None else _preview(facts.table, query),
        "settings": _settings(facts),
        "folder": facts.space.folder.root,
        "endings": ", ".join(sorted(TABLES)),
    }


def _settings(facts: ProjectFacts) -> dict[str, Any] | None:
    """How the source is read; also where it cannot be, so that this can be mended."""
    policy, table = facts.policy, facts.table
    if policy is None or (policy.data.path is None and policy.data.url is None):
        return None
    said = policy.data
    return {
        "name": source_name(policy),
        "database": said.url is not None,
        "plain": said.url is None and _is_plain(policy),
        "found": None if table is None else (_between(table), encoding_of(table)),
        "delimiter": DELIMITERS.get(said.delimiter or "", said.delimiter or ""),
        "encoding": said.encoding or "",
        "multiline": MEANT if said.multiline else "",
        "row_numbers": table is not None and has_row_numbers(table),
        "key": list(said.key),
        "missing": list(said.missing),
        "missing_as": said.missing_as,
    }


def _is_plain(policy: Policy) -> bool:
    """Whether the source is a text file, with a delimiter and an encoding."""
    try:
        return format_of(Path(policy.data.path or "")) is Format.CSV
    except SfumatoError:
        return False


def _between(table: pa.Table) -> str:
    return DELIMITERS.get(delimiter_of(table), delimiter_of(table))


def _preview(table: pa.Table, query: Query) -> dict[str, Any]:
    pages = max(1, math.ceil(table.num_rows / PAGE_ROWS))
    asked = query.get("page", "1")
    page = min(max(int(asked), 1), pages) if asked.isdigit() and len(asked) < 12 else 1
    first = (page - 1) * PAGE_ROWS
    part = table.slice(first, PAGE_ROWS)
    columns = [_cells(part, name) for name in table.column_names]
    return {
        "names": list(table.column_names),
        "rows": [
            (first + place + 1, cells)
            for place, cells in enumerate(zip(*columns, strict=True))
        ],
        "page": page,
        "pages": pages,
        "total": table.num_rows,
    }


def _cells(part: pa.Table, name: str) -> list[str]:
    """The cells of one page of a column, as text and not too long."""
    column = part.column(name)
    if not has_text(column):
        return ["(no text)"] * len(column)
    texts = as_text(column, name=name).to_pylist()
    return ["" if text is None else _short(text) for text in texts]


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_CELL else text[: LONGEST_CELL - 1] + "…"


def _size(size: int) -> str:
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.4g} {unit}"
        size //= 1000
    return f"{size:,} GB"


def commands(facts: ProjectFacts) -> list[str]:
    """`init` on the chosen file."""
    if facts.policy is None or facts.policy.data.path is None:
        return ["sfumato init DATA -o policy.toml"]
    path, name = facts.policy.data.path, facts.space.folder.policy_name
    return [f"sfumato init {shlex.quote(path)} -o {shlex.quote(name)}"]


def uploaded(space: Workspace) -> list[str]:
    """The files that came by upload, which may be deleted here."""
    return list(space.folder.read_note(UPLOADS).get("names", []))


def remember_upload(space: Workspace, place: Path) -> None:
    """Note that a file came by upload."""
    names = [*uploaded(space), place.relative_to(space.folder.root).as_posix()]
    space.folder.write_note(UPLOADS, {"names": names})


def choose(space: Workspace, form: SentForm) -> str | None:
    """Propose a policy for a file of the folder, in the place of the old one."""
    refuse_while_running(space)
    name = form.text("file")
    place = space.folder.data_file(name)
    path = place.relative_to(space.folder.root).as_posix()
    marks = _listed(form, "missing")
    settings = {
        "delimiter": _delimiter(form.text("delimiter")),
        "encoding": form.text("encoding").strip() or None,
        "multiline": form.text("multiline") == MEANT,
        "missing": ["", *marks] if marks else None,
        "profile": form.text("profile") or None,
    }
    revision = form.text("revision")

    def finish(result: dict[str, Any]) -> None:
        what = f"policy proposed for {path}"
        space.history.write(result["text"], what=what, revision=revision)
        space.folder.write_note("profile", result["profile"])

    arguments = {"root": str(space.folder.root), "name": path, "settings": settings}
    title = "Looking at the data"
    task = space.tasks.begin("propose", title, arguments, finish)
    task.ended.wait(SHORT_WAIT)
    return None


def _delimiter(text: str) -> str | None:
    return {name: mark for mark, name in DELIMITERS.items()}.get(text, text or None)


def reading(space: Workspace, form: SentForm) -> str | None:
    """Change how the source is read: marks, delimiter, encoding, key."""
    refuse_while_running(space)
    said = space.require_policy().data
    marks = ["", *dict.fromkeys(mark for mark in _listed(form, "missing"))]
    settings: dict[str, Any] = {
        "data.missing": marks,
        "data.missing_as": form.text("missing_as"),
    }
    for name, sent in (
        ("delimiter", _delimiter(form.text("delimiter"))),
        ("encoding", form.text("encoding").strip() or None),
        ("multiline", form.text("multiline") == MEANT),
        ("key", _listed(form, "key") or None),
    ):
        if name in form.fields and (sent or getattr(said, name)):
            settings[f"data.{name}"] = sent
    what = "how the data are read"
    space.history.edit(settings, what=what, revision=form.text("revision"))
    return None


def _listed(form: SentForm, name: str) -> list[str]:
    """The names or marks of a field, which commas separate."""
    return [each.strip() for each in form.text(name).split(",") if each.strip()]


def again(space: Workspace, _form: SentForm) -> str | None:
    """Read the source again; a server does not tell when a table changed."""
    refuse_while_running(space)
    space.sources.forget()
    return None


def example(space: Workspace, form: SentForm) -> str | None:
    """Put the embedded hospital table into the folder, with its policy."""
    refuse_while_running(space)
    root = space.folder.root
    with tempfile.TemporaryDirectory() as aside:
        made = write_demo(Path(aside) / "demo").parent
        for place in sorted(made.rglob("*")):
            target = root / place.relative_to(made)
            if place.is_dir():
                target.mkdir(mode=0o700, exist_ok=True)
            elif place.name != POLICY:
                _refuse_other(target, place)
                shutil.copyfile(place, target)
                target.chmod(OWN_FILE)
        text = (made / POLICY).read_text(encoding="utf-8")
    space.folder.forget_note("profile")
    space.history.write(
        text, what="the embedded example", revision=form.text("revision")
    )
    return None


def _refuse_other(target: Path, place: Path) -> None:
    """Refuse to overwrite a file of the user's."""
    if target.exists() and target.read_bytes() != place.read_bytes():
        raise UsageError(
            f"The folder has another file '{target.name}'.",
            hint=f"Rename it; the example brings its own, and '{HIERARCHIES}'.",
        )


def delete(space: Workspace, form: SentForm) -> str | None:
    """Delete an upload."""
    refuse_while_running(space)
    name = form.text("file")
    if name not in uploaded(space):
        raise UsageError(
            "Only files that were uploaded are deleted here.",
            hint="Delete others in the project folder.",
        )
    space.folder.data_file(name).unlink()
    kept = [each for each in uploaded(space) if each != name]
    space.folder.write_note(UPLOADS, {"names": kept})
    return None


STEP = StudioStep(
    key="data",
    title="Data",
    state=state,
    show=show,
    commands=commands,
    changes={
        "choose": choose,
        "reading": reading,
        "again": again,
        "example": example,
        "delete": delete,
    },
)
