"""No path leads out of the project folder, and no upload is larger than allowed."""

from __future__ import annotations

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
