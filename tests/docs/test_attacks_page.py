"""The walk from k-anonymity to t-closeness, as docs/attacks.md tells it, is true."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "attacks.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
TITLES = {
    "original": "original",
    "k": "3-anonymous",
    "l": "3-diverse",
    "t": "0.3-close",
}


@pytest.fixture(scope="module")
def walk(shared_data, tmp_path_factory):
    """What the names of the page's program stand for after it has run."""
    place = tmp_path_factory.mktemp("walk")
    adult = shared_data / "adult" / "adult_clean_30162.csv.gz"
    pd.read_csv(adult, dtype=str).head(5000).to_csv(place / "adult.csv", index=False)
    program = next(text for text in BLOCK.findall(PAGE) if "adult.csv" in text)
    names: dict = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        exec(program, names)
    return names


def figures(walk, name):
    """The success and the worst figure of an attack, step by step."""
    return [(walk["attacks"][step][name]) for step in "klt"]


def share(walk, step, value="Craft-repair"):
    return {v: s for v, s, _ in walk["answers"][step].values["occupation"]}[value]


def test_it_begins_with_the_table_of_the_slides(walk):
    # 663 of 5,000 people are Exec-managerial.
    assert (walk["people"]["occupation"] == "Exec-managerial").sum() == 663


def test_the_original_names_the_person(walk):
    assert walk["answers"]["original"].rows == 1


def test_k_anonymity_is_broken_by_homogeneity(walk):
    answer = walk["answers"]["k"]
    assert answer.rows == 3
    assert [v for v, _, _ in answer.values["occupation"]] == ["Craft-repair"]
    assert figures(walk, "homogeneity")[0].success > 0


def test_l_diversity_is_broken_by_skewness(walk):
    _, diverse, _ = figures(walk, "homogeneity")
    assert (diverse.success, diverse.bound, diverse.exceeded) == (0.0, 0.0, False)
    assert figures(walk, "guess")[1].worst > 4 * 0.133


def test_t_closeness_holds(walk):
    close = figures(walk, "skewness")[2]
    assert close.bound == 0.3
    assert not close.exceeded
    assert share(walk, "t") < 0.25


@pytest.mark.parametrize("name", ["linkage", "guess", "skewness"])
def test_the_success_falls_step_by_step(walk, name):
    first, second, third = (each.success for each in figures(walk, name))
    assert first > second > third


def test_the_persons_own_value_gets_less_likely_step_by_step(walk):
    assert share(walk, "k") > share(walk, "l") > share(walk, "t")


@pytest.mark.parametrize("step", TITLES)
def test_the_page_shows_what_each_table_says_about_the_person(walk, step):
    answer = walk["answers"][step]
    likely = answer.values["occupation"][0]
    row = (
        f"| {TITLES[step]} | {answer.rows} | {share(walk, step):.1%} "
        f"| {likely[0]}, {likely[1]:.1%} |"
    )
    assert row in PAGE


@pytest.mark.parametrize("step", ["k", "l", "t"])
def test_the_page_shows_what_attacks_achieve(walk, step):
    found = walk["attacks"][step]
    linkage, guess, shift = (found[n] for n in ("linkage", "guess", "skewness"))
    row = (
        f"| {TITLES[step]} | {linkage.success:.2%} ({linkage.worst:.1%}) "
        f"| {found['homogeneity'].success:.2%} | {guess.success:.1%} "
        f"({guess.worst:.1%}) | {shift.success:.3f} ({shift.worst:.3f}) |"
    )
    assert row in PAGE
