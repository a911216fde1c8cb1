"""What a comparison shares between candidates, and what it never tells."""

from __future__ import annotations

import json
import threading
from math import isclose

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.algorithms.full_domain import distinct_tuples
from sfumato.data.seeds import Seed
from sfumato.errors import (
    BudgetError,
    InfeasibleError,
    PolicyError,
    RefusedError,
    UsageError,
)
from sfumato.pipeline import build_request
from sfumato.pipeline.comparison import compare_policies, worker_pool
from sfumato.pipeline.comparison import try_candidate as trying
from sfumato.pipeline.comparison.candidate_policies import candidates
from sfumato.pipeline.comparison.comparison_figures import Measuring
from sfumato.pipeline.comparison.trade_off_dial import DialPoint, DialSweep
from sfumato.pipeline.comparison.try_candidate import Outcome, SharedWork, try_candidate
from sfumato.pipeline.comparison.worker_pool import Tally
from sfumato.policy import Policy
from tests.private_comparison import PRIVATE_POLICY

POLICY = """
[columns]
age = { role = "quasi", hierarchy = { intervals = [5, 10, 20] } }
city = { role = "quasi" }
illness = { role = "sensitive" }
[[require]]
model = "k-anonymity"
k = 2
[compare]
algorithms = ["optimal", "incognito", "mondrian"]
set = { "require.0.k" = [2, 10] }
"""


def table(rows: int = 120) -> pa.Table:
    return pa.table(
        {
            "age": [20 + i % 37 for i in range(rows)],
            "city": [("Bari", "Rome", "Pisa")[i % 3] for i in range(rows)],
            "illness": [f"canary-{i % 4}" for i in range(rows)],
        }
    )


