"""How kernels are compiled: ahead of time into a library, or by Numba on first use.

If there is a library made from these sources (`library.py`), kernels are called in it and
Numba is not imported. Otherwise, and for kernels that the library lacks, Numba compiles;
without Numba, a missing kernel is an error that names it. With `NUMBA_DISABLE_JIT=1`
kernels run as plain Python, slowly.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from threading import Lock
from typing import Any, Protocol, TypeVar, cast

from sfumato.errors import InstallationError
from sfumato.kernels.compilation import library, options

F = TypeVar("F", bound=Callable[..., Any])


class Decorator(Protocol):
    """Compiles a function; its types stay those of its source."""

    def __call__(self, function: F, /) -> F: ...


def _decorator(chosen: Mapping[str, Any]) -> Decorator:
    """A decorator for kernels that Numba would compile with these options."""
    told = {"cache": True, **options.EVERY, **chosen}

    def decorate(function: F) -> F:
        if interpreted():
            return function
        if library.usable() is None and has_compiler():
            return cast(F, compiler().njit(**told)(function))
        return cast(F, Kernel(function, told))

    return decorate


def interpreted() -> bool:
    """Whether kernels are to run as Python."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


@cache
def has_compiler() -> bool:
    """Whether Numba is installed."""
    return importlib.util.find_spec("numba") is not None


class Kernel:
    """A kernel of the library; compiled after all where the library lacks it."""

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        self.py_func = self.__wrapped__ = function
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self.__module__ = function.__module__
        self._options = options

    def __call__(self, *values: Any) -> Any:
        """Call the kernel from Python."""
        try:
            return self._door(*values)
        except library.MissingEntryError as missing:
            return self._compiled(str(missing))(*map(_unlinked, values))

    @cached_property
    def _door(self) -> Callable[..., Any]:
        found = library.usable()
        door = found and found.door(f"{self.__module__}.{self.__name__}")
        return door or self._missing

    def _missing(self, *values: Any) -> Any:
        raise library.missing_entry(f"{self.__module__}.{self.__name__}", values)

    def _compiled(self, missing: str) -> Any:
        if not has_compiler():
            raise _without_compiler(missing)
        return self.dispatcher

    @cached_property
    def dispatcher(self) -> Any:
        """The same kernel as Numba compiles it."""
        return compiler().njit(**self._options)(self.py_func)

    @property
    def _numba_type_(self) -> Any:
        """What other kernels take this one for, when Numba compiles them."""
        return self.dispatcher._numba_type_

    @property
    def targetoptions(self) -> Any:
        """Numba's name for the options: it looks here for what is to be inlined."""
        return self.dispatcher.targetoptions


door = _decorator(options.DOOR)
"""For kernels that only Python calls."""
both = _decorator(options.BOTH)
"""For kernels that Python and kernels call."""
both_numpy = _decorator(options.BOTH_NUMPY)
inner = _decorator(options.INNER)
inner_numpy = _decorator(options.INNER_NUMPY)
"""The same, with divisions as NumPy does them."""
inlined = _decorator(options.INLINED)
inlined_numpy = _decorator(options.INLINED_NUMPY)
"""For kernels that become part of their callers before these are compiled."""


def pointer(function: Any, gives: str, *values: Any) -> Any:
    """A compiled function that kernels call through its address.

    `values` are examples of what it takes, `gives` names what it returns. It must not
    raise: nobody hears of it, and the call gives 0.
    """
    plain = getattr(function, "py_func", function)
    if interpreted():
        return plain
    name = f"{plain.__module__}.{plain.__name__}"
    found = library.usable()
    takes = ",".join(map(library.kind_of, values)) if found else ""
    address = found and found.pointer(name, takes)
    if address:
        address.compiled = lambda: _compiled_pointer(plain, gives, values)
        return address
    if not has_compiler():
        raise _without_compiler(f"*{name}({takes})")
    return _compiled_pointer(plain, gives, values)


def _compiled_pointer(function: Any, gives: str, values: Sequence[Any]) -> Any:
    numba = compiler()
    kinds = [numba.typeof(_unlinked(value)) for value in values]
    return _pointer_of(function, getattr(numba.types, gives)(*kinds))


@cache
def _pointer_of(function: Any, signature: Any) -> Any:
    return compiler().cfunc(signature, cache=True)(function)


def _unlinked(value: Any) -> Any:
    """A value with pointers compiled by Numba in place of the library's."""
    if isinstance(value, library.Pointer):
        return value.compiled()
    if isinstance(value, tuple):
        parts = [_unlinked(part) for part in value]
        return tuple(parts) if type(value) is tuple else type(value)(*parts)
    return value


def intrinsic(function: Any) -> Any:
    """A piece of code that Numba generates in place; only kernels can call it."""
    if library.usable() is None and has_compiler() and not interpreted():
        return importlib.import_module("numba.extending").intrinsic(function)
    return Intrinsic(function)


class Intrinsic:
    """An intrinsic, registered with Numba when it compiles something that uses it."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def __call__(self, value: Any) -> Any:
        """What it does in Python: it changes how a value is held, not the value."""
        return value

    @cached_property
    def _numba_type_(self) -> Any:
        made = importlib.import_module("numba.extending").intrinsic(self._function)
        context = importlib.import_module(
            "numba.core.registry"
        ).cpu_target.typing_context
        context.refresh()
        return context.resolve_value_type(made)


def _without_compiler(entry: str) -> InstallationError:
    which = "has no" if library.usable() else "is missing, and with it"
    return InstallationError(
        f"The library of compiled kernels {which} {entry}, and Numba, which would "
        "compile it, is not installed.",
        hint="pip install 'sfumato[jit]'",
    )


_STARTING = Lock()


@cache
def compiler() -> Any:
    """Return Numba, set up with our cache.

    Two threads that both make Numba start wait for each other for ever, each with a lock
    that the other needs: one of them starts it.
    """
    with _STARTING:
        found = importlib.import_module("numba")
        _ = importlib.import_module("numba.core.registry").cpu_target.target_context
        importlib.import_module("sfumato.kernels.compilation.safe_cache").install()
    return found


@both
def wake() -> None:
    """Do nothing; the first call of any kernel loads what all of them need."""


@contextmanager
def announced(say: Callable[[], None]) -> Iterator[None]:
    """Call `say` once, just before the first kernel inside is compiled.

    A kernel that is loaded from the cache of an earlier run is not compiled.
    """
    if library.usable() is not None or interpreted() or not has_compiler():
        yield
        return
    from sfumato.kernels.compilation.numba_events import first_compilation

    with first_compilation(say):
        yield
