"""Call kernels that were compiled ahead of time, without a compiler.

A library belongs to exactly the sources it was made from: `kernels.json` beside it has
their hash, and a library with another hash is not used. Every entry point has a
trampoline `(block, result, fault) → status`; `sfumato_call` in the library lays the
arguments of a call out as machine words, finds the trampoline by their kinds, and calls
it without the interpreter's lock.

A *kind* is the type of an argument as text: `i8` and `f8` for numbers, `i4:1C` for a
contiguous vector of 32-bit integers, `Units(i8:1C,…)` for a named tuple, `p` for a
pointer to a compiled function.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import platform
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

PACKAGE = Path(__file__).resolve().parents[2]
KERNELS = PACKAGE / "kernels"
OPTIONS = KERNELS / "compilation" / "options.py"
"""The one module beside this that changes what is compiled."""
CONSTANTS = ("data/rules.py", "hierarchies/axis.py")
"""Files outside of the kernels with numbers that are compiled in."""
FORM = 2
"""How a library is called; one of another form is not used."""
INDEX = "kernels.json"
SWITCH = "SFUMATO_LIBRARY"
"""The variable that names a directory with a library, or says `off`."""
DONE = frozenset({0, -2})
NO_ENTRY, NO_MEMORY = -100, -101
WORDS = 64
"""Machine words that a result may take."""


class Pointer(int):
    """The address of a compiled function that kernels call."""

    compiled: Callable[[], Any]
    """The same function as Numba compiles it."""


@dataclass(frozen=True)
class EntryPoint:
    """A compiled function for arguments of certain kinds."""

    symbol: str
    function: str
    takes: str
    gives: str


@dataclass(frozen=True, eq=False)
class Library:
    """The compiled kernels of this platform."""

    path: Path
    entries: Mapping[str, Sequence[EntryPoint]]
    """By the name of the function: `module.function`."""

    @cached_property
    def handle(self) -> ctypes.PyDLL:
        """The loaded library, knowing the interpreter's functions it needs."""
        handle = ctypes.PyDLL(str(self.path))
        handle.sfumato_setup(_interpreter())
        return handle

    def loads(self) -> bool:
        """Whether this system can load it: the file is whole, and for this machine."""
        try:
            return self.handle is not None
        except (OSError, AttributeError):
            return False

    def address(self, symbol: str) -> int:
        """Where a function of the library lies in memory."""
        found = ctypes.cast(getattr(self.handle, symbol), ctypes.c_void_p).value
        return int(found or 0)

    def door(self, function: str) -> Callable[..., Any] | None:
        """A way to call a function from Python; None where it has no entry."""
        entries = self.entries.get(function)
        return None if entries is None else _door(self, entries)

    def pointer(self, function: str, takes: str) -> Pointer | None:
        """The address of a function for kernels to call."""
        for entry in self.entries.get(f"*{function}", ()):
            if entry.takes == takes:
                return Pointer(self.address(entry.symbol))
        return None


@cache
def usable() -> Library | None:
    """The library that was made from these sources for this platform, if there is one."""
    for directory in _places():
        index = _index(directory / INDEX)
        if index is not None and index["hash"] == source_hash():
            found = _library(directory, index)
            if found.loads():
                return found
    return None


def _index(path: Path) -> Mapping[str, Any] | None:
    """What an index says; None where there is none, or none that can be read."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and "hash" in found else None


def _places() -> Iterator[Path]:
    """Where a library may be: as told, in the package, or in a clone's `build`."""
    told = os.environ.get(SWITCH)
    if told == "off":
        return
    if told:
        yield Path(told)
    yield PACKAGE / "library" / platform_name()
    yield PACKAGE.parents[1] / "build" / "library" / platform_name()


def platform_name() -> str:
    """The platform as directories of libraries are named."""
    if sys.platform.startswith("linux"):
        system = "musl" if platform.libc_ver()[0] != "glibc" else "linux"
    else:
        system = {"darwin": "macos", "win32": "windows"}.get(sys.platform, sys.platform)
    machine = platform.machine().lower()
    return f"{system}-{ {'amd64': 'x86_64', 'aarch64': 'arm64'}.get(machine, machine) }"


