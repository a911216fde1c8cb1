"""The command `sfumato`: its sub-commands, and every way it can end.

Exit codes: 0 done · 1 `check` found a requirement not met, or `attack` a broken promise ·
2 usage, policy or input error · 3 infeasible · 4 privacy budget · 5 search budget · 70 our
own fault · 130 Ctrl-C, or another signal that asks to stop.
"""

from __future__ import annotations

import errno
import os
import sys
from copy import copy
from typing import Annotated, Any

import typer

from sfumato.cli import argument_help, completion
from sfumato.cli.advise import advise
from sfumato.cli.anonymize import anonymize
from sfumato.cli.assess import assess
from sfumato.cli.attack import attack
from sfumato.cli.check import check
from sfumato.cli.compare import compare
from sfumato.cli.demo import demo
from sfumato.cli.doctor import doctor
from sfumato.cli.error_output import (
    USAGE,
    ErrorFormat,
    Misuse,
    explain,
    interrupted,
    misused,
    unexpected,
)
from sfumato.cli.init import init
from sfumato.cli.listing import catalogue
from sfumato.cli.report import report
from sfumato.cli.signals import ENDING
from sfumato.cli.studio import studio
from sfumato.cli.success_output import reader_may_leave
from sfumato.cli.tune import tune
from sfumato.cli.version import print_version
from sfumato.errors import OutputError, SfumatoError, UsageError

app = typer.Typer(
    name="sfumato",
    help="Publish personal data safely, and prove it from the published file.",
    # Importing Rich would take longer than all of --help.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(demo)
app.command()(init)
app.command()(advise)
app.command()(anonymize)
app.command()(check)
app.command()(assess)
app.command()(attack)
app.command()(compare)
app.command()(tune)
app.command()(report)
app.command()(studio)
app.command("list")(catalogue)
app.command()(doctor)


def _print_version(wanted: bool) -> None:
    if wanted:
        with reader_may_leave():
            print_version()
        raise typer.Exit


@app.callback()
def options(
    _version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the version and exit.",
        ),
    ] = False,
) -> None:
    """Publish personal data safely, and prove it from the published file."""


def run(words: list[str]) -> int:
    """Run one command line; every error ends as a message and an exit code."""
    _tolerate_narrow_terminals()
    error_format = ErrorFormat.of(words)
    try:
        return _invoke(words)
    except SfumatoError as fault:
        return explain(fault, error_format)
    except Misuse as fault:
        return misused(fault, error_format)
    except (KeyboardInterrupt, typer.Abort):
        return interrupted(error_format)
    except BrokenPipeError:
        return _reader_gone(words)
    except Exception as fault:
        return _failed(fault, error_format)


def _invoke(words: list[str]) -> int:
    """Run the command as Typer would, leaving every exception to `run`."""
    _refuse_zero_characters(words)
    command = typer.main.get_command(_app_for(words))
    if argument_help.HELP & set(words):
        argument_help.restore(command)
    if completion.COMPLETING in os.environ:
        return completion.complete(command)
    if completion.asked(words):
        return completion.answer(command, words)
    if not words:
        return _show_help(command)
    try:
        # A copy, because parsing consumes the list.
        with command.make_context("sfumato", list(words)) as context:
            result = command.invoke(context)
            if sys.stdout is not None:
                sys.stdout.flush()
    except typer.Exit as done:
        return int(done.exit_code)
    except Exception:
        ENDING.wait()
        raise
    return int(result or 0)


def _app_for(words: list[str]) -> typer.Typer:
    """The app with the one command that is called, where that is certain.

    Making all commands takes longer than running a small one.
    """
    called = [each for each in app.registered_commands if words[:1] == [_name(each)]]
    asking = completion.COMPLETING in os.environ or completion.asked(words)
    if asking or not called or argument_help.HELP & set(words):
        return app
    one = copy(app)
    one.registered_commands = called
    return one


def _name(command: Any) -> str | None:
    made: str | None = command.name or getattr(command.callback, "__name__", None)
    return made


def _refuse_zero_characters(words: list[str]) -> None:
    """Refuse zero characters, on which the system fails without a clear error."""
    for place, word in enumerate(words):
        if "\0" in word:
            before = words[place - 1] if place else ""
            option = before if before.startswith("-") else f"Word {place + 1}"
            raise UsageError(
                f"{option} contains a null character.",
                hint="Remove it from the command.",
            )


def _failed(fault: Exception, error_format: ErrorFormat) -> int:
    """Report an error that we did not raise: of memory, the system, or our code."""
    from sfumato.io.memory import out_of_memory, ran_out

    if ran_out(fault):
        return explain(out_of_memory(), error_format)
    if isinstance(fault, OSError):
        return explain(_as_ours(fault), error_format)
    return unexpected(fault, error_format)


def _show_help(command: Any) -> int:
    """Answer an empty command line with the help, as an error."""
    context = command.make_context("sfumato", [], resilient_parsing=True)
    typer.echo(command.get_help(context), err=True)
    return USAGE


def _tolerate_narrow_terminals() -> None:
    """Print a question mark where a terminal cannot show `≤` or `✓`."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _reader_gone(words: list[str]) -> int:
    """Stop all output after the reader closed the pipe, even at Python's exit."""
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, sys.stdout.fileno())
    # A reader may stop in the middle of the help; any other output was cut short.
    return 0 if argument_help.HELP & set(words) else OutputError.exit_code


def _as_ours(fault: OSError) -> SfumatoError:
    # Without a name it is a stream or an open file that is full or closed.
    what = f"'{fault.filename}' cannot be used" if fault.filename else "Writing failed"
    full = fault.errno in (errno.ENOSPC, errno.EDQUOT)
    return OutputError(
        f"{what}: {fault.strerror or type(fault).__name__}.",
        hint="Free space, or name another place."
        if full
        else "Look at the path and at its permissions.",
    )
