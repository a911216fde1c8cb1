"""Every claim of the five documents has an experiment and a verdict."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

import pytest

from experiments.files import PAGES, ROOT
from experiments.inventory import claims
from experiments.page import PAGE, findings, text
from experiments.registry import EXPERIMENTS

UNTRIED: frozenset[str] = frozenset()
pictures = sorted(PAGES.glob("*.svg"))


def test_no_two_claims_have_one_name():
    names = [claim.name for claim in claims()]
    assert len(set(names)) == len(names)


def test_every_claim_has_a_verdict_or_is_listed_as_untried():
    found = findings()
    assert {claim.name for claim in claims() if claim.name not in found} == UNTRIED


def test_every_claim_that_was_tried_names_an_experiment_that_exists():
    named = {claim.experiment for claim in claims() if claim.name not in UNTRIED}
    assert named <= set(EXPERIMENTS)


def test_no_two_experiments_keep_a_finding_on_one_claim():
    kept = [
        claim
        for path in sorted(PAGES.glob("*.json"))
        for claim in json.loads(path.read_text(encoding="utf-8"))
    ]
    assert len(set(kept)) == len(kept)


def test_every_finding_is_kept_by_the_experiment_that_its_claim_names():
    named = {claim.name: claim.experiment for claim in claims()}
    for path in sorted(PAGES.glob("*.json")):
        for claim in json.loads(path.read_text(encoding="utf-8")):
            assert named[claim] == path.stem


def test_every_finding_is_about_a_claim_of_the_inventory():
    assert set(findings()) <= {claim.name for claim in claims()}


def test_the_page_is_what_the_findings_say():
    assert PAGE.read_text(encoding="utf-8") == text(findings())


def test_every_module_of_an_experiment_exists():
    for experiment in EXPERIMENTS.values():
        assert (ROOT / "experiments" / f"{experiment.module}.py").is_file()


@pytest.mark.parametrize("picture", pictures, ids=lambda path: path.stem)
def test_a_figure_says_its_data_and_its_axes(picture):
    root = ET.parse(picture).getroot()
    words = " ".join(
        node.text or "" for node in root.iter() if node.tag.endswith("text")
    )
    assert re.search(r"\d[\d,]* (rows|made tables)|rows of|draw|printed", words, re.I)
