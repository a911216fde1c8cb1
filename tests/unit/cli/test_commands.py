"""What the commands do when all is well."""

from __future__ import annotations

import importlib
import json
import shlex
from pathlib import Path

import pandas as pd
import pytest

import sfumato as sf
from sfumato import registry
from sfumato.cli import main
from sfumato.cli.listing import CataloguePart

TABLE = """\
age,sex,illness
"[20, 29]",F,flu
"[20, 29]",F,gout
"[20, 29]",F,flu
"[30, 39]",M,flu
"[30, 39]",M,asthma
"""


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table in groups of three and two, in a directory to work in."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "published.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def check(*words: str) -> int:
    return main(["check", "published.csv", "--quasi", "age,sex", *words])


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--k", "2"], 0),
        (["--k", "3"], 1),
        (["--sensitive", "illness", "--l", "2"], 0),
        (["--sensitive", "illness", "--l", "3"], 1),
        (["--k", "2", "--sensitive", "illness", "--l", "3"], 1),
        (["--require", "model=k-anonymity,k=2"], 0),
        (["--require", "model=k-anonymity,k=3"], 1),
    ],
)
def test_check_ends_1_when_a_requirement_does_not_hold(published, words, code):
    assert check(*words) == code


def test_check_says_what_was_required_and_what_was_measured(published, capsys):
    check("--k", "3")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "published.csv: 5 rows, 2 groups"
    assert lines[1].startswith("60.0% of rows are unique")
    found = " ".join(lines[3].split())
    assert found == "k-anonymity k = 3 k = 2 ✗ broken by 1 group (2 rows)"


def test_check_says_whether_anything_is_judged(published, capsys):
    check("--sensitive", "illness", "--k", "2")
    assert "Nothing is judged for what can be learned" in capsys.readouterr().out
    check("--sensitive", "illness", "--l", "2")
    assert "Nothing is judged" not in capsys.readouterr().out


GATE = """\
[columns.illness]
role = "identifier"
[columns.age]
role = "quasi"
[columns.sex]
drop = true
[[require]]
model = "k-anonymity"
k = 2
"""


def test_check_warns_of_columns_that_the_policy_withholds(published, capsys):
    Path("gate.toml").write_text(GATE, encoding="utf-8")
    assert main(["check", "published.csv", "--policy", "gate.toml"]) == 0
    assert capsys.readouterr().err == (
        "Warning: published.csv has what the policy withholds from a release: "
        "'sex' and 'illness'.\n"
    )


