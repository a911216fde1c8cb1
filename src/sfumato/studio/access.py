"""Who may use the studio: a one-time token or a password, then a cookie."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from dataclasses import dataclass, field

MOST_FAILURES = 10
"""Wrong passwords, after which the studio has to be started again."""
ROUNDS = 200_000


@dataclass(eq=False)
class Access:
    """The secrets of one start of the studio."""

    host: str
    port: int
    tls: bool = False
    password: str | None = field(default=None, repr=False)
    """Asked for where the studio is not on the loopback address."""
    _token: str | None = field(init=False, repr=False)
    _session: str = field(init=False, repr=False)
    _salt: bytes = field(init=False, repr=False)
    _hashed: bytes | None = field(init=False, default=None, repr=False)
    _failures: int = field(init=False, default=0)
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._session = secrets.token_urlsafe(32)
        self._salt = secrets.token_bytes(16)
        self._token = secrets.token_urlsafe(32) if self.password is None else None
        if self.password is not None:
            self._hashed = self._hash(self.password)
            self.password = None

    @property
    def origin(self) -> str:
        """Where pages of the studio come from."""
        scheme = "https" if self.tls else "http"
        return f"{scheme}://{_bracketed(self.host)}:{self.port}"

    @property
    def address(self) -> str:
        """What the browser opens; with the token, where there is one."""
        end = "" if self._token is None else f"?token={self._token}"
        return f"{self.origin}/enter{end}"

    @property
    def asks_password(self) -> bool:
        return self._hashed is not None

    @property
    def locked(self) -> bool:
        """Whether too many wrong passwords came."""
        return self._failures >= MOST_FAILURES

    @property
    def cookie(self) -> str:
        """The name of the cookie; cookies do not tell ports apart."""
        return f"sfumato-studio-{self.port}"

    @property
    def set_cookie(self) -> str:
        """The header that gives a browser its session."""
        secure = "; Secure" if self.tls else ""
        given = f"{self.cookie}={self._session}; Path=/"
        return f"{given}; HttpOnly; SameSite=Strict{secure}"

    @property
    def change_token(self) -> str:
        """What every form carries, so that no other page can send one."""
        return hmac.new(self._session.encode(), b"change", "sha256").hexdigest()

    def knows_host(self, host: str) -> bool:
        """Whether a request names this studio, and not a name that leads here."""
        names = {self.host.lower()}
        if self.host in ("127.0.0.1", "::1"):
            names = {"127.0.0.1", "::1", "localhost"}
        return host.lower() in {f"{_bracketed(name)}:{self.port}" for name in names}

    def knows_origin(self, origin: str, host: str) -> bool:
        """Whether a change comes from a page of this studio."""
        return origin == f"{'https' if self.tls else 'http'}://{host.lower()}"

    def knows_session(self, value: str | None) -> bool:
        return value is not None and _same(value, self._session)

    def knows_change(self, value: str | None) -> bool:
        return value is not None and _same(value, self.change_token)

    def spend_token(self, value: str) -> bool:
        """Whether this is the one-time token; it is used up by that."""
        with self._lock:
            right = self._token is not None and _same(value, self._token)
            if right:
                self._token = None
            return right

    def try_password(self, value: str) -> bool:
        """Whether this is the password; after ten wrong ones none is right."""
        with self._lock:
            if self._hashed is None or self.locked:
                return False
            right = hmac.compare_digest(self._hash(value), self._hashed)
            self._failures += not right
            return right

    def _hash(self, text: str) -> bytes:
        return hashlib.pbkdf2_hmac("sha256", text.encode(), self._salt, ROUNDS)


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
