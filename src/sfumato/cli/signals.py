"""End the process within a second of being asked to, whatever it is doing.

The program never raises `KeyboardInterrupt`: one that arrives while a library is
imported, or while compiled code calls back, is lost there or ends in a traceback. The
process belongs to us, so it ends instead, after removing what it was writing. A thread
waits for signals, because the main thread may be inside a kernel for minutes.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time

# Not imported from `typing`: few modules may be loaded before signals are handled.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from threading import Event

INTERRUPTED = 130
STOPPED = "Stopped. Nothing is left half-written."
AS_JSON = f"""\
{{
  "error": {{
    "kind": "Interrupted",
    "message": "{STOPPED}",
    "hint": null,
    "exit_code": {INTERRUPTED}
  }}
}}
"""
"""A literal, because nothing may be imported where an import was interrupted."""
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
SHOW_CURSOR = b"\r\x1b[2K\x1b[?25h"
"""Clears a progress bar from a terminal, and shows the cursor again."""
PATIENCE = 0.2
"""Seconds to wait for a slow reader of our output."""


class GentleStop:
    """A command that finishes what it has when it is first asked to stop."""

    def __init__(self) -> None:
        self._stop: Event | None = None

    def enter(self, stop: Event) -> None:
        """Set this event on the next signal, instead of ending the process."""
        self._stop = stop

    def leave(self) -> None:
        """End the process on the next signal, as all other commands do."""
        self._stop = None

    def asked(self) -> bool:
        """Pass a signal on; False if nobody waits for one, or one was heard before."""
        stop = self._stop
        if stop is None or stop.is_set():
            return False
        stop.set()
        return True


GENTLE = GentleStop()


class Ending:
    """Whether the process is about to end because it was asked to."""

    def __init__(self) -> None:
        self.begun = False

    def wait(self) -> None:
        """Wait for the end, if it has begun.

        What fails from then on fails because files were removed under it.
        """
        while self.begun:
            time.sleep(PATIENCE)


ENDING = Ending()


def end_when_asked() -> None:
    """End at once on a termination signal, while libraries are loaded."""
    for number in _heeded():
        signal.signal(number, lambda _number, _frame: end_now())


def watch() -> None:
    """Start a thread that waits for termination signals, until the process ends."""
    import threading

    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    threading.Thread(target=_wait, args=(reader,), daemon=True).start()
    for number in _heeded():
        signal.signal(number, _leave_it_to_the_thread)


def end_now() -> None:
    """Remove what is half-written, say that we stopped, and end the process."""
    ENDING.begun = True
    try:
        # Code that writes has loaded it already; nothing is imported here.
        loaded = sys.modules.get("sfumato.data.unfinished_files")
        unfinished = getattr(loaded, "UNFINISHED", None)
        if unfinished is not None:
            unfinished.remove_all()
        _say_stopped()
    finally:
        os._exit(INTERRUPTED)


def _wait(reader: int) -> None:
    # Without signals it waits for the rest of the process.
    os.read(reader, 1)
    while GENTLE.asked():
        os.read(reader, 1)
    end_now()


def _leave_it_to_the_thread(_number: int, _frame: object) -> None:
    """Do nothing: signals need a handler to reach the thread at all."""


def _say_stopped() -> None:
    """Write the message past all buffers: the main thread may hold their locks."""
    if "--json" in sys.argv:
        _write(1, AS_JSON.encode())
        return
    if _is_terminal(2):
        _write(2, SHOW_CURSOR)
    _write(2, f"Error: {STOPPED}\n".encode())


def _is_terminal(stream: int) -> bool:
    try:
        return os.isatty(stream)
    except OSError:
        return False


def _write(stream: int, text: bytes) -> None:
    """Write if somebody reads; a blocked reader must not keep us from ending."""
    try:
        _, ready, _ = select.select([], [stream], [], PATIENCE)
        if ready:
            os.write(stream, text)
    except (OSError, ValueError):
        return


def _heeded() -> list[signal.Signals]:
    """Return the termination signals, except those we were started to ignore."""
    known = [signal.Signals[name] for name in SIGNALS if hasattr(signal, name)]
    ignored = (signal.SIG_IGN, None)
    return [number for number in known if signal.getsignal(number) not in ignored]
