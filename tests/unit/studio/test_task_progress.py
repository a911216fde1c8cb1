"""What the process of a task reports while it works."""

from __future__ import annotations

import io

from sfumato.pipeline.comparison.worker_process import receive
from sfumato.studio.task_process import ProgressSender


def told(*steps: tuple[str, float]) -> list[tuple[str, float]]:
    """What is sent of some steps that follow each other at once."""
    stream = io.BytesIO()
    send = ProgressSender(stream)
    for step, share in steps:
        send(step, share)
    stream.seek(0)
    heard = []
    while stream.tell() < len(stream.getvalue()):
        _, said = receive(stream)
        heard.append(said)
    return heard


def test_a_step_that_begins_right_after_another_is_told():
    assert told(("skewness", 0.4), ("minimality", 0.5)) == [
        ("skewness", 0.4),
        ("minimality", 0.5),
    ]


def test_the_same_step_is_not_told_again_at_once():
    assert told(("solve", 0.1), ("solve", 0.2)) == [("solve", 0.1)]
