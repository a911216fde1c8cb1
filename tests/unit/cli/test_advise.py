"""`sfumato advise`: what it prints, what it writes, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from stat import S_IMODE

import pytest

import sfumato as sf
from sfumato.cli import main
from sfumato.pipeline.private_notes import PRIVATE

POLICY = """\
# Kept by the steward.
version = 1
[data]
path = "people.csv"
[columns.age]
role = "quasi"
hierarchy = "ages.csv"
[columns.town]
role = "quasi"
[columns.illness]
role = "sensitive"
[[require]]
model = "k-anonymity"
k = 3  # as agreed
"""
CANARY = "canary7Qx"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a table, a hierarchy and a policy."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{20 + n % 9},{CANARY} {n % 5},{CANARY} {n % 3}" for n in range(60)]
    (tmp_path / "people.csv").write_text("\n".join(["age,town,illness", *rows]) + "\n")
    ages = [f"{age},{age // 3 * 3}-{age // 3 * 3 + 2},*" for age in range(18, 30)]
    (tmp_path / "ages.csv").write_text("\n".join(ages) + "\n")
    (tmp_path / "policy.toml").write_text(POLICY)
    return tmp_path


def test_the_first_line_says_that_it_is_private_and_no_cell_is_printed(place, capsys):
    assert main(["advise", "policy.toml", "--all"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0] == PRIVATE
    assert CANARY not in out
    assert "Leave out 'town'." in out


def test_json_is_private_and_has_every_figure(place, capsys):
    assert main(["advise", "policy.toml", "--json"]) == 0
    out = capsys.readouterr().out
    assert PRIVATE in out.splitlines()[0]
    found = json.loads(out)
    assert found["feasible"] is True
    assert found["requirements"][0]["tightest"] == 60
    assert {"number", "settings", "gain", "text"} <= set(found["advice"][0])
    assert CANARY not in out


def test_advice_can_be_kept_in_a_private_file(place, capsys):
    assert main(["advise", "policy.toml", "-o", "advice.txt"]) == 0
    assert S_IMODE((place / "advice.txt").stat().st_mode) == 0o600
    assert (place / "advice.txt").read_text().splitlines()[0] == PRIVATE


def test_advice_is_applied_to_a_new_private_file_with_the_comments_of_the_old(
    place, capsys
):
    main(["advise", "policy.toml", "--json"])
    listed = json.loads(capsys.readouterr().out)["advice"]
    number = next(e["number"] for e in listed if e["settings"] == {"require.0.k": 4})
    assert (
        main(["advise", "policy.toml", "--apply", str(number), "-o", "new.toml"]) == 0
    )
    text = (place / "new.toml").read_text()
    assert text.splitlines()[0] == f"# {PRIVATE}"
    assert "# Kept by the steward." in text
    assert "k = 4  # was 3\n" in text
    assert S_IMODE((place / "new.toml").stat().st_mode) == 0o600
    assert main(["anonymize", "new.toml", "--quiet"]) == 0


def test_a_policy_in_another_directory_still_finds_its_files(place, capsys):
    (place / "sub").mkdir()
    out = place / "sub" / "new.toml"
    assert main(["advise", "policy.toml", "--apply", "1", "-o", str(out)]) == 0
    policy = sf.Policy.load(out)
    assert policy.data.path == "../people.csv"
    assert main(["anonymize", str(out), "--out", "made", "--quiet"]) == 0


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--apply", "1"], "--apply writes a new policy, and no file is named."),
        (["--apply", "one", "-o", "new.toml"], "--apply is not a list of numbers."),
        (["--apply", "99", "-o", "new.toml"], "There is no advice 99."),
        (["--apply", "1", "-o", "policy.toml"], "'policy.toml' exists already."),
    ],
)
def test_what_cannot_be_applied_is_refused_and_nothing_is_written(
    place, capsys, words, error
):
    before = {path.name: path.read_bytes() for path in place.iterdir()}
    assert main(["advise", "policy.toml", *words]) == 2
    assert error in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in place.iterdir()} == before


def test_edits_that_contradict_each_other_are_refused(place, capsys):
    main(["advise", "policy.toml", "--json"])
    listed = json.loads(capsys.readouterr().out)["advice"]
    both = [str(e["number"]) for e in listed if "require.0.k" in e["settings"]][:2]
    words = ["--apply", ",".join(both), "-o", "new.toml"]
    assert main(["advise", "policy.toml", *words]) == 2
    assert "cannot be applied together" in capsys.readouterr().err
    assert not (place / "new.toml").exists()


def test_an_infeasible_run_points_to_advise(place, capsys):
    words = ["anonymize", "policy.toml", "--set", "require.0.k=61"]
    assert main(words) == 3
    err = capsys.readouterr().err
    assert "needs groups of at least 61; the table has 60." in err
    assert "'sfumato advise POLICY' measures what each change gains." in err
