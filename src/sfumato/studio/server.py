"""The web application: routes, pages, changes, and what an error looks like."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Route

from sfumato.errors import OutputError, RefusedError, SfumatoError, UsageError
from sfumato.policy import Policy
from sfumato.report.attack_verdict import MARKS
from sfumato.report.templating import fill, text_of_template
from sfumato.studio.access import Access
from sfumato.studio.attack_step import STEP as ATTACKS
from sfumato.studio.columns_step import STEP as COLUMNS
from sfumato.studio.compare_step import STEP as COMPARE
from sfumato.studio.data_step import STEP as DATA
from sfumato.studio.data_step import remember_upload
from sfumato.studio.form_input import SentForm, UploadReader, read_form
from sfumato.studio.hierarchies_step import STEP as HIERARCHIES
from sfumato.studio.hierarchies_step import exported, take_file
from sfumato.studio.protection_step import STEP as PROTECTION
from sfumato.studio.protection_step import typed
from sfumato.studio.release_step import STEP as RELEASE
from sfumato.studio.release_step import file_of
from sfumato.studio.request_guard import RequestGuard
from sfumato.studio.source_cache import source_name, without_secrets
from sfumato.studio.step_base import Progressed, StepState, StudioStep
from sfumato.studio.studio_projects import StudioProjects
from sfumato.studio.workspace import ProjectFacts, Workspace

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp

STEPS: tuple[StudioStep, ...] = (
    DATA,
    COLUMNS,
    HIERARCHIES,
    PROTECTION,
    COMPARE,
    ATTACKS,
    RELEASE,
)
PACKAGE = "sfumato.studio"
STYLES = {"report.css": "style.css", "comparison.css": "comparison.css"}
"""Styles of the report, which the studio uses too."""
OWN = {
    "studio.css": "text/css",
    "studio.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
REPORT_RULES = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
"""The report is one file with its own styles, and no script of it runs."""
UPLOAD_ROOM = 1.05
"""An upload is somewhat longer than its file."""


class StudioApplication:
    """All pages of the studio."""

    def __init__(self, projects: StudioProjects, access: Access) -> None:
        self.projects, self.access = projects, access
        self._steps = {step.key: step for step in STEPS}
        self._changing = asyncio.Lock()

    def app(self) -> ASGIApp:
        """The application behind its guard."""
        routes = [
            Route("/", self.first),
            Route("/enter", self.enter, methods=["GET", "POST"]),
            Route("/static/{name}", self.static),
            Route("/task", self.task),
            Route("/task/{action}", self.change_task, methods=["POST"]),
            Route("/history/{action}", self.change_history, methods=["POST"]),
            Route("/projects", self.show_projects),
            Route("/projects/{action}", self.change_project, methods=["POST"]),
            Route("/data/upload", self.upload, methods=["POST"]),
            Route("/hierarchies/export", self.export_hierarchy),
            Route("/hierarchies/import", self.import_hierarchy, methods=["POST"]),
            Route("/protection/outlook", self.try_requirement, methods=["POST"]),
            Route("/release/file", self.release_file),
            Route("/{step}", self.show_step),
            Route("/{step}/{action}", self.change_step, methods=["POST"]),
        ]
        inner = Starlette(routes=routes, exception_handlers={Exception: self.failed})
        return RequestGuard(inner, self.access)

    @property
    def space(self) -> Workspace:
        return self.projects.current

    async def failed(self, _request: Request, fault: Exception) -> Response:
        """A page for an error that nobody expected: its type, and ways to go on."""
        text = await run_in_threadpool(
            lambda: fill(
                "failed.html.jinja",
                package=PACKAGE,
                kind=type(fault).__name__,
                **self._frame(None),
            )
        )
        return HTMLResponse(text, status_code=500)

    async def first(self, _request: Request) -> Response:
        """Go on where the work stopped: the first step that is not done."""
        facts = await run_in_threadpool(ProjectFacts.of, self.space)
        waiting = [
            s for s in STEPS if _state(s, facts).progressed is not Progressed.DONE
        ]
        return RedirectResponse(f"/{(waiting or STEPS)[0].key}", status_code=303)

    async def enter(self, request: Request) -> Response:
        """Exchange the one-time token, or the password, for a cookie."""
        if self.access.asks_password:
            return await self._enter_by_password(request)
        if request.method == "POST" or not self.access.spend_token(
            request.query_params.get("token", "")
        ):
            return PlainTextResponse(
                "This address was used before, or is not the one that was printed.\n"
                "Start the studio again for a new one.",
                status_code=403,
            )
        return self._welcome()

    async def _enter_by_password(self, request: Request) -> Response:
        wrong = False
        if request.method == "POST":
            body = await request.body()
            form = SentForm({"password": [_password_of(body[:4096])]})
            right = await run_in_threadpool(
                self.access.try_password, form.text("password")
            )
            if right:
                return self._welcome()
            wrong = True
        locked = self.access.locked
        page = fill("enter.html.jinja", package=PACKAGE, wrong=wrong, locked=locked)
        return HTMLResponse(page, status_code=403 if wrong or locked else 200)

    def _welcome(self) -> Response:
        answer = RedirectResponse("/", status_code=303)
        answer.headers["set-cookie"] = self.access.set_cookie
        return answer

    async def static(self, request: Request) -> Response:
        """Style sheets and the script."""
        name = request.path_params["name"]
        if name in STYLES:
            text = text_of_template(STYLES[name])
            return Response(text, media_type="text/css")
        if name in OWN:
            text = files(PACKAGE).joinpath("static", name).read_text("utf-8")
            return Response(text, media_type=OWN[name])
        return PlainTextResponse("There is no such file.", status_code=404)

    async def task(self, _request: Request) -> Response:
        """How far the task is, for the script."""
        current = self.space.tasks.current
        return JSONResponse({} if current is None else current.record())

    async def show_step(self, request: Request) -> Response:
        """The page of a step."""
        step = self._steps.get(request.path_params["step"])
        if step is None:
            return PlainTextResponse("There is no such page.", status_code=404)
        return await self._page(step, dict(request.query_params))

    async def change_step(self, request: Request) -> Response:
        """Do what a form of a step asks for, then show its page again."""
        step = self._steps.get(request.path_params["step"])
        if step is None or request.path_params["action"] not in step.changes:
            return PlainTextResponse("There is no such page.", status_code=404)
        change = step.changes[request.path_params["action"]]
        try:
            form = await read_form(request, self.access)
            async with self._changing:
                place = await run_in_threadpool(change, self.space, form)
        except (SfumatoError, OSError) as fault:
            return await self._page(step, {}, fault=_told(fault))
        return RedirectResponse(place or f"/{step.key}", status_code=303)

    async def upload(self, request: Request) -> Response:
        """Write a file into the project folder, as it comes."""
        try:
            reader = UploadReader(
                self.space.folder, self.access, self.projects.most_bytes
            )
            remember_upload(self.space, await _received(reader, request))
        except (SfumatoError, OSError) as fault:
            return await self._refused_upload(DATA, _told(fault))
        return RedirectResponse("/data", status_code=303)

    async def import_hierarchy(self, request: Request) -> Response:
        """Write a hierarchy file, and use it for a column."""
        reader = UploadReader(
            self.space.folder, self.access, self.projects.most_bytes, HIERARCHIES.key
        )
        try:
            place = await _received(reader, request)
            path = place.relative_to(self.space.folder.root).as_posix()
            told = reader.fields
            name, revision = told.get("column", ""), told.get("revision", "")
            async with self._changing:
                back = await run_in_threadpool(
                    take_file, self.space, name, path, revision
                )
        except (SfumatoError, OSError) as fault:
            if reader.path is not None:
                reader.path.unlink(missing_ok=True)
            return await self._refused_upload(HIERARCHIES, _told(fault))
        return RedirectResponse(back, status_code=303)

    async def export_hierarchy(self, request: Request) -> Response:
        """The hierarchy of a column as a CSV file."""
        name = request.query_params.get("column", "")

        def text() -> str:
            return exported(ProjectFacts.of(self.space), name)

        try:
            found = await run_in_threadpool(text)
        except SfumatoError as fault:
            return await self._page(HIERARCHIES, {}, fault=fault)
        told = {"content-disposition": "attachment; filename=hierarchy.csv"}
        return Response(found, media_type="text/csv; charset=utf-8", headers=told)

    async def try_requirement(self, request: Request) -> Response:
        """Whether what is typed can be met, for the script."""
        shown: dict[str, Any] = {"fault": None}
        try:
            form = await read_form(request, self.access)
            shown["each"] = await run_in_threadpool(typed, self.space, form)
        except SfumatoError as fault:
            shown["fault"] = fault
        token, revision = self.access.change_token, _revision(self.space)
        text = fill(
            "outlook.html.jinja",
            package=PACKAGE,
            change=token,
            revision=revision,
            **shown,
        )
        return HTMLResponse(text, status_code=_status(shown["fault"]))

    async def release_file(self, request: Request) -> Response:
        """A publishable file; the report may be looked at, the rest is taken away."""
        name = request.query_params.get("name", "")
        try:
            place = await run_in_threadpool(
                lambda: file_of(ProjectFacts.of(self.space), name)
            )
        except SfumatoError as fault:
            return await self._page(RELEASE, {}, fault=fault)
        if name == "report.html" and "show" in request.query_params:
            return FileResponse(
                place, headers={"content-security-policy": REPORT_RULES}
            )
        return FileResponse(place, filename=name)

    async def _refused_upload(self, step: StudioStep, fault: SfumatoError) -> Response:
        answer = await self._page(step, {}, fault=fault)
        # What is left of an upload that is refused is not read.
        answer.headers["connection"] = "close"
        return answer

    async def change_task(self, request: Request) -> Response:
        """Cancel the task, or dismiss what it said."""
        try:
            form = await read_form(request, self.access)
        except SfumatoError as fault:
            return await self._page(DATA, {}, fault=fault)
        tasks, action = self.space.tasks, request.path_params["action"]
        if action == "cancel" and tasks.current is not None:
            tasks.current.stop()
            await run_in_threadpool(tasks.current.ended.wait, 3.0)
        elif action == "dismiss":
            tasks.dismiss()
        return RedirectResponse(self._back(form), status_code=303)

    async def change_history(self, request: Request) -> Response:
        """Undo or redo a change of the policy."""
        step = DATA
        try:
            form = await read_form(request, self.access)
            step = self._steps.get(form.text("back"), DATA)
            go = {"undo": self.space.history.undo, "redo": self.space.history.redo}
            action = request.path_params["action"]
            if action not in go:
                return PlainTextResponse("There is no such page.", status_code=404)
            async with self._changing:
                await run_in_threadpool(go[action])
        except SfumatoError as fault:
            return await self._page(step, {}, fault=fault)
        return RedirectResponse(f"/{step.key}", status_code=303)

    async def show_projects(self, _request: Request) -> Response:
        """The projects that can be opened."""
        return self._projects_page()

    async def change_project(self, request: Request) -> Response:
        """Open another project, or begin a new one."""
        try:
            form = await read_form(request, self.access)
            name, action = form.text("name"), request.path_params["action"]
            async with self._changing:
                await run_in_threadpool(self.projects.switch, name, new=action == "new")
        except SfumatoError as fault:
            return self._projects_page(fault)
        return RedirectResponse("/", status_code=303)

    def _back(self, form: SentForm) -> str:
        back = form.text("back")
        return f"/{back}" if back in self._steps else "/"

    def _projects_page(self, fault: SfumatoError | None = None) -> Response:
        page = fill(
            "projects.html.jinja",
            package=PACKAGE,
            projects=self.projects.names(),
            home=str(self.projects.home),
            current=self.space.folder.root,
            **self._frame(fault),
        )
        return HTMLResponse(page, status_code=_status(fault))

    async def _page(
        self,
        step: StudioStep,
        query: Mapping[str, str],
        *,
        fault: SfumatoError | None = None,
    ) -> Response:
        text = await run_in_threadpool(self._text, step, query, fault)
        return HTMLResponse(text, status_code=_status(fault))

    def _text(
        self, step: StudioStep, query: Mapping[str, str], fault: SfumatoError | None
    ) -> str:
        facts = ProjectFacts.of(self.space)
        try:
            shown = step.show(facts, query)
        except SfumatoError as found:
            fault, shown = fault or found, step.show(facts, {})
        source = "" if facts.policy is None else _named(facts.policy)
        return fill(
            f"{step.key}_step.html.jinja",
            package=PACKAGE,
            step=step,
            state=_state(step, facts),
            source=source,
            rail=_rail(facts, step),
            facts=facts,
            commands=step.commands(facts),
            policy_text=_policy_text(self.space),
            **self._frame(fault or facts.fault),
            **shown,
        )

    def _frame(self, fault: SfumatoError | None) -> dict[str, Any]:
        """What every page shows around its content."""
        history = self.space.history
        current = self.space.tasks.current
        return {
            "fault": fault,
            "change": self.access.change_token,
            "revision": _revision(self.space),
            "project": self.space.folder.name,
            "undo": history.can_undo,
            "redo": history.can_redo,
            "task": None if current is None else current.record(),
        }


async def _received(reader: UploadReader, request: Request) -> Path:
    """The file of an upload; one that says it is too large is not read at all."""
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length) > UPLOAD_ROOM * reader.most + 4096:
        raise UsageError(
            f"The upload is larger than {reader.most:,} bytes.",
            hint="Put the file into the project folder instead.",
        )
    return await reader.read(request)


def _rail(facts: ProjectFacts, chosen: StudioStep) -> Sequence[Mapping[str, Any]]:
    states = [(step, _state(step, facts)) for step in STEPS]
    return [
        {
            "number": place,
            "key": step.key,
            "title": step.title,
            "state": str(state.progressed),
            "reason": state.reason,
            "light": state.light or "",
            "mark": MARKS[state.light] if state.light else "",
            "chosen": step is chosen,
        }
        for place, (step, state) in enumerate(states, start=1)
    ]


def _state(step: StudioStep, facts: ProjectFacts) -> StepState:
    """How far a step is; one that cannot be told is open, and its page says why."""
    try:
        return step.state(facts)
    except SfumatoError as fault:
        return StepState.open(fault.message)


def _told(fault: SfumatoError | OSError) -> SfumatoError:
    """An error as pages show it; of a full disk, what the system says of it."""
    if isinstance(fault, SfumatoError):
        return fault
    return OutputError(
        f"The project folder cannot be written: {fault.strerror or 'unknown reason'}.",
        hint="Free space on the disk, or look at the permissions of the folder.",
    )


def _named(policy: Policy) -> str:
    try:
        return source_name(policy)
    except SfumatoError:
        return ""


def _policy_text(space: Workspace) -> str:
    try:
        return without_secrets(space.read_text())
    except SfumatoError:
        return ""


def _revision(space: Workspace) -> str:
    try:
        return space.history.revision()
    except SfumatoError:
        return ""


def _password_of(body: bytes) -> str:
    from urllib.parse import parse_qs

    return parse_qs(body.decode("utf-8", "replace")).get("password", [""])[-1]


def _status(fault: SfumatoError | None) -> int:
    if fault is None:
        return 200
    return 409 if isinstance(fault, RefusedError) else 422
