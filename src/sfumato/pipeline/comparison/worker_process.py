"""The program of a worker process: runs candidates until nobody asks for more.

It reads messages from its standard input and writes to its standard output, each a
pickled object after its length. The first message is the shared work, the others are
pairs of a number and a policy. It ends when its input ends, whatever it is doing: no
worker outlives the process that started it.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
from pathlib import Path
from queue import SimpleQueue
from time import monotonic
from typing import Any, BinaryIO

LENGTH = 8
PATIENCE = 0.2
"""Seconds between two reports of progress."""


def packed_message(message: object) -> bytes:
    """One message as bytes."""
    return pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)


def send(stream: BinaryIO, message: object) -> None:
    """Write one message, packed or not."""
    body = message if isinstance(message, bytes) else packed_message(message)
    stream.write(len(body).to_bytes(LENGTH, "big"))
    stream.write(body)
    stream.flush()


def receive(stream: BinaryIO) -> Any:
    """Read one message; EOFError if there is none."""
    head = stream.read(LENGTH)
    size = int.from_bytes(head, "big")
    body = stream.read(size) if len(head) == LENGTH else b""
    if len(head) < LENGTH or len(body) < size:
        raise EOFError
    return pickle.loads(body)


class Teller:
    """Reports the progress of one candidate, not too often."""

    def __init__(self, stream: BinaryIO, number: int) -> None:
        self._stream, self._number = stream, number
        self._next = 0.0

    def __call__(self, _step: str, share: float) -> None:
        """Send the share that is done, unless one was sent a moment ago."""
        if monotonic() >= self._next:
            self._next = monotonic() + PATIENCE
            send(self._stream, (self._number, float(share)))


def _listen(stream: BinaryIO, heard: SimpleQueue[Any]) -> None:
    """Pass messages on; end the process when there are no more."""
    try:
        while True:
            heard.put(receive(stream))
    except (EOFError, OSError):
        os._exit(0)


def main() -> None:
    """Run candidates until the input ends."""
    # Whatever a library prints must not get between messages.
    answers = os.fdopen(os.dup(1), "wb")
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    heard: SimpleQueue[Any] = SimpleQueue()
    stream = sys.stdin.buffer
    threading.Thread(target=_listen, args=(stream, heard), daemon=True).start()
    from sfumato.pipeline.comparison.try_candidate import try_candidate

    work = heard.get()
    while True:
        number, policy = heard.get()
        outcome = try_candidate(work, policy, Teller(answers, number))
        send(answers, (number, outcome))


if __name__ == "__main__":
    main()
