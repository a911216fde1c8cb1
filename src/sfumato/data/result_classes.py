"""Result classes: calling one directly raises an error that names our function."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from sfumato.errors import UsageError

Made = TypeVar("Made")


def comes_from(source: str) -> Callable[[type[Made]], type[Made]]:
    """Make direct calls of a class raise our own error, which names its source."""

    def decorate(cls: type[Made]) -> type[Made]:
        plain = cls.__init__
        signature = inspect.signature(plain)

        @wraps(plain)
        def init(self: Made, *args: Any, **kwargs: Any) -> None:
            try:
                signature.bind(self, *args, **kwargs)
            except TypeError as problem:
                raise UsageError(
                    f"{cls.__name__}() cannot be called like this: {problem}.",
                    hint=f"{source} gives you one.",
                ) from None
            plain(self, *args, **kwargs)

        setattr(cls, "__init__", init)  # noqa: B010
        return cls

    return decorate