@cache
def source_hash() -> str:
    """The hash of everything that compiled code depends on."""
    digest = hashlib.sha256(f"form {FORM}".encode())
    for path in sources():
        digest.update(path.relative_to(PACKAGE).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def sources() -> list[Path]:
    """The files that decide what machine code is made, in order."""
    kernels = (path for path in KERNELS.rglob("*.py") if path.parent != OPTIONS.parent)
    return sorted([*kernels, OPTIONS, *(PACKAGE / name for name in CONSTANTS)])


def _library(directory: Path, index: Mapping[str, Any]) -> Library:
    entries: dict[str, list[EntryPoint]] = {}
    for line in index["entries"]:
        entry = EntryPoint(*line)
        entries.setdefault(entry.function, []).append(entry)
    return Library(directory / index["file"], entries)


class _Slot(ctypes.Structure):
    """An entry as the library reads it."""

    _fields_ = (("takes", ctypes.c_char_p), ("call", ctypes.c_void_p))


def _door(library: Library, entries: Sequence[EntryPoint]) -> Callable[..., Any]:
    """A function that finds its entry by the kinds of its arguments, and calls it."""
    slots = (_Slot * len(entries))(
        *(_Slot(e.takes.encode(), library.address(e.symbol)) for e in entries)
    )
    readers = [reader_of(e.gives) for e in entries]
    count, name, room = len(entries), entries[0].function, ctypes.c_int64 * WORDS
    call = library.handle.sfumato_call
    call.restype = ctypes.c_int
    call.argtypes = (
        ctypes.c_void_p,
        ctypes.c_int,
        ctypes.py_object,
        ctypes.c_void_p,
        ctypes.POINTER(ctypes.c_int),
    )

    def door(*values: Any) -> Any:
        result, which = room(), ctypes.c_int(0)
        found = call(slots, count, values, result, which)
        if found in DONE:
            reader = readers[which.value]
            return None if reader is None else reader(library, result, 0, values)[0]
        raise _fault(found, name, values)

    return door


class MissingEntryError(LookupError):
    """The library has no function for arguments of these kinds."""


def _fault(status: int, name: str, values: Sequence[Any]) -> Exception:
    if status == NO_ENTRY:
        return missing_entry(name, values)
    if status == NO_MEMORY:
        return MemoryError(f"{name} found no memory.")
    return RuntimeError(f"{name} ended with status {status}.")


def missing_entry(name: str, values: Sequence[Any]) -> MissingEntryError:
    """Say that the library has no function of this name for such arguments."""
    return MissingEntryError(f"{name}({','.join(map(kind_of, values))})")


def kind_of(value: Any) -> str:
    """The kind of an argument, as the library finds it."""
    if isinstance(value, Pointer):
        return "p"
    if value is None:
        return "n"
    if isinstance(value, bool | np.bool_):
        return "b1"
    if isinstance(value, tuple):
        name = "" if type(value) is tuple else type(value).__name__
        return f"{name}({','.join(map(kind_of, value))})"
    array = np.asarray(value)
    code = f"{array.dtype.kind}{array.dtype.itemsize}"
    if not isinstance(value, np.ndarray):
        return code
    layout = (
        "C" if array.flags.c_contiguous else "F" if array.flags.f_contiguous else "A"
    )
    return f"{code}:{array.ndim}{layout}{'' if array.flags.writeable else 'r'}"


Reader = Callable[[Library, Any, int, Sequence[Any]], tuple[Any, int]]
"""Reads a value at a place (in bytes) of a result; gives it, and the place after it."""


def reader_of(kind: str) -> Reader | None:
    """How a result of some kind is read; None where there is none."""
    if kind == "n":
        return None
    if "(" in kind:
        return _tuple_reader(kind)
    return _array_reader(kind) if ":" in kind else _number_reader(kind)


def _number_reader(kind: str) -> Reader:
    dtype = np.dtype(kind)
    size = dtype.itemsize

    def read(
        library: Library, room: Any, at: int, values: Sequence[Any]
    ) -> tuple[Any, int]:
        at = -(-at // size) * size
        return np.frombuffer(room, dtype, 1, at)[0].item(), at + size

    return read


class _Owned:
    """Memory that a kernel made, given back when nobody looks at it any more."""

    def __init__(
        self, library: Library, counter: int, interface: dict[str, Any], kept: Any
    ) -> None:
        self._give_back = library.handle.sfumato_release
        self._counter = counter
        self._kept = kept
        self.__array_interface__ = interface

    def __del__(self) -> None:
        if self._counter:
            self._give_back(ctypes.c_void_p(self._counter))


def _array_reader(kind: str) -> Reader:
    code, _, rest = kind.partition(":")
    dtype, axes = np.dtype(code), int(rest[0])

    def read(
        library: Library, room: Any, at: int, values: Sequence[Any]
    ) -> tuple[Any, int]:
        at = -(-at // 8)
        end = at + 5 + 2 * axes
        shape = tuple(room[at + 5 : at + 5 + axes])
        interface = {
            "version": 3,
            "typestr": dtype.str,
            "shape": shape,
            "strides": tuple(room[at + 5 + axes : end]),
            "data": (room[at + 4] or 1, False),
        }
        # An array without a counter of its own lies in an argument: hold on to those.
        kept = None if room[at] else values
        return np.asarray(_Owned(library, room[at], interface, kept)), end * 8

    return read


def _tuple_reader(kind: str) -> Reader:
    name, _, inside = kind.partition("(")
    readers = [_some_reader(part) for part in split_kinds(inside[:-1])]
    make = _tuple_class(name)

    def read(
        library: Library, room: Any, at: int, values: Sequence[Any]
    ) -> tuple[Any, int]:
        parts = []
        for reader in readers:
            part, at = reader(library, room, at, values)
            parts.append(part)
        return make(parts), at

    return read


def _some_reader(kind: str) -> Reader:
    reader = reader_of(kind)
    if reader is None:
        raise ValueError("A result has no place for nothing.")
    return reader


def _tuple_class(name: str) -> Callable[[list[Any]], Any]:
    if not name:
        return tuple
    module, _, attribute = name.rpartition(".")
    found = getattr(__import__(module, fromlist=[attribute]), attribute)
    return lambda parts: found(*parts)


def split_kinds(text: str) -> list[str]:
    """Kinds between commas, leaving those inside tuples together."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]] if text else []


NEEDED = (
    "PyObject_GetBuffer",
    "PyBuffer_Release",
    "PyBuffer_IsContiguous",
    "PyErr_Clear",
    "PyTuple_Size",
    "PyTuple_GetItem",
    "PyObject_Type",
    "PyType_GetFlags",
    "PyType_GetName",
    "PyUnicode_AsUTF8AndSize",
    "PyLong_AsLongLong",
    "PyFloat_AsDouble",
    "PyEval_SaveThread",
    "PyEval_RestoreThread",
    "Py_DecRef",
)
"""What the library asks of the interpreter: all of it in the stable interface of 3.11."""
TYPES = (tuple, int, bool, float, Pointer, type(None))


def _interpreter() -> Any:
    """The addresses of what the library asks of the interpreter, functions first."""
    functions = [
        ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
        for name in NEEDED
    ]
    things = [*functions, *map(id, TYPES), id(True), id(None)]
    return (ctypes.c_void_p * len(things))(*things)
