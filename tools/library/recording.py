"""Record every kernel entry point that Python calls, with the kinds of its arguments.

As a plugin of pytest it adds what the tests reach to the list of entry points:
python -m pytest -p tools.library.recording tests/conformance
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any

from sfumato.kernels.compilation import decorators, library
from tools.library import entry_points

GIVES = {"boolean": "b1", "int64": "i8", "float64": "f8", "void": "n"}
OURS = "sfumato."


class Recorder:
    """Entry points that were asked for, as `entry_points` lists them."""

    def __init__(self) -> None:
        self.found: set[str] = set()
        self._signatures: dict[int, tuple[Any, str]] = {}

    def note_call(self, kernel: Any, values: Sequence[Any]) -> None:
        """Note a call from Python."""
        name = f"{kernel.__module__}.{kernel.__name__}"
        self._add(name, ",".join(map(self._kind, values)))

    def note_pointer(
        self, made: Any, function: Any, gives: str, values: Sequence[Any]
    ) -> None:
        """Note a pointer that was made, and what it takes and gives."""
        plain = getattr(function, "py_func", function)
        signature = f"{','.join(map(self._kind, values))}->{GIVES[gives]}"
        self._signatures[id(made)] = (made, f"p[{signature}]")
        self._add(f"*{plain.__module__}.{plain.__name__}", signature)

    def _add(self, name: str, takes: str) -> None:
        if name.removeprefix("*").startswith(OURS):
            self.found.add(f"{name}({takes})")

    def _kind(self, value: Any) -> str:
        """The kind of a value, with the signatures of pointers in it."""
        if id(value) in self._signatures:
            return self._signatures[id(value)][1]
        if isinstance(value, tuple):
            name = "" if type(value) is tuple else type(value).__name__
            return f"{name}({','.join(map(self._kind, value))})"
        return library.kind_of(value)


@contextmanager
def recording() -> Iterator[Recorder]:
    """Note entry points inside. Begin before any kernel's module is imported."""
    recorder = Recorder()
    classes: Any = decorators.Kernel
    call, make = classes.__call__, decorators.pointer
    classes.__call__ = _noted_call(recorder, call)
    decorators.pointer = _noted_pointer(recorder, make)
    try:
        yield recorder
    finally:
        classes.__call__, decorators.pointer = call, make


def _noted_call(recorder: Recorder, call: Callable[..., Any]) -> Callable[..., Any]:
    def noted(kernel: Any, *values: Any) -> Any:
        recorder.note_call(kernel, values)
        return call(kernel, *values)

    return noted


def _noted_pointer(recorder: Recorder, make: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(make)
    def noted(function: Any, gives: str, *values: Any) -> Any:
        made = make(function, gives, *values)
        recorder.note_pointer(made, function, gives, values)
        return made

    return noted


class _Plugin:
    """Records while pytest runs, and adds to the list at its end."""

    def __init__(self) -> None:
        self._recording = recording()
        self._recorder = self._recording.__enter__()

    def pytest_unconfigure(self) -> None:
        self._recording.__exit__(None, None, None)
        entry_points.write({*entry_points.read(), *self._recorder.found})


def pytest_configure(config: Any) -> None:
    """Begin to record, as a plugin of pytest."""
    config.pluginmanager.register(_Plugin())
