"""The command of docs/studio.md serves the studio until it is stopped."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator
from urllib.request import HTTPCookieProcessor, build_opener

import pytest

from tests.conftest import ROOT
from tools.run_page import blocks

PAGE = (ROOT / "docs" / "studio.md").read_text(encoding="utf-8")


@pytest.fixture
def address(tmp_path) -> Iterator[str]:
    """Where the command of the page says that the studio is."""
    command = next(block.text for block in blocks(PAGE) if block.language == "sh")
    words = [sys.executable, "-m", *shlex.split(command), "--no-browser"]
    running = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    try:
        assert running.stdout is not None
        said = next(line for line in running.stdout if line.startswith("Studio: "))
        yield said.removeprefix("Studio: ").strip()
    finally:
        running.terminate()
        running.communicate(timeout=60)
    assert running.returncode in {0, 130}


def test_the_command_of_the_page_serves_the_studio(address):
    with build_opener(HTTPCookieProcessor()).open(address, timeout=60) as answer:
        assert "<title>" in answer.read().decode()
