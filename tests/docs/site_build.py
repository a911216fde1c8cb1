"""Build the documentation site as `make docs` does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT


def build_site(target: Path) -> str:
    """Build the site into a directory and return what the builder said."""
    cache = target.with_name(f"{target.name}-cache")
    words = ["-q", "-W", "--keep-going", "-d", str(cache), "-c", "docs/site"]
    run = subprocess.run(
        [sys.executable, "-m", "sphinx", *words, ".", str(target)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return run.stdout + run.stderr
