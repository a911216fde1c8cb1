"""What a long command says while it works."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfumato.cli import progress
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
