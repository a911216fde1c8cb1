"""`sfumato compare`: what it prints, what it writes, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from stat import S_IMODE

import pytest

from sfumato.cli import main
from sfumato.pipeline.comparison import worker_pool
from sfumato.pipeline.private_notes import PRIVATE
from sfumato.risk.learned import scikit

TABLE = "age,city,illness\n" + "".join(
    f"{20 + i % 37},{('Bari', 'Rome', 'Pisa')[i % 3]},D{i % 4}\n" for i in range(120)
)
POLICY = """\
[data]
path = "people.csv"
[columns]
age = { role = "quasi" }
city = { role = "quasi" }
illness = { role = "sensitive" }
[[require]]
model = "k-anonymity"
k = 2
[compare]
algorithms = ["mondrian", "k-member"]
set = { "require.0.k" = [2, 10] }
"""
NAMES = ["mondrian, k = 2", "mondrian, k = 10", "k-member, k = 2", "k-member, k = 10"]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a table and a policy."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(TABLE, encoding="utf-8")
    (tmp_path / "policy.toml").write_text(POLICY, encoding="utf-8")
    return tmp_path


def compare(*words: str) -> int:
    return main(["compare", "policy.toml", "--insecure-seed", "1", *words])


def compared(capsys: pytest.CaptureFixture[str], *words: str) -> dict:
    compare(*words, "--json")
    return json.loads(capsys.readouterr().out)


def test_people_read_a_private_table_of_candidates(place, capsys):
    assert compare() == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == PRIVATE
    assert lines[2].startswith("4 candidates, ")
    assert sum("mondrian, k = 10" in line for line in lines) == 1


def test_json_says_first_that_it_is_private(place, capsys):
    compare("--json")
    assert capsys.readouterr().out.splitlines()[0].startswith('{ "private": "Private')


def test_json_has_every_candidate_with_its_figures(place, capsys):
    found = compared(capsys)
    assert [each["name"] for each in found["candidates"]] == NAMES
    assert {each["status"] for each in found["candidates"]} == {"finished"}
    risks = [each["figures"]["prosecutor_max"] for each in found["candidates"]]
    assert max(risks[0], risks[2]) <= 0.5
    assert max(risks[1], risks[3]) <= 0.1


def test_no_output_holds_the_seed(place, capsys):
    main(["compare", "policy.toml", "--page", "page.html", "--json"])
    said = capsys.readouterr().out + (place / "page.html").read_text(encoding="utf-8")
    assert '"seed"' not in said


def test_the_page_is_private_and_says_so(place):
    assert compare("--page", "page.html") == 0
    assert S_IMODE((place / "page.html").stat().st_mode) == 0o600
    first = (place / "page.html").read_text(encoding="utf-8").splitlines()[0]
    assert PRIVATE in first


def test_a_page_is_never_written_over(place, capsys):
    (place / "page.html").write_text("mine", encoding="utf-8")
    assert compare("--page", "page.html") == 2
    assert "'page.html' exists already" in capsys.readouterr().err


def test_a_pick_writes_the_release_that_anonymize_would(place, capsys):
    assert compare("--pick", "min-loss", "--out", "chosen") == 0
    picked = json.loads((place / "chosen" / "manifest.json").read_text("utf-8"))
    capsys.readouterr()
    found = compared(capsys)
    best = found["candidates"][found["picks"]["min-loss"] - 1]
    words = [f"{key}={value}" for key, value in best["settings"].items()]
    sets = [word for each in words for word in ("--set", each)]
    main(["anonymize", "policy.toml", "--insecure-seed", "1", "--out", "same", *sets])
    same = json.loads((place / "same" / "manifest.json").read_text("utf-8"))
    assert picked["data_sha256"] == same["data_sha256"]


FLOOR = ["--set", "require.0.k=5"]
WEAKER = [*FLOOR, "--allow-weaker"]


def test_candidates_below_the_policy_are_left_out_and_named(place, capsys):
    assert compare(*FLOOR) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith(
        "2 candidates of [compare] are below the policy and left"
    )
    assert "k = 2 instead of 5" in lines[1]
    assert not any("k = 2 " in line for line in lines[2:])


def test_candidates_below_the_policy_are_named_where_they_are_allowed(place, capsys):
    assert compare(*WEAKER) == 0
    lines = capsys.readouterr().out.splitlines()
    weaker = [line for line in lines if "below the policy: k = 2 instead of 5" in line]
    assert len(weaker) == 2
    assert not any("front" in line or "min-" in line for line in weaker)


@pytest.mark.parametrize("pick", ["min-risk", "min-loss"])
def test_no_named_pick_takes_a_candidate_below_the_policy(place, pick):
    assert compare(*WEAKER, "--pick", pick, "--out", "r") == 0
    manifest = json.loads((place / "r" / "manifest.json").read_text("utf-8"))
    assert manifest["policy"]["require"][0]["k"] == 10
    assert "lowered" not in manifest


def test_a_number_below_the_policy_needs_a_name_and_a_reason(place, capsys):
    assert compare(*WEAKER, "--pick", "1", "--out", "r") == 2
    said = capsys.readouterr().err
    assert "(mondrian, k = 2) is below the policy: k = 2 instead of 5." in said
    assert "--because" in said
    assert not (place / "r").exists()


def test_a_number_below_the_policy_is_written_with_its_history(place, capsys):
    words = ["--pick", "1", "--out", "r", "--by", "Ada Byron", "--because", "agreed"]
    assert compare(*WEAKER, *words) == 0
    assert "Warning: candidate 1 is below the policy" in capsys.readouterr().err
    manifest = json.loads((place / "r" / "manifest.json").read_text("utf-8"))
    assert manifest["lowered"][0]["asked"] == 5
    assert manifest["lowered"][0]["because"] == "agreed"


def test_a_number_within_the_policy_is_written_as_any_pick(place):
    assert compare("--pick", "2", "--out", "r") == 0
    manifest = json.loads((place / "r" / "manifest.json").read_text("utf-8"))
    assert manifest["policy"]["require"][0]["k"] == 10


def test_a_front_without_a_knee_ends_with_2_shows_all_and_names_min_loss(place, capsys):
    only = ["--set", 'compare.algorithms=["mondrian"]']
    assert compare(*only, "--pick", "knee", "--out", "r", "--page", "page.html") == 2
    told = capsys.readouterr()
    assert "There is no knee: the front has 2 points, and a knee needs 3." in told.err
    assert "min-loss" in told.err
    assert "mondrian, k = 10" in told.out
    assert (place / "page.html").exists()
    assert not (place / "r").exists()


def test_a_pick_that_is_no_name_and_no_number_is_refused(place, capsys):
    assert compare("--pick", "best", "--out", "r") == 2
    assert "knee, min-risk, min-loss, or a number" in capsys.readouterr().err


def test_a_pick_needs_a_place(place, capsys):
    assert compare("--pick", "knee") == 2
    assert "--out says where; one is missing" in capsys.readouterr().err


def test_an_unknown_axis_ends_with_2_and_the_names(place, capsys):
    assert compare("--risk", "danger") == 2
    said = capsys.readouterr().err
    assert "There is no risk figure 'danger'" in said
    assert "prosecutor_max" in said
    assert "linkage" in said


def test_a_figure_of_utility_is_no_risk(place, capsys):
    assert compare("--risk", "ncp") == 2
    assert "There is no risk figure 'ncp'" in capsys.readouterr().err


def test_axes_of_an_assessment_and_of_an_attack_can_be_chosen(place, capsys):
    found = compared(capsys, "--risk", "linkage", "--utility", "q_diversity")
    assert all(
        {"linkage", "q_diversity", "t", "s_diversity"} <= set(each["figures"])
        for each in found["candidates"]
    )


def test_a_workload_axis_needs_queries(place, capsys):
    assert compare("--utility", "workload_error") == 2
    assert "--workload" in capsys.readouterr().err


def test_a_learned_axis_without_scikit_learn_is_refused_before_any_work(
    place, capsys, monkeypatch
):
    monkeypatch.setattr(scikit, "find_spec", lambda name: None)
    assert compare("--utility", "learned_score") == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "Error: Learning from a release needs scikit-learn" in told.err


def test_a_column_that_no_release_shows_cannot_be_learned(place, capsys):
    assert compare("--utility", "learned_score", "--target", "name") == 2
    assert "No candidate shows a column 'name'" in capsys.readouterr().err


def test_reasons_that_several_candidates_share_are_printed_once(place, capsys):
    assert compare("--risk", "journalist_max") == 3
    told = capsys.readouterr().out.splitlines()
    reasons = [line for line in told if "without journalist_max: " in line]
    assert [line.split(" without")[0] for line in reasons] == ["  1, 2, 3 and 4"]


def test_limits_accept_some_candidates(place, capsys):
    found = compared(capsys, "--set", "accept.prosecutor_max=0.1")
    assert [each["accepted"] for each in found["candidates"]] == [
        False,
        True,
        False,
        True,
    ]


def test_no_accepted_candidate_ends_with_3_the_limit_and_the_nearest(place, capsys):
    limits = ["--set", "accept.prosecutor_max=0.09", "--set", "accept.ncp=0.0001"]
    assert compare(*limits, "--page", "page.html", "--pick", "knee", "--out", "r") == 3
    said = capsys.readouterr().err
    assert "None of 4 candidates is accepted" in said
    assert "ncp at most 0.01% is met by none" in said
    assert "Nearest is candidate" in said
    assert (place / "page.html").exists()
    assert not (place / "r").exists()


def test_an_unknown_limit_ends_with_2(place, capsys):
    assert compare("--set", "accept.harm=0.1") == 2
    assert "There is no figure 'harm'" in capsys.readouterr().err


def test_a_failed_candidate_is_shown_and_the_others_go_on(place, capsys):
    found = compared(capsys, "--set", 'compare.set={"require.0.k"=[2,500]}')
    states = [each["status"] for each in found["candidates"]]
    assert states == ["finished", "failed", "finished", "failed"]
    assert found["candidates"][1]["error"] == {
        "kind": "InfeasibleError",
        "message": "k-anonymity needs groups of at least 500; the table has 120.",
        "hint": "Lower k to 120 or less, or add rows.",
        "exit_code": 3,
    }


def test_a_policy_that_is_out_of_reach_is_explained_once_and_tried_never(place, capsys):
    assert compare("--set", 'compare.set={"require.0.k"=[500]}') == 3
    said = capsys.readouterr().err
    assert said.count("the table has 120") == 1
    assert "Lower k to 120" in said
    assert "candidate" not in said


def test_ctrl_c_keeps_what_is_finished_and_ends_with_130(place, capsys, monkeypatch):
    hear = worker_pool.Tally.hear

    def stop_after_one(tally, number, said):
        hear(tally, number, said)
        if tally.outcomes:
            raise KeyboardInterrupt

    monkeypatch.setattr(worker_pool.Tally, "hear", stop_after_one)
    assert compare("--workers", "1", "--page", "page.html", "--json") == 130
    found = json.loads(capsys.readouterr().out)
    states = [each["status"] for each in found["candidates"]]
    assert states == ["finished", "not run", "not run", "not run"]
    assert found["stopped"]
    assert found["error"]["kind"] == "Interrupted"
    page = (place / "page.html").read_text(encoding="utf-8")
    assert "Missing here: mondrian, k = 10; k-member, k = 2; k-member, k = 10." in page


def test_the_dial_says_where_the_balance_lies(place, capsys):
    assert compare("--dial", "--steps", "3", "--set", "publish.max_loss=1") == 0
    said = capsys.readouterr().out
    assert "TGCP" in said
    assert "TGCU" in said


def test_a_policy_without_compare_has_a_default(place, capsys):
    text = POLICY.partition("[compare]")[0]
    (place / "policy.toml").write_text(text, encoding="utf-8")
    found = compared(capsys)
    assert {each["algorithm"] for each in found["candidates"]} == {
        "best",
        "harvest",
        "mondrian",
        "k-member",
        "local-optimal",
    }
