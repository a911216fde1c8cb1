"""What a run of attacks says beside its results."""

from __future__ import annotations

import threading

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato import registry
from sfumato.errors import UsageError
from sfumato.pipeline.attack_run import Attacked, names_of
from sfumato.pipeline.private_notes import OUTSIDE, PRIVATE


@pytest.fixture(scope="module")
def release():
    table = pd.DataFrame(
        {"age": [str(20 + i % 9) for i in range(36)], "ill": list("abc") * 12}
    )
    policy = sf.Policy.build(quasi=["age"], sensitive=["ill"], k=3)
    return table, policy, sf.anonymize(table, policy, insecure_seed=1)


def test_an_attack_that_was_not_run_is_a_key_error_with_the_names_there_are(release):
    table, policy, made = release
    found = sf.attack(made, table, ["linkage", "definetti"], policy)
    with pytest.raises(KeyError, match="'nope' was not run; these attacks were: 'link"):
        found["nope"]
    with pytest.raises(KeyError, match="'definetti' was not run: only swapped and"):
        found["definetti"]


def test_every_result_says_first_that_it_is_private():
    assert Attacked(results=()).notes() == [PRIVATE]
    assert next(iter(Attacked(results=()).record())) == "private"


def test_a_differentially_private_release_is_said_to_be_attacked_outside_its_guarantee():
    assert Attacked(results=(), certified=True).notes() == [PRIVATE, OUTSIDE]


def test_learned_attacks_without_scikit_learn_name_the_way_to_get_it(
    release, monkeypatch
):
    def missing(_module):
        raise UsageError("It is not installed.", hint="pip install 'sfumato[learn]'")

    monkeypatch.setattr("sfumato.risk.attacks.learned.scikit", missing)
    table, policy, made = release
    found = sf.attack(made, table, ["inference", "identity"], policy)
    assert found.results == ()
    assert found.skipped["inference"] == (
        "it needs scikit-learn (pip install 'sfumato[learn]')"
    )


def test_learned_attacks_report_progress(release):
    table, policy, made = release
    seen = []
    sf.attack(
        made,
        table,
        "inference",
        policy,
        progress=lambda step, share: seen.append((step, share)),
    )
    assert any("learning" in step for step, _ in seen)
    assert all(0.0 <= share <= 1.0 for _, share in seen)


def test_a_control_without_the_quasi_identifiers_is_refused(release):
    table, policy, made = release
    with pytest.raises(UsageError, match="The control table has no column 'age'"):
        sf.attack(made, table, "membership", policy, control=table[["ill"]])


@pytest.mark.parametrize("name", ["dp-synthesis", "safepub"])
def test_differentially_private_releases_are_attacked(name, tmp_path):
    draw = np.random.default_rng(1)
    table = pd.DataFrame(
        {"age": draw.integers(20, 80, 900), "ill": draw.choice(list("abcd"), 900)}
    )
    policy = sf.Policy.build(
        quasi=["age"],
        sensitive=["ill"],
        kinds={"age": "integer"},
        hierarchies={
            "age": {"intervals": [10, 20], "bottom": 20, "top": 80},
            "ill": {"tree": {"n": ["a", "b"], "s": ["c", "d"]}},
        },
        require=[{"model": "differential-privacy", "epsilon": 3, "delta": 1e-3}],
        algorithm=name,
        publish={"max_suppressed": 0.9, "max_loss": 1},
    )
    sf.anonymize(table, policy).save(tmp_path / "release")
    found = sf.attack(tmp_path / "release", table, "all", policy)
    assert found.certified
    assert found["membership"].n == len(table)
    assert ("linkage" in found.skipped) == (name == "dp-synthesis")


def test_the_progress_names_the_attack_that_runs(release):
    table, policy, made = release
    seen = []

    def watch(step, share):
        seen.append((step.split(":")[0], share))

    names = ["linkage", "guess", "minimality"]
    sf.attack(made, table, names, policy, progress=watch)
    assert list(dict(seen)) == names
    assert [share for _, share in seen] == sorted(share for _, share in seen)


@pytest.fixture(scope="module")
def mixed(release):
    """A release whose groups have several values, and so very many worlds."""
    table, policy, _ = release
    table = table.assign(ill=list("abcd") * 9)
    return table, policy, sf.anonymize(table, policy, insecure_seed=1)


def test_a_slow_attack_says_how_far_it_is_and_what_is_left(mixed):
    table, policy, made = mixed
    seen = []
    sf.attack(
        made, table, "minimality", policy, progress=lambda step, _: seen.append(step)
    )
    assert seen[:2] == ["minimality", "minimality: world 1 of 200"]
    assert seen[2].startswith("minimality: world 2 of 200, about ")
    assert seen[2].endswith(" s left")


def test_all_attacks_end_with_the_slow_one():
    assert set(names_of("all")) == set(registry.names("attacks"))
    assert names_of("all")[-1] == "minimality"


def test_a_run_that_is_stopped_keeps_the_attacks_that_are_finished(mixed):
    table, policy, made = mixed
    stop = threading.Event()

    def watch(step, _share):
        if step.startswith("minimality: world 3"):
            stop.set()

    names = ["linkage", "minimality", "guess"]
    found = sf.attack(made, table, names, policy, progress=watch, stop=stop)
    assert [each.name for each in found.results] == ["linkage"]
    assert found.stopped
    assert {"minimality", "guess"} <= set(found.not_tried)
    assert not found.skipped


def test_ctrl_c_in_a_run_keeps_the_attacks_that_are_finished(release):
    table, policy, made = release

    def watch(step, _share):
        if step == "guess":
            raise KeyboardInterrupt

    found = sf.attack(made, table, ["linkage", "guess"], policy, progress=watch)
    assert [each.name for each in found.results] == ["linkage"]
    assert found.stopped


def test_attacks_that_were_neither_run_nor_refused_are_listed(release):
    table, policy, made = release
    found = sf.attack(made, table, ["linkage", "definetti"], policy)
    assert len(found.not_tried) == len(registry.names("attacks")) - 2
    assert not {"linkage", "definetti"} & set(found.not_tried)
