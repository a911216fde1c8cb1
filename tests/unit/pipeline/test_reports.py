"""Both editions of a report: made again without the source, signed, kept apart."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import sfumato as sf
from sfumato.cli import main
from sfumato.pipeline.reports import keep_assessment

PRIVATE = "Private: computed from the source. Do not publish or share it."


@pytest.fixture
def place(tmp_path) -> Path:
    people = pd.DataFrame(
        {
            "name": [f"person {i}" for i in range(120)],
            "age": [20 + i % 60 for i in range(120)],
            "pay": [1000 + 37 * i for i in range(120)],
            "illness": [f"illness {i % 6}" for i in range(120)],
        }
    )
    source = tmp_path / "people.csv"
    people.to_csv(source, index=False)
    release = sf.anonymize(
        source,
        identifier=["name"],
        quasi=["age", "pay"],
        sensitive=["illness"],
        k=5,
        l=2,
        insecure_seed=1,
    )
    release.save(tmp_path / "release")
    source.unlink()
    return tmp_path / "release"


def pages(place: Path) -> tuple[str, str]:
    files = (place / "report.html", place / "private" / "report.html")
    public, private = (file.read_text(encoding="utf-8") for file in files)
    return public, private


def test_both_editions_are_made_again_without_the_source(place):
    before = pages(place)
    for file in (place / "report.html", place / "private" / "report.html"):
        file.unlink()
    assert main(["report", str(place)]) == 0
    assert pages(place) == before


def test_the_private_edition_says_so_in_its_first_line_and_is_its_owners_alone(place):
    file = place / "private" / "report.html"
    assert PRIVATE in file.read_text(encoding="utf-8").splitlines()[0]
    assert file.stat().st_mode & 0o777 == 0o600
    assert main(["report", str(place)]) == 0
    assert file.stat().st_mode & 0o777 == 0o600


def test_seed_path_and_hash_of_the_source_are_in_the_private_edition_alone(place):
    audit = json.loads((place / "private" / "audit.json").read_text(encoding="utf-8"))
    public, private = pages(place)
    for secret in (audit["seed"], audit["source_sha256"], audit["source_file"]):
        assert secret in private
        assert secret not in public


def test_risk_before_publishing_is_in_the_private_edition_alone(place):
    public, private = pages(place)
    assert "Risk before and after" in private
    assert "Correlations before and after" in private
    assert "Correlations before and after" not in public
    assert "Remaining risk" in public


def test_a_signature_is_in_both_editions_and_stays(place):
    words = ["--approver", "Ada <Lovelace>", "--note", "Once a year."]
    assert main(["report", str(place), *words]) == 0
    assert main(["report", str(place)]) == 0
    for page in pages(place):
        assert "Ada &lt;Lovelace&gt;" in page
        assert "Once a year." in page


def test_an_unsigned_report_has_room_for_a_signature(place):
    assert all("Not yet approved." in page for page in pages(place))


def test_a_signature_of_another_file_is_not_shown(place):
    main(["report", str(place), "--approver", "Ada"])
    file = place / "private" / "signature.json"
    signature = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(signature | {"data_sha256": "0" * 64}), encoding="utf-8")
    main(["report", str(place)])
    assert all("Not yet approved." in page for page in pages(place))


def test_the_results_are_told_as_json(place, capsys):
    assert main(["report", str(place), "--approver", "Ada", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["signature"]["approver"] == "Ada"
    assert told["public"] == str(place / "report.html")


def attacked(place: Path, **changes: object) -> None:
    result = {
        "name": "linkage",
        "column": None,
        "known": ["age", "pay"],
        "n": 120,
        "success": 0.1234,
        "low": 0.1,
        "high": 0.15,
        "baseline": 0.0098,
        "control": None,
        "worst": 0.2,
        "bound": 0.2,
        "exceeded": False,
        "options": {},
        "note": "",
        "at_risk": [3, 5],
    }
    lines = [{"private": PRIVATE}, result | changes]
    with (place / "private" / "attacks.jsonl").open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


def test_attacks_are_told_in_public_only_as_within_or_above_their_bound(place):
    attacked(place)
    attacked(place, name="guess", bound=None)
    assert main(["report", str(place)]) == 0
    public, private = pages(place)
    assert "✓ within the promised bound" in public
    assert "12.3%" not in public
    assert "guess</th>" not in public
    assert "12.3%" in private
    assert "0.98%" in private
    assert "guess</th>" in private


def test_the_private_edition_colors_attacks_by_the_worst_of_them(place):
    attacked(place, success=0.275, low=0.25, high=0.3, baseline=0.0004)
    assert main(["report", str(place)]) == 0
    public, private = pages(place)
    assert '<p class="light red">✗ Attacks: gain large, bounds hold' in private
    assert '<p class="light red">✗ Largest gain over guessing: 27.5%, large' in private
    assert "✗ 27.5% large" in private
    assert "small up to 9% and large above 20%" in private
    assert "large" not in public.split('id="attacks"')[1].split("</section>")[0]


def test_the_report_lists_the_attacks_that_were_not_tried(place):
    assert main(["report", str(place)]) == 0
    public, private = pages(place)
    assert "17 of 17 attacks were not tried: linkage" in private
    assert "not tried" not in public
    attacked(place)
    kept = {"private": PRIVATE, "skipped": {"definetti": "the table is not swapped"}}
    with (place / "private" / "attacks.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(kept) + "\n")
    assert main(["report", str(place)]) == 0
    for page in pages(place):
        assert "15 of 17 attacks were not tried: distance-linkage" in page
        assert "1 could not be run: definetti." in page


def test_the_last_result_of_an_attack_counts(place):
    attacked(place)
    attacked(place, exceeded=True, worst=0.5)
    assert main(["report", str(place)]) == 0
    public, _ = pages(place)
    assert "✗ above the promised bound" in public
    assert "✓ within the promised bound" not in public


def test_a_workload_and_models_that_were_measured_are_in_the_private_edition(place):
    figure = {"value": 0.25, "low": 0.2, "high": 0.3}
    kept = {
        "private": PRIVATE,
        "utility": {
            "precision": 0.75,
            "workload": {"queries": 9, "empty_queries": 1, "mean_absolute": figure},
            "learned": {
                "target": "illness",
                "measure": "accuracy",
                "rows": 120,
                "models": {"linear": {"original": figure, "release": figure}},
                "baseline": figure,
            },
        },
    }
    file = place / "private" / "assessment.json"
    file.write_text(json.dumps(kept), encoding="utf-8")
    assert main(["report", str(place)]) == 0
    public, private = pages(place)
    assert "9 queries, of which 1 find no row" in private
    assert "Learning illness from 120 rows" in private
    assert "queries" not in public


def test_an_assessment_of_a_release_is_kept_for_its_report(tmp_path):
    assert main(["demo", "--out", str(tmp_path / "demo")]) == 0
    demo = tmp_path / "demo"
    files = [
        "--original",
        str(demo / "source.csv"),
        "--published",
        str(demo / "release"),
    ]
    assert main(["assess", *files, "--policy", str(demo / "policy.toml")]) == 0
    kept = demo / "release" / "private" / "assessment.json"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert PRIVATE in kept.read_text(encoding="utf-8").splitlines()[0]
    assert main(["report", str(demo / "release")]) == 0
    public, private = pages(demo / "release")
    assert "KL divergence of columns" in private
    assert "KL divergence of columns" not in public


def test_an_assessment_keeps_what_an_earlier_one_measured(place):
    first = {"private": PRIVATE, "utility": {"ncp": 0.5, "workload": {"queries": 3}}}
    keep_assessment(place, first)
    target = keep_assessment(place, {"private": PRIVATE, "utility": {"ncp": 0.4}})
    kept = json.loads(target.read_text(encoding="utf-8"))
    assert kept["utility"] == {"ncp": 0.4, "workload": {"queries": 3}}


def test_a_changed_data_file_is_not_reported(place, capsys):
    with (place / "data.csv").open("a", encoding="utf-8") as file:
        file.write("1,2,3\n")
    assert main(["report", str(place)]) == 2
    assert "is not the file that its manifest describes" in capsys.readouterr().err


def test_a_release_without_its_private_part_is_refused(place, capsys):
    (place / "private").rename(place.parent / "elsewhere")
    assert main(["report", str(place)]) == 2
    assert "has no private part" in capsys.readouterr().err


def test_a_directory_that_is_no_release_is_refused(tmp_path, capsys):
    assert main(["report", str(tmp_path)]) == 2
    assert "is not a release directory" in capsys.readouterr().err


def test_a_damaged_record_is_named(place, capsys):
    (place / "private" / "audit.json").write_text("{", encoding="utf-8")
    assert main(["report", str(place)]) == 2
    assert (
        "audit.json' does not hold what Sfumato writes there" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--note", "fine"], "A note is signed by nobody."),
        (["--approver", "  "], "--approver is empty."),
        (["--approver", "a\x07"], "--approver has 2 characters"),
        (["--approver", "a" * 2001], "--approver has 2,001 characters"),
    ],
)
def test_a_signature_needs_a_name_of_plain_text(place, capsys, words, said):
    assert main(["report", str(place), *words]) == 2
    assert said in capsys.readouterr().err


def test_the_command_in_the_private_edition_makes_the_same_file_again(tmp_path):
    """The demo, made again by the words that its private report gives."""
    assert main(["demo", "--out", str(tmp_path / "demo")]) == 0
    demo = tmp_path / "demo"
    page = (demo / "release" / "private" / "report.html").read_text(encoding="utf-8")
    words = page.split("<code>sfumato anonymize ")[1].split("</code>")[0].split()
    given = dict(zip(words[1::2], words[2::2], strict=True))
    source = demo / given["--data"]
    again = ["anonymize", str(demo / "policy.toml"), "--data", str(source)]
    again += ["--seed", given["--seed"], "--out", str(tmp_path / "again")]
    assert main(again) == 0
    first, second = demo / "release" / "data.csv", tmp_path / "again" / "data.csv"
    assert first.read_bytes() == second.read_bytes()


def test_under_a_process_model_nothing_is_compared_with_the_source(tmp_path):
    people = pd.DataFrame({"age": [20 + i % 30 for i in range(600)]})
    release = sf.anonymize(
        people,
        quasi=["age"],
        hierarchies={"age": {"intervals": [5, 10, 20]}},
        domains={"age": {"low": 20, "high": 49}},
        kinds={"age": "integer"},
        require=[{"model": "differential-privacy", "epsilon": 2.0, "delta": 1e-4}],
        algorithm="safepub",
    )
    release.save(tmp_path / "release")
    assert "marginals" not in release.facts
    attacked(tmp_path / "release")
    assert main(["report", str(tmp_path / "release")]) == 0
    public, _ = pages(tmp_path / "release")
    assert "Attacks that were tried" not in public
    assert "rows in the source" not in public


def test_a_sensitive_flag_of_two_numbers_has_its_counts_in_public():
    people = pd.DataFrame(
        {
            "age": [20 + i % 60 for i in range(120)],
            "ill": [i % 3 // 2 for i in range(120)],
        }
    )
    release = sf.anonymize(people, quasi=["age"], sensitive=["ill"], k=5)
    lines = release.facts["marginals"]["ill"]
    assert {line["label"]: line["before"] for line in lines} == {"0": 80, "1": 40}
