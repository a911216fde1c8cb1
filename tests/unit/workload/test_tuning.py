"""The search over settings, and a policy fitted to a workload."""

from __future__ import annotations

import json
from math import log2

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pytest

import sfumato as sf
from sfumato.cli.app import run
from sfumato.data.seeds import Seed
from sfumato.errors import DataError, PolicyError, RefusedError, UsageError
from sfumato.pipeline.tuning import room_of
from sfumato.workload.settings_search import SearchSpace, best, search
from sfumato.workload.workload_files import parse_workload

POLICY = """
version = 1
[columns.age]
role = "quasi"
[columns.height]
role = "quasi"
[columns.job]
role = "sensitive"
[[require]]
model = "{model}"
k = {k}
[algorithm]
name = "mondrian"
[publish]
operator = "{operator}"
"""
SELECTIVE = """
[[random]]
count = 120
seed = 4
histogram = "job"
selectivity = {age = 3}
"""


def policy(*, operator="generalize", k=40):
    model = "k-anonymity" if operator == "generalize" else "group-size"
    return sf.Policy.parse(POLICY.format(operator=operator, model=model, k=k))


def people(rows=2000):
    """Jobs follow age; height says nothing."""
    random = np.random.default_rng(0)
    age = random.integers(20, 70, rows)
    job = (age // 5 + random.integers(0, 2, rows)).astype(str)
    return pa.table({"age": age, "height": random.integers(150, 200, rows), "job": job})


def distance(target):
    def score(settings):
        off = sum(abs(log2(settings[key] / target[key])) for key in ("a", "b"))
        return off + (settings["cut"] != target["cut"])

    return score


FIELD = SearchSpace(weights={"a": 1.0, "b": 1.0}, options={"cut": ["x", "y"]})


def test_the_search_walks_to_the_lowest_error():
    score = distance({"a": 25.0, "b": 0.2, "cut": "y"})
    found = best(search(FIELD, score, trials=60))
    assert found.settings == {"a": 25.0, "b": 0.2, "cut": "y"}


def test_the_first_trial_is_the_policy_as_it_is():
    trials = search(FIELD, distance({"a": 5.0, "b": 1.0, "cut": "x"}), trials=9)
    assert trials[0].settings == FIELD.start


def test_nothing_is_tried_twice_or_beyond_the_limit():
    asked = []

    def note(settings):
        asked.append(dict(settings))
        return 1.0

    search(FIELD, note, trials=7)
    assert len(asked) == 7
    assert len({tuple(sorted(each.items())) for each in asked}) == 7


def test_weights_and_known_options_are_searched_unless_kept():
    room = room_of(policy(), keep=["height", "mode"])
    assert room.weights == {'columns."age".weight': 1.0}
    assert room.options == {
        "algorithm.cut": ["gain", "widest"],
        "algorithm.flat_order": ["frequency", "likeness"],
    }


def test_a_name_to_keep_must_be_known():
    with pytest.raises(PolicyError, match="'heigth' is neither a quasi-identifier"):
        room_of(policy(), keep=["heigth"])


@pytest.fixture(scope="module")
def tuned():
    return sf.tune(
        people(),
        policy(),
        parse_workload(SELECTIVE),
        trials=8,
        keep=["mode", "cut", "flat_order"],
        seed=Seed.guessable(1),
    )


def test_tuning_to_one_attribute_lowers_the_held_out_error_beyond_chance(tuned):
    assert tuned.better
    assert tuned.held_out_ratio.high < 100.0


def test_a_policy_whose_answers_are_exact_cannot_become_better():
    exact = pa.table({"age": [20, 30] * 20, "height": [170] * 40, "job": ["a"] * 40})
    queries = parse_workload(SELECTIVE.replace("{age = 3}", "{age = 1}"))
    found = sf.tune(exact, policy(k=5), queries, trials=2, seed=Seed.guessable(1))
    assert found.held_out_before.value == 0.0
    assert not found.better


def test_tuning_changes_weights_and_no_requirement(tuned):
    assert tuned.policy.column("age").weight > tuned.policy.column("height").weight
    assert tuned.policy.require == policy().require


def test_the_held_out_error_is_that_of_the_tuned_policy(tuned):
    queries = parse_workload(SELECTIVE)
    release = sf.anonymize(people(), tuned.policy, seed=Seed.guessable(9))
    before = sf.anonymize(people(), policy(), seed=Seed.guessable(9))
    after = sf.workload_error(people(), release, queries)
    assert after.against(sf.workload_error(people(), before, queries)).value < 100.0


def test_a_swapped_table_is_judged_on_fresh_draws():
    found = sf.tune(
        people(400),
        policy(operator="swap", k=10),
        parse_workload(SELECTIVE),
        trials=2,
        keep=["mode", "cut", "flat_order"],
        seed=Seed.guessable(1),
    )
    assert found.held_out_before.value > 0.0
    assert len(found.trials) == 2


def test_a_policy_with_a_privacy_budget_is_not_tuned():
    private = sf.Policy.parse(
        POLICY.format(operator="generalize", model="k-anonymity", k=5)
        + '[[require]]\nmodel = "differential-privacy"\nepsilon = 1.0\n'
    )
    with pytest.raises(RefusedError, match="every trial spends budget"):
        sf.tune(people(), private, parse_workload(SELECTIVE))


def test_the_command_reports_both_parts_and_writes_the_policy(tmp_path, capsys):
    arrow_csv.write_csv(people(600), tmp_path / "people.csv")
    text = POLICY.format(operator="generalize", model="k-anonymity", k=20)
    (tmp_path / "p.toml").write_text(text + '[data]\npath = "people.csv"\n')
    (tmp_path / "w.toml").write_text(SELECTIVE)
    words = ["tune", str(tmp_path / "p.toml"), "--workload", str(tmp_path / "w.toml")]
    kept = [word for name in ("mode", "cut", "flat_order") for word in ("--keep", name)]
    out = tmp_path / "tuned.toml"
    options = ["--trials", "3", "--insecure-seed", "1", "--json", "--out", str(out)]
    assert run([*words, *kept, *options]) == 0
    record = json.loads(capsys.readouterr().out)
    # 48 windows of three ages are possible; each counts once, however often drawn.
    assert 40 < record["train"]["queries"] + record["held_out"]["queries"] <= 48
    assert record["held_out"]["percent_of_before"]["low"] > 0
    assert sf.Policy.load(out).require == sf.Policy.load(tmp_path / "p.toml").require


def test_an_unknown_column_of_the_workload_is_named():
    workload = parse_workload("[[query]]\nhistogram = 'shoe'")
    with pytest.raises(DataError, match="no column 'shoe'"):
        sf.workload_error(people(50), people(50), workload)


def test_two_workloads_cannot_be_compared():
    one, two = (
        sf.workload_error(people(50), people(50), parse_workload(text))
        for text in (SELECTIVE, "[[query]]\nhistogram = 'job'")
    )
    with pytest.raises(UsageError, match="120 queries cannot be compared with 1"):
        one.against(two)
