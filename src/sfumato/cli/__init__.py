"""The command line: one file per command, nothing heavy imported before it runs."""

from __future__ import annotations

import sys

# Not imported from `typing`: until signals are handled, Ctrl-C ends in a traceback, so
# the fewer imports before that, the better.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Without arguments it acts as the program itself: it reads the arguments of the
    process, handles termination signals, and ends the process.
    """
    if words is not None:
        return _run(list(words))
    _end_silently_on_ctrl_c()
    from sfumato.cli import signals as stopping

    stopping.end_when_asked()
    from sfumato.cli import own_process as process

    process.begin()
    process.prepare(sys.argv[1:])
    return process.end(_run(sys.argv[1:]))


def _end_silently_on_ctrl_c() -> None:
    """Let Ctrl-C end the process without a traceback while `signal` is imported."""
    # Built into the interpreter, so that no file is searched for.
    import _signal  # type: ignore[import-not-found]

    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)


def _run(words: list[str]) -> int:
    if words == ["--version"]:
        # Handled without loading the libraries that parse a command line.
        from sfumato.cli.version import print_version

        try:
            return print_version()
        except OSError:
            # Typer reports that stdout cannot be written to.
            pass
    from sfumato.cli.app import run

    return run(words)
