"""What `--help` says about the arguments of a command."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_type_hints

HELP = frozenset({"-h", "--help"})

HelpRecord = Callable[[Any], tuple[str, str]]
"""Name and text of a parameter, for the help of a command."""


def restore(command: Any) -> None:
    """Give arguments the help that they were declared with.

    Newer versions of Click have a help of arguments themselves, and clear what Typer
    set before. Setting it again would show it twice, so only the line of Typer gets it.
    """
    for each in command.commands.values():
        hints = get_type_hints(each.callback, include_extras=True)
        for parameter in each.params:
            if parameter.param_type_name == "argument" and not parameter.help:
                (declared,) = hints[parameter.name].__metadata__
                parameter.get_help_record = _with_help(
                    parameter.get_help_record, declared.help
                )


def _with_help(record: HelpRecord, text: str) -> HelpRecord:
    def full(context: Any) -> tuple[str, str]:
        name, marks = record(context)
        return name, f"{text}  {marks}".rstrip()

    return full
