"""A release into a table is there with its directory, or neither is there."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.cli import main
from sfumato.errors import DataError, OutputError, RepairWarning
from sfumato.io import atomic_files
from sfumato.pipeline import release as releases
from sfumato.pipeline import write_release
from sfumato.pipeline.prove_written_files import prove_tables
from sfumato.pipeline.release_to_database import TableTarget

PEOPLE = pa.table({"age": [20, 21, 40, 41] * 3, "ill": ["flu", "cold"] * 6})


@pytest.fixture(params=["sqlite", "duckdb"])
def url(request, tmp_path):
    """The address of a file that is not there yet."""
    return f"{request.param}:///{tmp_path}/new.db"


@pytest.fixture
def release():
    return sf.anonymize(PEOPLE, quasi="age", sensitive="ill", k=2, insecure_seed=1)


def connected(url):
    system, path = url.split(":///")
    return (sqlite3 if system == "sqlite" else duckdb).connect(path)


def run(url, *texts):
    connection = connected(url)
    for text in texts:
        connection.execute(text)
    connection.commit()
    connection.close()


def tables(url):
    text = {
        "sqlite": "SELECT name FROM sqlite_master",
        "duckdb": "SELECT table_name FROM information_schema.tables",
    }[url.split(":")[0]]
    connection = connected(url)
    names = sorted(name for (name,) in connection.execute(text).fetchall())
    connection.close()
    return names


def names_in(directory: Path):
    return sorted(path.name for path in directory.iterdir())


def broken(*_words):
    raise OSError(28, "No space left on device")


@pytest.fixture
def kill(monkeypatch, release, tmp_path, url):
    """Do what a run does that is killed after its commit, before its name."""

    def killed():
        with monkeypatch.context() as patch:
            patch.setattr(write_release, "put_in_place", broken)
            patch.setattr(write_release, "exchange", broken)
            patch.setattr(write_release, "roll_back", lambda _directory: None)
            patch.setattr(atomic_files, "remove", lambda _path: None)
            with pytest.raises(OutputError, match="No space left"):
                release.save(tmp_path / "out", to=f"{url}#published")

    return killed


def test_a_failing_run_leaves_the_file_that_another_process_made(
    url, release, tmp_path, monkeypatch
):
    def another_process_commits(*_words, **_options):
        run(url, "CREATE TABLE theirs (a integer)")
        raise OutputError("The disk is full.")

    monkeypatch.setattr(releases, "prove_tables", another_process_commits)
    with pytest.raises(OutputError, match="disk is full"):
        release.save(tmp_path / "out", to=f"{url}#published")
    assert tables(url) == ["theirs"]
    assert names_in(tmp_path) == ["new.db"]


@pytest.fixture
def at_once(monkeypatch):
    """Let another process do something once, while a release is written."""

    def planned(work):
        def prove_after_work(*words, **options):
            monkeypatch.setattr(releases, "prove_tables", prove_tables)
            work()
            prove_tables(*words, **options)

        monkeypatch.setattr(releases, "prove_tables", prove_after_work)

    return planned


def test_a_release_goes_into_the_file_that_another_process_made_meanwhile(
    url, release, tmp_path, at_once
):
    at_once(lambda: run(url, "CREATE TABLE theirs (a integer)"))
    release.save(tmp_path / "out", to=f"{url}#published")
    assert tables(url) == ["published", "theirs"]
    assert names_in(tmp_path) == ["new.db", "out"]


def test_two_runs_at_once_to_one_new_file_both_end_well(
    url, release, tmp_path, at_once
):
    at_once(lambda: release.save(tmp_path / "other", to=f"{url}#second"))
    release.save(tmp_path / "out", to=f"{url}#published")
    assert tables(url) == ["published", "second"]
    assert names_in(tmp_path) == ["new.db", "other", "out"]


def test_a_failing_run_leaves_the_same_table_of_another_process(
    url, release, tmp_path, at_once
):
    at_once(lambda: release.save(tmp_path / "other", to=f"{url}#published"))
    with pytest.raises(OutputError, match="has a table 'published' already"):
        release.save(tmp_path / "out", to=f"{url}#published")
    assert tables(url) == ["published"]
    assert names_in(tmp_path) == ["new.db", "other"]


def test_no_manifest_has_its_name_before_the_table_is_committed(
    url, release, tmp_path, monkeypatch
):
    commit, complete = TableTarget.commit, []

    def looking(self):
        complete.append((tmp_path / "out").exists())
        commit(self)

    monkeypatch.setattr(TableTarget, "commit", looking)
    release.save(tmp_path / "out", to=f"{url}#published")
    assert complete == [False]
    assert tables(url) == ["published"]


def test_the_journal_is_private_while_the_table_is_committed_and_gone_then(
    url, release, tmp_path, monkeypatch
):
    commit = TableTarget.commit
    modes: list[int] = []

    def looking(self):
        journals = tmp_path.glob(".out.sfumato-*/private/commit.json")
        modes.extend(path.stat().st_mode & 0o777 for path in journals)
        commit(self)

    monkeypatch.setattr(TableTarget, "commit", looking)
    release.save(tmp_path / "out", to=f"{url}#published")
    assert modes == [0o600]
    assert not (tmp_path / "out" / "private" / "commit.json").exists()


def test_a_directory_that_gets_no_name_takes_its_table_with_it(
    url, release, tmp_path, monkeypatch
):
    monkeypatch.setattr(write_release, "put_in_place", broken)
    with (
        pytest.raises(OutputError, match="No space left"),
        pytest.warns(RepairWarning, match="The table was removed"),
    ):
        release.save(tmp_path / "out", to=f"{url}#published")
    assert tables(url) == []
    assert names_in(tmp_path) == ["new.db"]


def test_the_run_after_a_kill_removes_the_table_says_so_and_goes_on(
    url, release, tmp_path, kill
):
    kill()
    assert tables(url) == ["published"]
    assert not (tmp_path / "out").exists()
    with pytest.warns(RepairWarning, match="The table was removed"):
        release.save(tmp_path / "out", to=f"{url}#published")
    assert tables(url) == ["published"]
    assert names_in(tmp_path) == ["new.db", "out"]


def test_a_run_to_another_directory_repairs_what_a_killed_one_to_its_table_left(
    url, release, tmp_path, kill
):
    kill()
    with pytest.warns(RepairWarning, match="The table was removed"):
        release.save(tmp_path / "elsewhere", to=f"{url}#published")
    assert tables(url) == ["published"]
    assert names_in(tmp_path) == ["elsewhere", "new.db"]


def test_a_run_to_another_table_leaves_what_a_killed_one_left(
    url, release, tmp_path, kill
):
    kill()
    release.save(tmp_path / "elsewhere", to=f"{url}#another")
    assert tables(url) == ["another", "published"]
    (journal,) = tmp_path.glob(".out.sfumato-*/private/commit.json")
    assert json.loads(journal.read_text())["address"] == f"{url}#published"


def test_the_command_repairs_whatever_its_directory(url, tmp_path, kill, words, capsys):
    kill()
    words[words.index("--out") + 1] = str(tmp_path / "elsewhere")
    assert main([*words, f"{url}#published", "--quiet"]) == 0
    assert "The table was removed" in capsys.readouterr().err
    assert names_in(tmp_path)[:2] == ["elsewhere", "new.db"]


def test_a_file_that_took_the_place_of_the_killed_runs_keeps_its_table(
    url, release, tmp_path, kill
):
    kill()
    path = tmp_path / "new.db"
    path.write_bytes(path.rename(tmp_path / "old.db").read_bytes())
    with pytest.raises(OutputError, match="has a table 'published' already"):
        release.save(tmp_path / "out", to=f"{url}#published")
    assert tables(url) == ["published"]


def test_the_warning_of_a_repair_names_the_code_that_called(
    url, release, tmp_path, kill
):
    kill()
    with pytest.warns(RepairWarning) as caught:
        release.save(tmp_path / "out", to=f"{url}#published")
    assert [warning.filename for warning in caught] == [__file__]


def test_a_release_to_files_repairs_what_a_killed_one_to_a_table_left(
    url, release, tmp_path, kill
):
    kill()
    with pytest.warns(RepairWarning, match="The table was removed"):
        release.save(tmp_path / "out")
    assert tables(url) == []
    assert (tmp_path / "out" / "data.csv").is_file()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE published SET ill = 'theirs'",
        "DELETE FROM published WHERE age = (SELECT min(age) FROM published)",
        "ALTER TABLE published RENAME COLUMN age TO theirs",
    ],
)
def test_a_table_with_other_rows_is_never_removed(url, release, tmp_path, kill, change):
    kill()
    run(url, change)
    with pytest.raises(OutputError, match="has a table 'published' already"):
        release.save(tmp_path / "out", to=f"{url}#published")
    assert tables(url) == ["published"]
    assert names_in(tmp_path) == ["new.db"]


def test_a_database_that_cannot_be_looked_at_keeps_the_journal(
    release, tmp_path, kill, url
):
    kill()
    path = tmp_path / "new.db"
    content = path.read_bytes()
    path.write_bytes(b"no database at all" * 1000)
    with pytest.raises(DataError, match="whose run was stopped"):
        release.save(tmp_path / "out")
    path.write_bytes(content)
    with pytest.warns(RepairWarning, match="The table was removed"):
        release.save(tmp_path / "out")
    assert tables(url) == []


@pytest.fixture
def replaced(url, release, tmp_path):
    """A release that has replaced one: it keeps a private record of that."""
    out = tmp_path / "out"
    release.save(out, to=f"{url}#first")
    release.save(out, to=f"{url}#second", force=True)
    return {
        path.relative_to(out): path.read_bytes()
        for path in out.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("step", ["commit", "exchange"])
def test_a_replacement_that_fails_leaves_the_older_release_and_its_records(
    url, release, tmp_path, monkeypatch, replaced, step
):
    owner = TableTarget if step == "commit" else write_release
    monkeypatch.setattr(owner, step, broken)
    monkeypatch.setattr("warnings.warn", lambda *_words, **_options: None)
    out = tmp_path / "out"
    with pytest.raises(OutputError, match="No space left"):
        release.save(out, to=f"{url}#third", force=True)
    left = {
        path.relative_to(out): path.read_bytes()
        for path in out.rglob("*")
        if path.is_file()
    }
    assert any("previous-" in str(path) for path in replaced)
    assert left == replaced
    assert tables(url) == ["first", "second"]
    assert names_in(tmp_path) == ["new.db", "out"]


def test_a_replaced_release_that_still_has_a_journal_keeps_its_table(
    url, release, tmp_path, monkeypatch
):
    with monkeypatch.context() as patch:
        patch.setattr(write_release, "end_journal", lambda _directory: None)
        release.save(tmp_path / "out", to=f"{url}#first")
        release.save(tmp_path / "out", to=f"{url}#second", force=True)
    assert (tmp_path / "out" / "private" / "commit.json").exists()
    release.save(tmp_path / "out", to=f"{url}#third", force=True)
    assert tables(url) == ["first", "second", "third"]


def test_a_table_whose_numbers_became_texts_is_not_that_of_the_manifest(url, tmp_path):
    table = PEOPLE.append_column("visits", pa.array([1, 2] * 6))
    roles = {"quasi": "age", "sensitive": "ill", "insensitive": "visits", "k": 2}
    sf.anonymize(table, **roles).save(tmp_path / "out", to=f"{url}#t")
    manifest = tmp_path / "out" / "manifest.json"
    assert sf.check(f"{url}#t", **roles, manifest=manifest).same_as_manifest
    run(
        url,
        "CREATE TABLE u AS SELECT age, ill, CAST(visits AS TEXT) AS visits FROM t",
        "DROP TABLE t",
        "ALTER TABLE u RENAME TO t",
    )
    assert not sf.check(f"{url}#t", **roles, manifest=manifest).same_as_manifest


POLICY = """
version = 1
[columns.age]
role = "quasi"
[columns.ill]
role = "sensitive"
[[require]]
model = "k-anonymity"
k = 2
"""


@pytest.fixture
def words(tmp_path):
    """The words of a command without its address."""
    rows = zip(PEOPLE["age"].to_pylist(), PEOPLE["ill"].to_pylist(), strict=True)
    lines = ["age,ill", *(f"{age},{ill}" for age, ill in rows)]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "policy.toml").write_text(POLICY)
    paths = {"--data": "people.csv", "--out": "out"}
    named = [word for name, path in paths.items() for word in (name, tmp_path / path)]
    return ["anonymize", *map(str, [tmp_path / "policy.toml", *named]), "--to"]


@pytest.mark.parametrize("option", ["--quiet", "--json"])
def test_the_command_says_what_it_repaired(url, tmp_path, kill, words, capsys, option):
    kill()
    assert main([*words, f"{url}#published", option]) == 0
    printed = capsys.readouterr()
    assert printed.err.startswith("Warning: A release was not complete when its run")
    assert str(tmp_path) not in printed.err
    if option == "--json":
        assert json.loads(printed.out)["directory"] == str(tmp_path / "out")


def test_a_table_that_exists_is_refused_before_any_work(
    url, release, tmp_path, words, capsys, monkeypatch
):
    release.save(tmp_path / "first", to=f"{url}#published")
    monkeypatch.setattr("sfumato.api.anonymize", None)
    assert main([*words, f"{url}#published"]) == 2
    assert "has a table 'published' already" in capsys.readouterr().err


def test_a_directory_of_a_database_that_is_not_there_is_refused_before_any_work(
    tmp_path, words, capsys, monkeypatch
):
    monkeypatch.setattr("sfumato.api.anonymize", None)
    assert main([*words, f"sqlite:///{tmp_path}/none/new.db#published"]) == 2
    assert "is not a directory that can be written to" in capsys.readouterr().err
