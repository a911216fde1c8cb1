"""No path leads out of the project folder, and no upload is larger than allowed."""

from __future__ import annotations

import errno

import pytest

from sfumato.errors import UsageError
from sfumato.studio.project_folder import ProjectFolder

OUTSIDE = ("../secret.csv", "/etc/passwd", "a/../../secret.csv", ".", "", "x\0.csv")


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_path_that_leads_out_is_refused(tmp_path, name):
    folder = ProjectFolder.made(tmp_path / "project")
    with pytest.raises(UsageError, match=r"leads out of|No file is named"):
        folder.inside(name)


def test_a_link_that_leads_out_is_refused(tmp_path):
    folder = ProjectFolder.made(tmp_path / "project")
    (tmp_path / "secret.csv").write_text("age\n1\n")
    (folder.root / "mine.csv").symlink_to(tmp_path / "secret.csv")
    with pytest.raises(UsageError, match="leads out of the project folder"):
        folder.data_file("mine.csv")


def test_a_link_is_not_listed(tmp_path):
    folder = ProjectFolder.made(tmp_path / "project")
    (folder.root / "out").symlink_to(tmp_path)
    (tmp_path / "other.csv").write_text("age\n1\n")
    assert folder.data_files() == []


@pytest.mark.parametrize("name", ["../../etc/passwd", "policy.toml/../../x.csv"])
def test_the_studio_refuses_such_a_file(studio, name):
    answer = studio.send("/data/choose", file=name)
    assert answer.status == 422
    assert "leads out of the project folder" in answer.text


def test_what_the_studio_keeps_is_no_data(example):
    answer = example.send("/data/choose", file=".studio/history.json")
    assert answer.status == 422
    assert "holds no data files" in answer.text


def test_a_folder_that_others_can_enter_is_refused(tmp_path):
    place = tmp_path / "open"
    place.mkdir(mode=0o755)
    with pytest.raises(UsageError, match="its mode is 0755, and 0700 is needed"):
        ProjectFolder.opened(place)


def test_an_upload_is_written_for_its_owner_alone(studio):
    assert studio.upload("people.csv", b"age,sex\n1,F\n2,M\n").status == 303
    place = studio.root / "people.csv"
    assert place.read_bytes() == b"age,sex\n1,F\n2,M\n"
    assert place.stat().st_mode & 0o777 == 0o600
    assert studio.root.stat().st_mode & 0o777 == 0o700


def test_an_upload_of_the_same_name_gets_another(studio):
    for _ in range(2):
        assert studio.upload("people.csv", b"age\n1\n").status == 303
    assert sorted(p.name for p in studio.root.glob("*.csv")) == [
        "people-2.csv",
        "people.csv",
    ]


def test_an_upload_cannot_name_a_directory(studio):
    assert studio.upload("../../evil.csv", b"age\n1\n").status == 303
    assert (studio.root / "evil.csv").is_file()
    assert not (studio.root.parent / "evil.csv").exists()


@pytest.mark.parametrize("size", [100_001, 500_000])
def test_an_upload_that_is_too_large_leaves_nothing(studio, size):
    answer = studio.upload("big.csv", b"a" * size)
    assert answer.status == 422
    assert "larger than 100,000 bytes" in answer.text
    assert list(studio.root.glob("*.csv")) == []


def test_an_upload_that_is_cut_short_leaves_nothing(studio):
    token = studio.access.change_token
    body = (
        '--edge\r\nContent-Disposition: form-data; name="change"\r\n\r\n'
        f"{token}\r\n--edge\r\nContent-Disposition: form-data; "
        'name="file"; filename="a.csv"\r\n\r\nage\n1'
    )
    kind = {"Content-Type": "multipart/form-data; boundary=edge"}
    answer = studio.ask("/data/upload", method="POST", body=body.encode(), headers=kind)
    assert answer.status == 422
    assert list(studio.root.glob("*.csv")) == []


def test_an_upload_that_the_disk_has_no_room_for_leaves_nothing(studio, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("sfumato.studio.form_input.os.write", full)
    answer = studio.upload("a.csv", b"age\n1\n")
    monkeypatch.undo()
    assert answer.status == 422
    assert "cannot be written: No space left on device" in answer.text
    assert list(studio.root.glob("*.csv")) == []


def test_an_example_that_the_disk_has_no_room_for_is_told(studio, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("sfumato.studio.data_step.shutil.copyfile", full)
    answer = studio.send("/data/example")
    monkeypatch.undo()
    assert answer.status == 422
    assert "cannot be written: No space left on device" in answer.text
    assert studio.space.history.text() is None


def test_a_file_that_is_no_table_is_not_taken(studio):
    answer = studio.upload("run.sh", b"echo")
    assert answer.status == 422
    assert "no table that Sfumato reads" in answer.text


def test_an_upload_is_deleted_on_request_and_other_files_are_not(example):
    example.upload("people.csv", b"age\n1\n")
    assert example.send("/data/delete", file="people.csv").status == 303
    assert not (example.root / "people.csv").exists()
    assert example.send("/data/delete", file="source.csv").status == 422
    assert (example.root / "source.csv").exists()


PATHS = [
    {"data.path": "../secret.csv"},
    {"columns.sex.hierarchy": "/etc/passwd"},
    {"columns.sex.hierarchy": {"file": "../sex.csv"}},
    {"columns.sex.hierarchy": {"tree": "../sex.json"}},
    {"require": [{"model": "k-map", "k": 5, "population": "../all.csv"}]},
    {"privacy.link_key": "/etc/passwd"},
    {"privacy.ledger": "../ledger.json", "privacy.epsilon": 1.0},
]


@pytest.mark.parametrize("settings", PATHS, ids=lambda each: next(iter(each)))
def test_no_setting_of_the_policy_leads_out_of_the_folder(example, settings):
    text = example.space.require_policy().edited(settings)
    with pytest.raises(UsageError, match="leads out of the project folder"):
        example.space.history.write(text, what="test")
    (example.root / "policy.toml").write_text(text, encoding="utf-8")
    for path in ("/data", "/hierarchies", "/protection", "/compare"):
        answer = example.ask(path)
        assert answer.status == 200
        assert "leads out of the project folder" in answer.text


def test_a_link_in_the_folder_is_no_way_out_for_a_setting(example, tmp_path):
    (tmp_path / "sex.csv").write_text("F;*\nM;*\n")
    (example.root / "sex.csv").symlink_to(tmp_path / "sex.csv")
    with pytest.raises(UsageError, match="leads out of the project folder"):
        example.space.history.edit({"columns.sex.hierarchy": "sex.csv"}, what="test")


def test_no_candidate_leads_out_of_the_folder(example):
    tried = {"key-0": "columns.sex.hierarchy", "values-0": "/etc/passwd"}
    assert example.send("/compare/save", **tried).status == 303
    assert "leads out of the project folder" in example.ask("/compare").text
    answer = example.send("/compare/run")
    assert answer.status == 422
    assert "leads out of the project folder" in answer.text
    assert example.space.tasks.current is None


def test_a_population_that_is_typed_stays_inside_too(example):
    example.send("/protection/add", model="k-map")
    typed = {"place": 2, "set-population": "/etc/passwd", "set-sampling_fraction": ""}
    for action in ("save", "outlook"):
        answer = example.send(f"/protection/{action}", **typed)
        assert answer.status == 422
        assert "leads out of the project folder" in answer.text
