"""A search with a limit in seconds hears of the first Ctrl-C, once."""

from __future__ import annotations

import pytest

from sfumato.cli.early_stop import EarlyStop, stopping_early
from sfumato.cli.signals import GENTLE
from sfumato.policy import Policy

LIMITED = Policy.parse('version = 1\n[algorithm]\nname = "best"\nseconds = 60.0\n')


def silent(_step: str, _share: float) -> None:
    """Show nothing."""


def test_progress_raises_once_after_a_signal():
    with stopping_early(LIMITED, silent) as progress:
        progress("refining groups", 0.1)
        assert GENTLE.asked()
        with pytest.raises(KeyboardInterrupt):
            progress("refining groups", 0.2)
        progress("publish", 0.7)


def test_a_second_signal_ends_the_process():
    with stopping_early(LIMITED, silent):
        assert GENTLE.asked()
        assert not GENTLE.asked()


def test_a_signal_after_the_search_lets_the_release_be_finished():
    early = EarlyStop(silent)
    early("publish", 0.7)
    early.stop.set()
    early("verify", 0.8)


def test_without_a_limit_the_first_signal_ends_the_process():
    with stopping_early(Policy.parse("version = 1"), silent) as progress:
        assert progress is silent
        assert not GENTLE.asked()
