"""What a long command says while it works."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

import pytest

from sfumato.call_arguments import forward
from sfumato.cli import main, progress
from sfumato.kernels.compilation import cache_places
from sfumato.kernels.compilation.cache_places import Place


@pytest.mark.parametrize(
    ("directory", "told"),
    [
        (Path("cache"), "Compiling kernels for their first use: this takes a while"),
        (None, "every run does it, because no cache directory can be written to. Name"),
    ],
)
def test_compiling_is_said_to_happen_once_only_where_it_does(
    directory, told, capsys, monkeypatch
):
    monkeypatch.setattr(cache_places, "cache_place", lambda: Place(directory, ""))
    progress._say_compiling()
    assert told in capsys.readouterr().err


@pytest.fixture
def shares(monkeypatch):
    """The shares of work that commands report."""
    reported: list[float] = []

    @contextmanager
    def watched(*, quiet: bool = False):
        yield lambda _step, share: reported.append(share)

    monkeypatch.setattr(progress, "watched", watched)
    return reported


COMMANDS = {
    "anonymize": ["--out", "release"],
    "advise": [],
    "compare": [],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_progress_of_a_command_never_goes_back(
    shares, tmp_path, monkeypatch, command
):
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--out", "demo"]) == 0
    shares.clear()
    assert main([command, "demo/policy.toml", *COMMANDS[command]]) == 0
    assert len(shares) > 3
    assert shares == sorted(shares)


def test_progress_stays_where_it_was_if_a_step_reports_less():
    reported = []
    report = forward(lambda step, share: reported.append((step, share)))
    for share in (0.2, 0.1, 0.3):
        report("step", share)
    assert reported == [("step", 0.2), ("step", 0.2), ("step", 0.3)]
