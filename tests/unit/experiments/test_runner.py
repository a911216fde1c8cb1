"""Experiments run side by side, and what they take is kept."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from experiments import runner
from experiments.files import ROOT
from experiments.registry import EXPERIMENTS
from experiments.results import Scale
from experiments.runner import grouped, run_all
from experiments.times import Spent, keep, kept


def test_experiments_of_one_module_run_in_one_process():
    groups = grouped(["tgc-front", "boger-figure-9", "tgc-task", "boger-figure-8"])
    assert sorted(groups) == [
        ["boger-figure-9", "boger-figure-8"],
        ["tgc-front", "tgc-task"],
    ]


def test_the_group_that_took_longest_starts_first():
    took = kept()
    groups = grouped(list(EXPERIMENTS))
    sums = [sum(took.get(name, 0.0) for name in group) for group in groups]
    assert sums == sorted(sums, reverse=True)


def test_an_experiment_that_fails_does_not_end_the_others(monkeypatch):
    ended = []

    def run(name: str, scale: Scale) -> Spent:
        if name == "tgc-tables":
            raise ValueError(name)
        ended.append(name)
        return Spent(name, 1.0, 1.0)

    monkeypatch.setattr(runner, "run", run)
    names = ["boger-examples", "tgc-tables", "diva-example"]
    with pytest.raises(ExceptionGroup) as failed:
        list(run_all(names, Scale(quick=True), jobs=1))
    assert ended == ["boger-examples", "diva-example"]
    assert len(failed.value.exceptions) == 1


def test_a_new_time_replaces_the_old_one_and_leaves_others(tmp_path):
    path = tmp_path / "times.csv"
    keep([Spent("tgc-tables", 2.0, 3.0), Spent("tgc-front", 5.0, 6.0)], path)
    keep([Spent("tgc-tables", 4.0, 4.0)], path)
    assert kept(path) == {"tgc-tables": 4.0, "tgc-front": 5.0}


def test_the_time_of_every_experiment_is_kept():
    assert set(kept()) == set(EXPERIMENTS)


def test_all_experiments_fit_into_an_hour_on_two_cores():
    """Summed CPU time; the longest group alone fits as well."""
    took = kept()
    groups = grouped(list(EXPERIMENTS))
    assert sum(took.values()) < 2 * 3600
    assert max(sum(took[name] for name in group) for group in groups) < 3600


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_command_says_what_every_named_experiment_took(shared_data, jobs):
    names = ["kuksina-tables", "tgc-tables"]
    done = subprocess.run(
        [sys.executable, "-m", "experiments", *names, "--quick", "--jobs", jobs],
        cwd=ROOT,
        env={**os.environ, "SFUMATO_DATA": str(shared_data)},
        capture_output=True,
        text=True,
        check=True,
    )
    said = done.stderr
    assert "2 experiments: " in said
    assert all(f"{name}: " in said for name in names)