def work_on(source: pa.Table) -> SharedWork:
    return SharedWork(
        source=source,
        base=None,
        seed=Seed.guessable(1),
        threads=1,
        measuring=Measuring(names=("ncp", "prosecutor_max")),
    )


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run candidates in this process: a worker needs a second to start."""

    def run(work, tried, **_):
        return {e.number: try_candidate(work, e.policy) for e in tried}, False

    from sfumato.pipeline.comparison import compare_policies

    monkeypatch.setattr(compare_policies, "run_candidates", run)


def counted_calls(monkeypatch, module, name):
    """A list that grows with every call of a function of a module."""
    seen: list[str] = []
    function = getattr(module, name)

    def called(*args, **kwargs):
        seen.append(name)
        return function(*args, **kwargs)

    monkeypatch.setattr(module, name, called)
    return seen


def test_the_source_is_coded_once_for_all_candidates(monkeypatch):
    seen = counted_calls(monkeypatch, build_request, "coded_table")
    work = work_on(table())
    for each in candidates(Policy.parse(POLICY), rows=120):
        assert try_candidate(work, each.policy).failure is None
    assert len(seen) == 1


def test_the_tuples_of_a_lattice_are_laid_out_once(monkeypatch):
    seen = counted_calls(monkeypatch, distinct_tuples, "build_chunks")
    work = work_on(table())
    for each in candidates(Policy.parse(POLICY), rows=120):
        try_candidate(work, each.policy)
    assert len(seen) == 1


def test_another_way_to_read_the_source_is_coded_by_itself():
    text = POLICY.replace(
        '"require.0.k" = [2, 10]',
        '"columns.age.hierarchy" = [{ intervals = [5] }, { intervals = [20] }]',
    )
    work = work_on(table())
    found = [
        try_candidate(work, each.policy).figures["ncp"]
        for each in candidates(Policy.parse(text), rows=120)[:2]
    ]
    alone = [
        sf.anonymize(table(), each.policy, insecure_seed=1).utility["ncp"]
        for each in candidates(Policy.parse(text), rows=120)[:2]
    ]
    assert found == alone


def test_shared_work_changes_no_release():
    work = work_on(table())
    for each in candidates(Policy.parse(POLICY), rows=120):
        alone = sf.anonymize(table(), each.policy, insecure_seed=1)
        assert work.make(each.policy).table.equals(alone.table)


def test_an_unexpected_error_tells_its_type_and_no_more(monkeypatch):
    def fail(*_):
        raise ValueError("canary-1")

    monkeypatch.setattr(trying, "make_release", fail)
    found = try_candidate(work_on(table()), Policy.parse(POLICY))
    assert found.failure.message == "An unexpected error of type ValueError."


def test_no_cell_is_in_any_output(in_process, tmp_path):
    found = sf.compare(table(), Policy.parse(POLICY))
    found.page(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    said = json.dumps(found.record()) + page + found._repr_html_() + repr(found)
    assert "canary" not in said
    assert "Bari" not in said


def test_the_release_of_a_pick_is_proven_and_can_be_saved(in_process, tmp_path):
    found = sf.compare(table(), Policy.parse(POLICY), insecure_seed=1)
    release = found.release("min-risk")
    assert all(each["holds"] for each in release.verdicts)
    assert release.save(tmp_path / "release")["rows_out"] == 120


def test_a_number_that_no_candidate_has_is_refused(in_process):
    found = sf.compare(table(), Policy.parse(POLICY))
    with pytest.raises(UsageError, match="numbered from 1 to 6"):
        found.pick(7)


def test_settings_make_a_policy(in_process):
    found = sf.compare(table(400), quasi=["age", "city"], sensitive="illness", k=4)
    assert {each.status for each in found.candidates} == {"finished"}


def test_a_policy_that_is_out_of_reach_starts_no_candidate(monkeypatch):
    started: list[object] = []
    monkeypatch.setattr(compare_policies, "run_candidates", started.append)
    with pytest.raises(InfeasibleError, match="the table has 1") as caught:
        sf.compare(table(1), Policy.parse(POLICY))
    assert not started
    assert caught.value.message.count("the table has 1") == 1
    assert "k" in caught.value.hint


def test_candidates_start_where_one_of_them_is_within_reach(in_process):
    policy = Policy.parse(POLICY).with_settings(
        {"compare.set": {"require.0.k": [2, 500]}}
    )
    found = sf.compare(table(), policy)
    assert {each.status for each in found.candidates} == {"finished", "failed"}


def test_a_stop_that_was_asked_for_before_runs_nothing():
    stop = threading.Event()
    stop.set()
    found = sf.compare(table(), Policy.parse(POLICY), stop=stop)
    assert found.stopped
    assert {each.status for each in found.candidates} == {"not run"}


def test_a_worker_that_ends_fails_its_candidate_alone(monkeypatch):
    monkeypatch.setattr(worker_pool, "PROGRAM", "sfumato.no_such_program")
    found = sf.compare(table(), Policy.parse(POLICY), workers=1)
    message = found.candidates[0].outcome.failure.message
    assert message == (
        "The worker process ended with 1 before the candidate was finished."
    )


def test_time_left_is_that_of_the_same_algorithm():
    tried = candidates(Policy.parse(POLICY), rows=120)
    tally = Tally(tried, workers=2)
    assert tally.seconds_left() is None
    tally.hear(1, Outcome(seconds=4.0))
    tally.hear(3, Outcome(seconds=1.0))
    tally.hear(2, 0.5)
    # Half of candidate 2 (4 s), candidate 4 (1 s), 5 and 6 (2.5 s each); two workers.
    assert isclose(tally.seconds_left(), (2.0 + 1.0 + 2.5 + 2.5) / 2)


def test_progress_counts_candidates_and_shows_the_time_left():
    said = []
    tried = candidates(Policy.parse(POLICY), rows=120)
    tally = Tally(tried, workers=1, progress=lambda *args: said.append(args))
    tally.hear(1, Outcome(seconds=13.0))
    assert said == [("1/6 1:05 left", 1 / 6)]


def test_privacy_budget_is_not_spent_without_consent(tmp_path):
    policy = Policy.parse(PRIVATE_POLICY)
    with pytest.raises(BudgetError, match=r"2 candidates would cost epsilon 1\.5"):
        sf.compare(table(), policy, base=tmp_path)
    assert not (tmp_path / "ledger.json").exists()


def test_every_candidate_is_charged_once_and_its_release_is_kept(in_process, tmp_path):
    source = pa.table({"age": [i % 100 for i in range(3000)]})
    policy = Policy.parse(PRIVATE_POLICY)
    found = sf.compare(source, policy, base=tmp_path, spend=True)
    assert {each.status for each in found.candidates} == {"finished"}
    found.release(1)
    found.release(2)
    charges = json.loads((tmp_path / "ledger.json").read_text("utf-8"))["charges"]
    assert [each["epsilon"] for each in charges] == [0.5, 1.0]


def test_no_choice_under_a_ledger_looks_at_the_source(tmp_path):
    policy = Policy.parse(PRIVATE_POLICY)
    with pytest.raises(RefusedError, match="'linkage' compares with the source"):
        sf.compare(table(), policy, risk="linkage", base=tmp_path, spend=True)


def test_candidates_under_a_ledger_have_to_be_named(tmp_path):
    policy = Policy.parse(PRIVATE_POLICY.partition("[compare]")[0])
    with pytest.raises(PolicyError, match="spends privacy budget"):
        sf.compare(table(), policy, base=tmp_path, spend=True)


def test_the_balance_is_scaled_between_the_ends_of_the_dial():
    sweep = DialSweep(
        "",
        (
            DialPoint(0.0, 1, loss=5.0, exposure=0.2),
            DialPoint(0.5, 2, loss=2.0, exposure=0.3),
            DialPoint(1.0, 3, loss=1.0, exposure=0.6),
        ),
    )
    found = sweep.balance()
    assert isclose(found["q_diversity"], 0.25)
    assert isclose(found["s_diversity"], 0.25)


def test_plots_hold_every_candidate_and_no_cell(in_process):
    found = sf.compare(table(), Policy.parse(POLICY))
    drawn = found.plot().to_dict()
    values = drawn["layer"][-1]["data"]["values"]
    assert [each["number"] for each in values] == [1, 2, 3, 4, 5, 6]
    assert "canary" not in json.dumps(drawn)


def test_a_release_is_drawn_from_its_publishable_facts():
    release = sf.anonymize(table(), quasi=["age", "city"], k=4, unlisted="drop")
    drawn = release.plot().to_dict()
    assert len(drawn["hconcat"]) == 2
    assert "Bari" not in json.dumps(drawn)


def test_without_altair_the_error_has_the_exact_command(monkeypatch):
    import sys

    from sfumato.errors import InstallationError

    monkeypatch.setitem(sys.modules, "altair", None)
    release = sf.anonymize(table(), quasi=["age", "city"], k=4, unlisted="drop")
    with pytest.raises(InstallationError, match=r"pip install 'sfumato\[plots\]'"):
        release.plot()
