"""How kernels are compiled: ahead of time into a library, or by Numba on first use.

Where a library made from these sources is at hand (`library.py`), kernels are called in
it and Numba is not even imported. Elsewhere, and for what the library lacks, Numba
compiles; without Numba, a kernel that the library lacks is an error that names it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from typing import Any, Protocol, TypeVar, cast

from sfumato.kernels.compilation import library

WITHOUT_DOOR = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""For kernels that only kernels call: a way in from Python takes long to compile."""


F = TypeVar("F", bound=Callable[..., Any])


class Decorator(Protocol):
    """Compiles a function; its types stay those of its source."""

    def __call__(self, function: F, /) -> F: ...


def _decorator(**options: Any) -> Decorator:
    """A decorator for kernels that Numba would compile with these options."""

    def decorate(function: F) -> F:
        if library.usable() is not None:
            return cast(F, Kernel(function, options))
        return cast(F, _numba().njit(cache=True, nogil=True, **options)(function))

    return decorate


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
        raise library.MissingEntryError(f"{self.__module__}.{self.__name__}")

    def _compiled(self, missing: str) -> Any:
        try:
            return self.dispatcher
        except ModuleNotFoundError:
            raise _without_compiler(missing) from None

    @cached_property
    def dispatcher(self) -> Any:
        """The same kernel as Numba compiles it."""
        made = _numba().njit(cache=True, nogil=True, **self._options)
        return made(self.py_func)

    @property
    def _numba_type_(self) -> Any:
        """What other kernels take this one for, when Numba compiles them."""
        return self.dispatcher._numba_type_

    @property
    def targetoptions(self) -> Any:
        """Numba's name for the options: it looks here for what is to be inlined."""
        return self.dispatcher.targetoptions


door = _decorator(no_cfunc_wrapper=True)
"""For kernels that only Python calls."""
both = _decorator()
"""For kernels that Python and kernels call."""
both_numpy = _decorator(error_model="numpy")
inner = _decorator(**WITHOUT_DOOR)
inner_numpy = _decorator(error_model="numpy", **WITHOUT_DOOR)
"""The same, with divisions as NumPy does them."""
inlined = _decorator(inline="always")
inlined_numpy = _decorator(inline="always", error_model="numpy")
"""For kernels that become part of their callers before these are compiled."""


def pointer(function: Any, gives: str, *values: Any) -> Any:
    """A compiled function that kernels call without knowing its inside.

    `values` are examples of what it takes, `gives` names what it returns. It must not
    raise: nobody hears of it, and the call gives 0.
    """
    plain = getattr(function, "py_func", function)
    name = f"{plain.__module__}.{plain.__name__}"
    found = library.usable()
    takes = ",".join(map(library.kind_of, values)) if found else ""
    address = found and found.pointer(name, takes)
    if address:
        address.compiled = lambda: _compiled_pointer(plain, gives, values)
        return address
    try:
        return _compiled_pointer(plain, gives, values)
    except ModuleNotFoundError:
        raise _without_compiler(f"*{name}({takes})") from None


def _compiled_pointer(function: Any, gives: str, values: Sequence[Any]) -> Any:
    numba = _numba()
    kinds = [numba.typeof(_unlinked(value)) for value in values]
    return _pointer_of(function, getattr(numba.types, gives)(*kinds))


@cache
def _pointer_of(function: Any, signature: Any) -> Any:
    return _numba().cfunc(signature, cache=True)(function)


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
    if library.usable() is None:
        return importlib.import_module("numba.extending").intrinsic(function)
    return Intrinsic(function)


class Intrinsic:
    """An intrinsic that Numba hears of when it compiles something that uses it."""

    def __init__(self, function: Any) -> None:
        self._function = function

    @cached_property
    def _numba_type_(self) -> Any:
        made = importlib.import_module("numba.extending").intrinsic(self._function)
        context = importlib.import_module(
            "numba.core.registry"
        ).cpu_target.typing_context
        context.refresh()
        return context.resolve_value_type(made)


def _without_compiler(entry: str) -> RuntimeError:
    return RuntimeError(
        f"The compiled library has no {entry}, and Numba is not installed to compile it. "
        "Hint: pip install 'sfumato[jit]'."
    )


@cache
def _numba() -> Any:
    """The compiler, which keeps what it compiles wherever it may."""
    found = importlib.import_module("numba")
    importlib.import_module("sfumato.kernels.compilation.safe_cache").install()
    return found


@both
def wake() -> None:
    """Does nothing, but the first call of any kernel loads what all of them need."""


@contextmanager
def announced(say: Callable[[], None]) -> Iterator[None]:
    """Call `say` once, just before the first kernel inside is compiled.

    A kernel that is loaded from the cache of an earlier run is not compiled.
    """
    if library.usable() is not None:
        yield
        return
    from sfumato.kernels.compilation.numba_events import first_compilation

    with first_compilation(say):
        yield
