"""A few of the attacks of `killed_runs`; `make fuzz` runs hundreds of them."""

from __future__ import annotations

import subprocess
import sys

from tests.conftest import ROOT

ATTACKS = ("--kills", "20", "--pairs", "3", "--seed", "1")


def test_a_killed_release_into_a_table_is_repaired_by_the_next_run():
    command = [sys.executable, "-m", "tests.fuzz.killed_runs", *ATTACKS]
    # A process of its own, because it makes copies of itself.
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-1] == "23 attacks, 0 with findings", done.stdout
    assert done.returncode == 0, done.stderr