def test_check_names_withheld_columns_to_machines(published, capsys):
    Path("gate.toml").write_text(GATE, encoding="utf-8")
    main(["check", "published.csv", "--policy", "gate.toml", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["withheld_columns_present"] == ["sex", "illness"]


def test_one_group_is_not_one_groups(published, capsys):
    published.write_text("age\n20\n", encoding="utf-8")
    main(["check", "published.csv", "--quasi", "age", "--k", "1"])
    assert capsys.readouterr().out.startswith("published.csv: 1 row, 1 group\n")


def test_check_as_json(published, capsys):
    assert check("--k", "2", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["rows"], found["groups"], found["holds"]) == (5, 2, True)
    [requirement] = found["requirements"]
    assert requirement["model"] == "k-anonymity"
    assert requirement["parameters"] == {"k": 2}
    assert (requirement["holds"], requirement["measured"]) == (True, 2)


def test_check_counts_a_missing_value_as_one_of_its_own(published, capsys):
    published.write_text("age,sex\n,F\n20,F\n20,F\n", encoding="utf-8")
    assert check("--k", "2", "--missing", "") == 1


def test_check_tells_both_meanings_of_a_missing_value(published, capsys):
    published.write_text("age,sex\n?,F\n?,F\n20,F\n", encoding="utf-8")
    words = ["--k", "2", "--missing", "?"]
    assert check(*words, "--missing-as", "value") == 1
    capsys.readouterr()
    assert check(*words, "--missing-as", "any") == 1
    assert "k = 1 (missing as value: 1, as any: 2)" in capsys.readouterr().out


def test_check_says_what_it_inferred_and_takes_it_from_a_manifest(published, capsys):
    published.write_text("age,sex,ill\n20,F,1\n20,F,2\n", encoding="utf-8")
    words = ["--t", "1", "--sensitive", "ill"]
    assert check(*words) == 0
    said = "Inferred from the published cells: 'ill' as integer (ordered distance)."
    assert said in capsys.readouterr().out
    manifest = published.with_name("manifest.json")
    manifest.write_text('{"kinds": {"ill": {"kind": "category", "distance": "equal"}}}')
    assert check(*words, "--manifest", str(manifest), "--json") == 0
    told = json.loads(capsys.readouterr().out)["kinds"]
    assert told == {
        "ill": {"kind": "category", "distance": "equal", "from": "manifest"}
    }


def test_check_counts_persons(published, capsys):
    published.write_text("who,age,sex\n1,20,F\n1,20,F\n2,20,F\n", encoding="utf-8")
    assert check("--k", "2", "--subject", "who") == 0
    assert check("--k", "3", "--subject", "who") == 1


def test_check_reads_other_separators(published):
    published.write_text("age|sex\n20|F\n20|F\n", encoding="latin-1")
    assert check("--k", "2", "--delimiter", "|", "--encoding", "latin-1") == 0


def test_check_wants_to_know_the_quasi_identifiers(published, capsys):
    assert main(["check", "published.csv", "--k", "2"]) == 2
    assert "which columns are quasi-identifiers" in capsys.readouterr().err


def test_check_wants_a_requirement(published, capsys):
    assert check() == 2
    assert "nothing to check" in capsys.readouterr().err


def test_a_policy_and_roles_are_too_much(published, capsys):
    assert check("--policy", "policy.toml") == 2
    assert "--policy and --quasi cannot both be given." in capsys.readouterr().err


def test_list_names_every_part_of_the_catalogue(capsys):
    assert main(["list", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == ["algorithms", "models", "operators", "metrics", "attacks"]
    assert "mondrian" in [entry["name"] for entry in found["algorithms"]]
    assert all(entry["sentence"] for entries in found.values() for entry in entries)


def test_list_says_what_a_model_does_not_protect_from(capsys):
    assert main(["list", "models"]) == 0
    said = capsys.readouterr().out
    assert "k-anonymity" in said
    assert "Not: A group whose members share one sensitive value" in said
    assert "mondrian" not in said


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo, made once; tests must not change it."""
    place = tmp_path_factory.mktemp("cli") / "demo"
    assert main(["demo", "--out", str(place)]) == 0
    return place


def check_demo(data: Path, hospital: Path) -> int:
    return main(["check", str(data), "--policy", str(hospital / "policy.toml")])


def test_the_demo_leaves_what_it_says(hospital):
    names = ["hierarchies", "person.csv", "policy.toml", "release", "source.csv"]
    assert sorted(path.name for path in hospital.iterdir()) == names
    names = ["data.csv", "manifest.json", "private", "report.html"]
    assert sorted(path.name for path in (hospital / "release").iterdir()) == names


def test_the_demo_tells_what_it_did(tmp_path, capsys):
    assert main(["demo", "--out", str(tmp_path / "demo")]) == 0
    said = capsys.readouterr()
    assert "No row is about a real person." in said.out
    assert "✓ holds" in said.out
    assert "sfumato check" in said.out


def test_every_command_that_the_demo_suggests_works_as_printed(tmp_path, capsys):
    out = tmp_path / "a demo"
    assert main(["demo", "--out", str(out)]) == 0
    printed = capsys.readouterr().out.partition("\nNext:\n")[2]
    commands = [shlex.split(line) for line in printed.splitlines() if "#" not in line]
    assert {words[1] for words in commands} >= {"check", "assess", "attack", "init"}
    for words in commands:
        if "YOUR.csv" not in words:
            assert main(words[1:]) == 0, words


def test_the_demo_release_passes_its_check(hospital):
    assert check_demo(hospital / "release" / "data.csv", hospital) == 0


def test_one_changed_cell_of_the_demo_fails_its_check(hospital, tmp_path):
    data = pd.read_csv(hospital / "release" / "data.csv", dtype=str)
    data.loc[0, "sex"] = "a value that occurs nowhere else"
    data.to_csv(tmp_path / "data.csv", index=False)
    assert check_demo(tmp_path / "data.csv", hospital) == 1


def test_the_demo_release_names_nobody(hospital):
    data = pd.read_csv(hospital / "release" / "data.csv", dtype=str)
    assert "name" not in data.columns
    report = (hospital / "release" / "report.html").read_text(encoding="utf-8")
    names = pd.read_csv(hospital / "source.csv", dtype=str)["name"]
    assert not any(name in report for name in names)


def test_the_demo_report_says_what_the_manifest_says(hospital):
    report = (hospital / "release" / "report.html").read_text(encoding="utf-8")
    manifest = json.loads((hospital / "release" / "manifest.json").read_text("utf-8"))
    assert manifest["data_sha256"] in report
    assert manifest["policy_sha256"] in report


def anonymize(hospital: Path, out: Path, *words: str) -> int:
    policy = str(hospital / "policy.toml")
    return main(["anonymize", policy, "--out", str(out), *words])


def test_a_seed_repeats_a_release(hospital, tmp_path):
    audit = json.loads((hospital / "release/private/audit.json").read_text("utf-8"))
    assert anonymize(hospital, tmp_path / "again", "--seed", audit["seed"]) == 0
    first = (hospital / "release" / "data.csv").read_bytes()
    assert (tmp_path / "again" / "data.csv").read_bytes() == first


def test_anonymize_as_json(hospital, tmp_path, capsys):
    out = tmp_path / "release"
    words = ["--json", "--insecure-seed", "1", "--set", "require.0.k=7"]
    assert anonymize(hospital, out, *words) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["directory"] == str(out)
    written = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    assert said["manifest"] == written
    assert written["requirements"][0]["parameters"]["k"] == 7
    assert "not_for_publication" in written


def test_anonymize_says_where_everything_is(hospital, tmp_path, capsys):
    out = tmp_path / "release"
    assert anonymize(hospital, out, "--insecure-seed", "1") == 0
    said = capsys.readouterr().out
    for name in ("data.csv", "manifest.json", "report.html", "private/"):
        assert str(out / name).rstrip("/") in said
    assert "never share it" in said
    assert "not for publication" in said


def test_data_may_be_named_apart_from_the_policy(hospital, tmp_path):
    lines = (hospital / "source.csv").read_text(encoding="utf-8").splitlines()
    other = tmp_path / "other.csv"
    other.write_text("\n".join(lines[:501]) + "\n", encoding="utf-8")
    assert anonymize(hospital, tmp_path / "release", "--data", str(other)) == 0
    written = json.loads((tmp_path / "release/manifest.json").read_text("utf-8"))
    assert written["rows_in"] == 500


def test_init_proposes_a_policy_that_runs(hospital, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["init", str(hospital / "source.csv"), "-o", "policy.toml"]) == 0
    policy = sf.Policy.load("policy.toml")
    assert policy.column("name").role == "identifier"
    assert main(["anonymize", "policy.toml"]) == 0


def test_init_can_print_its_policy(hospital, capsys):
    assert main(["init", str(hospital / "source.csv"), "-o", "-"]) == 0
    assert "[columns.diagnosis]" in capsys.readouterr().out


OPTIMUM = """\
version = 1
[data]
path = "people.csv"
[columns.age]
role = "quasi"
hierarchy = { intervals = [10, 20] }
[[require]]
model = "k-anonymity"
k = 2
[algorithm]
name = "optimal"
"""


def test_a_proven_optimum_is_called_proven(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("age\n20\n21\n35\n36\n", encoding="utf-8")
    Path("policy.toml").write_text(OPTIMUM, encoding="utf-8")
    assert main(["anonymize", "policy.toml", "--out", "out"]) == 0
    said = capsys.readouterr().out.splitlines()[1]
    assert said.startswith("Proven: no choice of levels loses less (")
    search = json.loads(Path("out/manifest.json").read_text())["search"]
    assert search["proven"] is True
    assert search["levels"] == {"age": 1}


def test_the_levels_of_a_swap_are_not_published(tmp_path, monkeypatch):
    """Exact cells do not show them, and they tell of the groups."""
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("age,ill\n20,a\n21,b\n35,a\n36,b\n", encoding="utf-8")
    swapped = OPTIMUM.replace(
        "[[require]]", '[columns.ill]\nrole = "sensitive"\n[[require]]'
    )
    swapped = swapped.replace("k-anonymity", "group-size")
    swapped += '[publish]\noperator = "swap"\n'
    Path("policy.toml").write_text(swapped, encoding="utf-8")
    assert main(["anonymize", "policy.toml", "--out", "out", "--quiet"]) == 0
    search = json.loads(Path("out/manifest.json").read_text())["search"]
    assert "levels" not in search


def test_a_shell_is_told_how_a_word_goes_on(monkeypatch, capsys):
    monkeypatch.setenv("_SFUMATO_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "sfumato an")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert main([]) == 0
    assert capsys.readouterr().out.split() == ["anonymize"]


COMPLETES = {
    "bash": "complete -o default -F _sfumato_completion sfumato",
    "zsh": "#compdef sfumato",
    "fish": "complete --command sfumato",
    "powershell": "Register-ArgumentCompleter -Native -CommandName sfumato",
    "pwsh": "Register-ArgumentCompleter -Native -CommandName sfumato",
}


@pytest.mark.parametrize("shell", COMPLETES)
def test_a_shell_is_given_what_completes_the_command(shell, capsys):
    assert main(["--show-completion", shell]) == 0
    shown = capsys.readouterr().out
    assert COMPLETES[shell] in shown
    assert "_SFUMATO_COMPLETE" in shown


@pytest.fixture
def shell_around(monkeypatch):
    """The shell that detection finds among the processes above, or its failure."""

    detection = importlib.import_module("shellingham")

    def found(name):
        def detect():
            if name is None:
                raise detection.ShellDetectionFailure
            return name, f"/bin/{name}"

        monkeypatch.setattr(detection, "detect_shell", detect)

    return found


def test_the_shell_around_the_command_is_taken_where_none_is_named(
    shell_around, capsys
):
    shell_around("zsh")
    assert main(["--show-completion"]) == 0
    assert COMPLETES["zsh"] in capsys.readouterr().out


@pytest.mark.parametrize("option", ["--show-completion", "--install-completion"])
@pytest.mark.parametrize("shell", [None, "dash"])
def test_no_shell_to_complete_is_an_error_that_says_how_to_name_one(
    option, shell, shell_around, capsys
):
    shell_around(shell)
    assert main([option]) == 2
    told = capsys.readouterr().err
    assert "No shell with completion was found" in told
    assert "--show-completion bash" in told


@pytest.mark.parametrize(
    "words", [["--show-completion", "dash"], ["--install-completion", "fish"]]
)
def test_a_shell_that_cannot_be_named_is_refused(words, capsys):
    assert main(words) == 2
    assert "--show-completion takes one of bash" in capsys.readouterr().err


def test_every_kind_of_the_catalogue_can_be_listed():
    assert {part.value for part in CataloguePart} == set(registry.KINDS)
