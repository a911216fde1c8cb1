"""The command line: one file per command, nothing heavy imported before it runs."""

from __future__ import annotations

import sys

# As `typing` has it, without its import: until signals are heard, Ctrl-C ends in a
# traceback.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit code.

    Without words it is the program itself: it takes those it was started with, hears
    signals that ask to stop, and the process ends with it.
    """
    if words is not None:
        return _run(list(words))
    _end_silently_on_ctrl_c()
    from sfumato.cli import signals as stopping

    stopping.end_when_asked()
    from sfumato.cli import own_process as process

    process.begin()
    return process.end(_run(sys.argv[1:]))


def _end_silently_on_ctrl_c() -> None:
    """Let Ctrl-C end the process without a traceback while `signal` is imported."""
    # Built into the interpreter, so that no file is searched for.
    import _signal  # type: ignore[import-not-found]

    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)


def _run(words: list[str]) -> int:
    if words == ["--version"]:
        # Asked alone it is answered without the libraries that read a command line.
        try:
            return print_version()
        except OSError:
            # They know how to say that stdout takes nothing.
            pass
    from sfumato.cli.app import run

    return run(words)


def print_version() -> int:
    """Print the version; give the exit code."""
    from importlib.metadata import version

    print(f"sfumato {version('sfumato')}", flush=True)
    return 0
