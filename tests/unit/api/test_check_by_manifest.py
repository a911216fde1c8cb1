"""The manifest of a release is enough to prove its table again: no policy is needed."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.cli import main
from sfumato.errors import DataError, RefusedError, UsageError
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.t_closeness import TCloseness
from sfumato.pipeline.claimed_policy import sha256_of

PEOPLE = {
    "age": ["20", "21", "22", "40", "41", "42"],
    "ill": ["flu", "gout", "flu", "flu", "gout", "gout"],
}
ROLES: dict[str, Any] = {"quasi": "age", "sensitive": "ill", "k": 3}
PAIR = ["flu", "gout"]
TREE = {"tree": {"cold": ["flu"], "other": ["gout"]}}


def saved(place: Path, data: Any = None, **settings: Any) -> Path:
    asked = ROLES | {"algorithm": "mondrian"} | settings
    table = pa.table(PEOPLE if data is None else data)
    sf.anonymize(table, insecure_seed=1, **asked).save(place / "out")
    return place / "out"


def by_manifest(out: Path, **more: Any) -> Any:
    return sf.check(out / "data.csv", manifest=out / "manifest.json", **more)


def rewritten(out: Path, change: Any, *, hashed: bool = True) -> Path:
    """The release, with a manifest whose policy somebody changed."""
    place = out / "manifest.json"
    manifest = json.loads(place.read_text())
    change(manifest["policy"])
    if hashed:
        manifest["policy_sha256"] = sha256_of(manifest["policy"])
    place.write_text(json.dumps(manifest))
    return out


def weaken(policy: dict[str, Any]) -> None:
    policy["require"][0]["k"] = 2


def test_the_manifest_says_roles_and_requirements(tmp_path):
    checked = by_manifest(saved(tmp_path, l=2))
    assert [each["model"] for each in checked.verdicts] == [
        "k-anonymity",
        "l-diversity",
    ]
    assert checked.holds
    assert checked.by_manifest
    assert checked.same_as_manifest


def test_the_command_needs_no_policy(tmp_path, capsys):
    out = saved(tmp_path)
    asked = ["check", str(out / "data.csv"), "--manifest", str(out / "manifest.json")]
    assert main(asked) == 0
    said = capsys.readouterr().out
    assert "k-anonymity  k = 3     k = 3     ✓ holds" in said
    assert said.splitlines()[-1].startswith("Every requirement that the manifest names")
    assert main([*asked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["by_manifest"] is True


def test_a_requirement_can_be_added_to_those_of_the_manifest(tmp_path, capsys):
    out = saved(tmp_path)
    asked = ["check", str(out / "data.csv"), "--manifest", str(out / "manifest.json")]
    assert main([*asked, "--k", "4"]) == 1
    checked = by_manifest(out, requirements=[KAnonymity(k=4)])
    assert [each["holds"] for each in checked.verdicts] == [True, False]


def test_settings_of_the_call_go_before_the_manifest(tmp_path):
    checked = by_manifest(saved(tmp_path), quasi="age", k=2)
    assert checked.verdicts[0]["parameters"] == {"k": 2}
    assert not checked.by_manifest


def test_a_row_added_later_fails(tmp_path):
    out = saved(tmp_path)
    data = out / "data.csv"
    data.write_text(data.read_text() + '"[90, 91]",flu\n')
    checked = by_manifest(out)
    assert not checked.requirements_hold
    assert checked.same_as_manifest is False


def test_delimiter_missing_marks_and_lines_come_from_the_manifest(tmp_path):
    place = tmp_path / "people.csv"
    lines = ["age;ill;note", '20;flu;"a\nb"', "21;-;c", "22;flu;c"]
    lines += ["40;-;c", "41;gout;c", "-;gout;c"]
    place.write_text("\n".join(lines) + "\n")
    release = sf.anonymize(
        place,
        **ROLES,
        insensitive="note",
        keep_as_is="note",
        delimiter=";",
        missing=["-"],
        multiline=True,
        algorithm="mondrian",
        insecure_seed=1,
    )
    release.save(tmp_path / "out")
    checked = by_manifest(tmp_path / "out")
    assert checked.holds
    assert checked.rows == 6


@pytest.mark.parametrize("operator", ["swap", "anatomize"])
def test_groups_that_cells_do_not_show_come_from_the_private_record(tmp_path, operator):
    out = saved(tmp_path, operator=operator, k=None, l=2)
    groups = out / "private" / "rows.parquet"
    assert by_manifest(out, groups=groups).holds
    if operator == "swap":
        with pytest.raises(DataError, match="does not show its groups"):
            by_manifest(out)


def test_a_policy_changed_after_the_release_is_refused(tmp_path):
    out = rewritten(saved(tmp_path), weaken, hashed=False)
    with pytest.raises(DataError, match="changed after the release was made"):
        by_manifest(out)


def test_a_weakened_manifest_proves_only_what_it_says(tmp_path, capsys):
    out = rewritten(saved(tmp_path), weaken)
    asked = ["check", str(out / "data.csv"), "--manifest", str(out / "manifest.json")]
    assert main(asked) == 0
    assert "k-anonymity  k = 2     k = 3     ✓ holds" in capsys.readouterr().out


def test_hierarchies_of_quasi_identifiers_are_not_needed(tmp_path):
    tree = {"tree": {"young": ["20", "21", "22"], "old": ["40", "41", "42"]}}
    out = saved(tmp_path, hierarchies={"age": tree})
    assert "flu" not in (out / "manifest.json").read_text()
    assert by_manifest(out).holds


def test_the_hierarchy_of_a_sensitive_column_is_asked_for_if_it_is_looked_at(tmp_path):
    out = saved(tmp_path, hierarchies={"ill": TREE}, l=2)
    assert by_manifest(out).holds
    with pytest.raises(UsageError, match=r"judge 'ill': it does not have the hier"):
        by_manifest(out, requirements=[TCloseness(t=0.5)])


def test_the_order_of_a_sensitive_column_is_asked_for_if_it_is_looked_at(tmp_path):
    out = saved(tmp_path, kinds={"ill": "ordered"}, orders={"ill": PAIR}, l=2)
    assert by_manifest(out).holds
    with pytest.raises(UsageError, match=r"judge 'ill': it does not have the order"):
        by_manifest(out, requirements=[TCloseness(t=0.5)])


def test_a_loss_by_hidden_hierarchies_is_refused(tmp_path):
    tree = {"tree": {"young": ["20", "21", "22"], "old": ["40", "41", "42"]}}
    out = saved(tmp_path, hierarchies={"age": tree})
    with pytest.raises(UsageError, match=r"judge 'age'"):
        by_manifest(out, original=pa.table(PEOPLE))


def test_a_population_is_asked_for(tmp_path):
    everybody = tmp_path / "everybody.csv"
    everybody.write_text("age\n" + "\n".join(PEOPLE["age"] * 2) + "\n")
    require = [{"model": "k-map", "k": 3, "population": str(everybody)}]
    out = saved(tmp_path, k=None, require=require)
    with pytest.raises(UsageError, match=r"not enough for k-map: .* population"):
        by_manifest(out)


def test_a_manifest_without_a_policy_is_refused(tmp_path):
    out = saved(tmp_path)
    place = out / "manifest.json"
    manifest = json.loads(place.read_text())
    del manifest["policy"]
    place.write_text(json.dumps(manifest))
    with pytest.raises(DataError, match="it has no policy"):
        by_manifest(out)


@pytest.mark.parametrize("columns", [5, {"age": 5}, {"age": {"role": "mystery"}}])
def test_a_policy_that_cannot_be_read_is_refused(tmp_path, columns):
    out = rewritten(saved(tmp_path), lambda policy: policy.update(columns=columns))
    with pytest.raises(DataError, match="no policy that this version can read"):
        by_manifest(out)


def test_a_process_model_says_what_was_claimed_and_stays_unproven(tmp_path):
    require = [{"model": "differential-privacy", "epsilon": 1.0}]
    out = rewritten(saved(tmp_path), lambda policy: policy.update(require=require))
    place = out / "manifest.json"
    manifest = json.loads(place.read_text())
    manifest["privacy"] = {"guarantee": "The process is 1-DP."}
    place.write_text(json.dumps(manifest))
    told = (
        r"cannot be checked on a table.* manifest claims, unproven: The process is 1-DP"
    )
    with pytest.raises(RefusedError, match=told):
        by_manifest(out)


def test_a_file_that_is_not_there_is_named_without_speaking_of_policies(capsys):
    assert main(["check", "nope.csv", "--quasi", "age", "--k", "2"]) == 2
    said = capsys.readouterr().err
    assert "There is no file 'nope.csv'." in said
    assert "policy" not in said


def test_a_file_that_the_policy_names_is_missing_from_there(tmp_path, capsys):
    policy = tmp_path / "policy.toml"
    policy.write_text('version = 1\n[data]\npath = "nope.csv"\n')
    assert main(["anonymize", str(policy), "--out", str(tmp_path / "out")]) == 2
    assert "relative to the policy file" in capsys.readouterr().err


@pytest.mark.parametrize("more", [{}, {"operator": "swap", "k": None, "l": 2}])
def test_saving_says_the_command_that_proves_the_release_again(tmp_path, more):
    asked = ROLES | {"algorithm": "mondrian"} | more
    release = sf.anonymize(pa.table(PEOPLE), insecure_seed=1, **asked)
    said = release.save(tmp_path / "my out")
    assert said["rows_out"] == 6
    assert said.check_command in repr(said)
    program, *words = shlex.split(said.check_command)
    assert program == "sfumato"
    assert main(words) == 0
    assert ("--groups" in words) == ("operator" in more)
    told = json.loads((tmp_path / "my out" / "manifest.json").read_text())
    assert told == json.loads(json.dumps(said))


def test_saving_says_where_the_manifest_is_not_enough(tmp_path):
    asked = ROLES | {"hierarchies": {"ill": TREE}, "t": 1.0}
    said = sf.anonymize(pa.table(PEOPLE), insecure_seed=1, **asked).save(tmp_path / "o")
    assert "--policy policy.toml" in said.check_command


def test_the_report_says_how_to_check_without_a_policy(tmp_path):
    report = (saved(tmp_path) / "report.html").read_text()
    assert "sfumato check data.csv --manifest manifest.json" in report
