"""What every request must show before any page sees it, and what every answer says."""

from __future__ import annotations

import os
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING

from starlette.responses import PlainTextResponse

from sfumato.studio.access import Access

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

RULES = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: Mapping[bytes, bytes] = {
    b"content-security-policy": RULES.encode(),
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"cache-control": b"no-store",
}
OPEN = ("/enter", "/static/")
"""Where no session is needed."""
READING = ("GET", "HEAD")
UNEXPECTED = "An unexpected error of type {}."
WRONG_HOST = "This is not the address that the studio was started at."
WRONG_ORIGIN = "A change is taken only from a page of this studio."
NO_SESSION = (
    "This browser is not known to the studio.\n"
    "Open the address that 'sfumato studio' printed, or start it again for a new one."
)


class RequestGuard:
    """Refuses foreign hosts, foreign origins and unknown browsers."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            # There are no sockets here, and the lifespan has nothing to guard.
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        started = False

        async def guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                said = {name.lower() for name, _ in message["headers"]}
                more = [(n, v) for n, v in HEADERS.items() if n not in said]
                message["headers"] = [*message["headers"], *more]
            await send(message)

        answer = self._refusal(scope) or self._app
        try:
            await answer(scope, receive, guarded)
        except Exception as fault:
            # What an error says may hold a cell, and the server would log it.
            if os.environ.get("SFUMATO_DEBUG"):
                raise
            if not started:
                text = UNEXPECTED.format(type(fault).__name__)
                failed = PlainTextResponse(text, status_code=500)
                await failed(scope, receive, guarded)

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        """The answer to a request that is not let in."""
        headers = [
            (n.decode("latin-1"), v.decode("latin-1")) for n, v in scope["headers"]
        ]
        hosts = [value for name, value in headers if name == "host"]
        if len(hosts) != 1 or not self._access.knows_host(hosts[0]):
            return PlainTextResponse(WRONG_HOST, status_code=421)
        told = dict(headers)
        if scope["method"] not in READING:
            origin = told.get("origin", "")
            if not self._access.knows_origin(origin, hosts[0]):
                return PlainTextResponse(WRONG_ORIGIN, status_code=403)
        path = scope["path"]
        if path == OPEN[0] or path.startswith(OPEN[1]):
            return None
        if not self._access.knows_session(_cookie(told, self._access.cookie)):
            return PlainTextResponse(NO_SESSION, status_code=401)
        return None


def _cookie(headers: Mapping[str, str], name: str) -> str | None:
    jar: SimpleCookie = SimpleCookie()
    try:
        jar.load(headers.get("cookie", ""))
    except CookieError:
        return None
    found = jar.get(name)
    return None if found is None else found.value
