"""What one run does once: making models, counting the source, refusing, reading."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato import registry
from sfumato.cli import main
from sfumato.data.seeds import Seed
from sfumato.pipeline import (
    build_request,
    check_table,
    expand_requirements,
    given_tables,
    make_release,
    operator_refusals,
    prove_written_files,
    verification,
)
from sfumato.policy import Policy, consistency
from sfumato.policy import document as policy_document

ROWS = [(20 + i % 40, "MF"[i % 2], ("flu", "hiv", "ulcer")[i % 3]) for i in range(240)]
TABLE = "age,sex,ill\n" + "".join(f"{a},{s},{i}\n" for a, s, i in ROWS)
COLUMNS = """version = 1
[columns.age]
role = "quasi"
kind = "integer"
hierarchy = {intervals = [5, 10], bottom = 20, top = 60}
[columns.sex]
role = "quasi"
hierarchy = {tree = {any = ["M", "F"]}}
[columns.ill]
role = "sensitive"
hierarchy = {tree = {any = ["flu", "hiv", "ulcer"]}}
"""
PLAIN = """
[algorithm]
name = "mondrian"
[[require]]
model = "k-anonymity"
k = 3
[[require]]
model = "l-diversity"
l = 2
"""
GENERATED = """
[algorithm]
name = "diva"
[[require]]
model = "k-anonymity"
k = 3
[[require]]
model = "t-closeness"
t = 0.9
reference = "source"
[[require]]
model = "diversity"
generate = {column = "sex", class = "proportional", tolerance = 0.9}
"""
PRIVATE = """
[algorithm]
name = "dp-synthesis"
[[require]]
model = "differential-privacy"
epsilon = 5.0
"""
POPULATION = """
[algorithm]
name = "mondrian"
[[require]]
model = "k-map"
k = 2
population = "table.csv"
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "table.csv").write_text(TABLE, encoding="utf-8")
    return tmp_path


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How many models of each class were made."""
    found: Counter[str] = Counter()

    def watch(kind: Any) -> None:
        whole = kind.__init__

        def counted(self, *arguments, **options):
            found[self.name] += 1
            whole(self, *arguments, **options)

        monkeypatch.setattr(kind, "__init__", counted)

    for name in registry.names("models"):
        watch(registry.load("models", name))
    return found


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch):
    """Count the calls of functions, given with the module that calls them."""
    found: Counter[str] = Counter()

    def watch(module, name: str) -> None:
        whole = getattr(module, name)

        def counted(*arguments, **options):
            found[name] += 1
            return whole(*arguments, **options)

        monkeypatch.setattr(module, name, counted)

    def watch_all(*things) -> Counter[str]:
        for module, name in things:
            watch(module, name)
        return found

    return watch_all


def anonymized(place: Path, requirements: str, *, seed: bool = True) -> None:
    """From the policy file to the written release."""
    (place / "policy.toml").write_text(COLUMNS + requirements, encoding="utf-8")
    chosen = Seed.guessable(1) if seed else None
    policy = Policy.load(place / "policy.toml")
    sf.anonymize(place / "table.csv", policy, seed=chosen).save(place / "release")


def test_a_run_makes_each_model_once(place, made):
    anonymized(place, PLAIN)
    assert made == {"k-anonymity": 1, "l-diversity": 1}


def test_the_command_makes_each_model_once(place, made):
    (place / "policy.toml").write_text(COLUMNS + PLAIN, encoding="utf-8")
    words = [str(place / "policy.toml"), "--data", str(place / "table.csv"), "--quiet"]
    assert main(["anonymize", *words, "--out", str(place / "release")]) == 0
    assert made == {"k-anonymity": 1, "l-diversity": 1}


def test_a_generated_requirement_is_made_once_and_once_for_each_value(place, made):
    anonymized(place, GENERATED)
    assert made == {"k-anonymity": 1, "t-closeness": 1, "diversity": 1 + len("MF")}


def test_a_private_run_makes_its_model_once(place, made):
    anonymized(place, PRIVATE, seed=False)
    assert made == {"differential-privacy": 1}


def test_a_check_makes_each_model_once(place, made):
    anonymized(place, PLAIN)
    made.clear()
    assert sf.check(place / "release/data.csv", place / "policy.toml").holds
    assert made == {"k-anonymity": 1, "l-diversity": 1}


def test_a_run_counts_the_source_once_for_each_column_that_is_asked_of_it(
    place, called
):
    found = called(
        (expand_requirements, "common_values"),
        (expand_requirements, "_counts_on_axis"),
        (expand_requirements, "persons_with"),
    )
    anonymized(place, GENERATED)
    assert found == {"common_values": 1, "_counts_on_axis": 1, "persons_with": 2}


@pytest.mark.parametrize("requirements", [PLAIN, GENERATED, PRIVATE])
def test_a_run_refuses_once_and_makes_algorithm_and_operator_once(
    place, called, requirements
):
    found = called(
        (make_release, "refuse_unkept"),
        (operator_refusals, "refuse_pairing"),
        (operator_refusals, "refuse_name_clash"),
        (consistency, "check_columns"),
        (make_release, "open_certificate"),
        (make_release, "refuse_loss"),
        (policy_document.Policy, "algorithm_instance"),
        (policy_document.Policy, "operator_instance"),
    )
    anonymized(place, requirements, seed=requirements is not PRIVATE)
    assert len(found) == 8
    assert set(found.values()) == {1}


def test_giveaways_are_counted_once_on_the_source_and_once_on_the_draft(place, called):
    found = called((make_release, "refuse_giveaways"))
    anonymized(place, PLAIN)
    assert found == {"refuse_giveaways": 2}


def test_a_check_refuses_once_and_makes_the_operator_once(place, called):
    anonymized(place, PLAIN)
    found = called(
        (check_table, "refuse_pairing"), (policy_document.Policy, "operator_instance")
    )
    sf.check(place / "release/data.csv", place / "policy.toml")
    assert found == {"refuse_pairing": 1, "operator_instance": 1}


def test_a_run_codes_once_and_reads_source_and_release_once(place, called):
    found = called(
        (build_request, "coded_table"),
        (given_tables, "read_source"),
        (prove_written_files, "read_source"),
    )
    anonymized(place, PLAIN)
    assert found == {"coded_table": 1, "read_source": 2}


def test_search_and_proof_each_read_the_population_once(place, called):
    found = called(
        (build_request, "read_population"), (verification, "read_population")
    )
    anonymized(place, POPULATION)
    assert found == {"read_population": 2}


def test_the_draft_and_the_written_file_are_proven_on_tables_of_their_own(
    place, monkeypatch
):
    judged = []
    whole = verification.Claim.verify

    def watched(claim, table, beside):
        proof = whole(claim, table, beside)
        judged.append((table, proof.groups))
        return proof

    monkeypatch.setattr(verification.Claim, "verify", watched)
    anonymized(place, PLAIN)
    (draft, first), (file, second) = judged
    assert draft is not file
    assert first is not second
    assert sorted(first.rows) == sorted(second.rows)
