"""Read what a browser sends: small forms, and uploads streamed to disk."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from python_multipart import MultipartParser
from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import parse_options_header

from sfumato.errors import RefusedError, UsageError
from sfumato.io.atomic_files import OWN_DIRECTORY, OWN_FILE
from sfumato.studio.access import Access
from sfumato.studio.project_folder import TABLES, ProjectFolder

if TYPE_CHECKING:
    from starlette.requests import Request

LARGEST_FORM = 4 << 20
LARGEST_FIELD = 1 << 16
LARGEST_UPLOAD = 2 << 30
CHANGE = "change"
"""The field of every form that shows where it comes from."""
UNASKED = "The form does not come from a page of this studio."
PLAIN = re.compile(r"[^\w.+-]+")


@dataclass(frozen=True)
class SentForm:
    """The fields of a form."""

    fields: Mapping[str, Sequence[str]]

    def text(self, name: str, default: str = "") -> str:
        """The last value of a field."""
        values = self.fields.get(name)
        return values[-1] if values else default

    def all(self, name: str) -> list[str]:
        """Every value of a field."""
        return list(self.fields.get(name, ()))

    def number(self, name: str) -> int:
        """A whole number."""
        text = self.text(name)
        if not re.fullmatch(r"-?\d{1,12}", text):
            raise UsageError(f"'{name}' is not a whole number.", hint="For example 5.")
        return int(text)


async def read_form(request: Request, access: Access) -> SentForm:
    """The fields of a form that a page of this studio sent."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_FORM:
            raise _too_large("form", LARGEST_FORM)
    found: dict[str, list[str]] = {}
    for name, value in parse_qsl(
        body.decode("utf-8", "replace"), keep_blank_values=True
    ):
        found.setdefault(name, []).append(value)
    form = SentForm(found)
    given = request.headers.get("x-change-token") or form.text(CHANGE)
    if not access.knows_change(given):
        raise RefusedError(UNASKED, hint="Load the page again.")
    return form


def _too_large(what: str, most: int) -> UsageError:
    return UsageError(
        f"The {what} is larger than {most:,} bytes.",
        hint="Put the file into the project folder instead.",
    )


@dataclass(eq=False)
class UploadReader:
    """Takes a form with one file apart, and writes the file as it comes."""

    folder: ProjectFolder
    access: Access
    most: int = LARGEST_UPLOAD
    under: str = ""
    """The folder inside the project that the file goes to."""
    fields: dict[str, str] = field(default_factory=dict)
    path: Path | None = None
    _header: list[bytes] = field(default_factory=list)
    _name: str = ""
    _file_name: str | None = None
    _value: bytearray = field(default_factory=bytearray)
    _handle: int | None = None
    _size: int = 0
    _whole: bool = False

    async def read(self, request: Request) -> Path:
        """Write the file of a form to the project folder; return its path."""
        kind, options = parse_options_header(request.headers.get("content-type"))
        boundary = options.get(b"boundary")
        if kind != b"multipart/form-data" or not boundary:
            raise UsageError("This is no upload.", hint="Choose a file.")
        parser = MultipartParser(boundary, self._callbacks())  # type: ignore[arg-type]
        try:
            async for part in request.stream():
                parser.write(part)
            parser.finalize()
        except MultipartParseError:
            self._forget()
            raise _cut_short() from None
        except BaseException:
            self._forget()
            raise
        if self._handle is not None or not self._whole:
            self._forget()
            raise _cut_short()
        if self.path is None:
            raise UsageError("No file was chosen.", hint="Choose a file.")
        return self.path

    def _callbacks(self) -> dict[str, object]:
        return {
            "on_part_begin": self._begin,
            "on_header_field": self._header_part,
            "on_header_value": self._header_part,
            "on_header_end": lambda: self._header.append(b"\n"),
            "on_headers_finished": self._open,
            "on_part_data": self._data,
            "on_part_end": self._end,
            "on_end": self._finish,
        }

    def _begin(self) -> None:
        self._header, self._value = [], bytearray()
        self._name, self._file_name = "", None

    def _header_part(self, data: bytes, start: int, end: int) -> None:
        self._header.append(data[start:end])

    def _open(self) -> None:
        lines = b"".join(self._header).split(b"\n")
        lead = b"content-disposition"
        for line in lines:
            if line.lower().startswith(lead):
                _, options = parse_options_header(line[len(lead) :].lstrip(b": "))
                self._name = options.get(b"name", b"").decode("utf-8", "replace")
                told = options.get(b"filename")
                self._file_name = (
                    None if told is None else told.decode("utf-8", "replace")
                )
        if self._file_name:
            self._begin_file(self._file_name)

    def _begin_file(self, name: str) -> None:
        """Open the file, once it is clear that our own page sends it."""
        if not self.access.knows_change(self.fields.get(CHANGE)):
            raise RefusedError(UNASKED, hint="Load the page again.")
        if self.path is not None:
            raise UsageError("More than one file was sent.", hint="Send one.")
        self.path = _free(self.folder, _plain_name(name), self.under)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        self._handle = os.open(self.path, flags, OWN_FILE)

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._handle is None:
            self._value += data[start:end]
            if len(self._value) > LARGEST_FIELD:
                raise _too_large("field", LARGEST_FIELD)
            return
        self._size += end - start
        if self._size > self.most:
            raise _too_large("upload", self.most)
        view = memoryview(data)[start:end]
        while view:
            view = view[os.write(self._handle, view) :]

    def _end(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
        elif self._file_name is None:
            self.fields[self._name] = self._value.decode("utf-8", "replace")

    def _finish(self) -> None:
        self._whole = True

    def _forget(self) -> None:
        """Remove what was written of a file that did not come whole."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
        if self.path is not None:
            self.path.unlink(missing_ok=True)
            self.path = None


def _cut_short() -> UsageError:
    return UsageError("The upload was cut short.", hint="Send the file again.")


def _plain_name(name: str) -> str:
    """The name of an upload, without directories and unusual characters."""
    last = re.split(r"[/\\]", name)[-1]
    plain = PLAIN.sub("_", last).lstrip(".")[-100:]
    if Path(plain).suffix.lower() not in TABLES:
        raise UsageError(
            "The file is no table that Sfumato reads, by the end of its name.",
            hint=f"There are: {', '.join(sorted(TABLES))}.",
        )
    return plain


def _free(folder: ProjectFolder, name: str, under: str) -> Path:
    """A place for an upload that no file has yet."""
    stem, dot, end = name.partition(".")
    inside = folder.inside(under) if under else folder.root
    inside.mkdir(mode=OWN_DIRECTORY, exist_ok=True)
    for number in range(1, 1000):
        tried = name if number == 1 else f"{stem}-{number}{dot}{end}"
        place = inside / tried
        if not place.exists() and not place.is_symlink():
            return place
    raise UsageError("Too many files have this name.", hint="Delete some of them.")
