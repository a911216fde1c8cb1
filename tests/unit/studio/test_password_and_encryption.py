"""Nobody else reaches the studio without a password and encryption."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import threading
from dataclasses import replace
from http.client import HTTPException

import pytest
from typer.testing import CliRunner

from sfumato.cli.app import app
from sfumato.errors import UsageError
from sfumato.studio import access
from sfumato.studio.serving import ServingPlace, password_of, serve
from sfumato.studio.studio_projects import StudioProjects
from tests.running_studio import running_studio

PASSWORD = "a long password ä"
OTHERS = "192.0.2.1"
"""An address that no machine has."""


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A certificate with its key, and a password file."""
    folder = tmp_path_factory.mktemp("guarded")
    program = shutil.which("openssl")
    assert program is not None, "These tests need the program openssl."
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    named = ["-subj", "/CN=studio", "-addext", "subjectAltName=IP:127.0.0.1"]
    out = ["-days", "2", "-keyout", str(key), "-out", str(certificate)]
    words = [program, "req", "-x509", *curve, *named, *out]
    subprocess.run(words, check=True, capture_output=True)
    password = folder / "password"
    password.write_text(f"{PASSWORD}\nnot a part of it\n", encoding="utf-8")
    password.chmod(0o600)
    return ServingPlace(password_file=password, certificate=certificate, key=key)


@pytest.fixture(scope="module")
def encrypted(guarded, tmp_path_factory):
    """A studio that is reached as others would reach it."""
    home = tmp_path_factory.mktemp("studio") / "home"
    with pytest.MonkeyPatch.context() as patch:
        # A password is hashed slowly on purpose, and many are tried here.
        patch.setattr(access, "ROUNDS", 10)
        with running_studio(home, place=guarded) as studio:
            studio.trusted = ssl.create_default_context(cafile=guarded.certificate)
            yield studio


def test_the_address_is_encrypted_and_has_no_token(encrypted):
    assert encrypted.access.address == f"{encrypted.access.origin}/enter"
    assert encrypted.access.origin.startswith("https://127.0.0.1:")
    assert "Password" in encrypted.ask("/enter").text


def test_without_the_password_no_page_is_shown(encrypted):
    assert encrypted.ask("/data").status == 401
    assert encrypted.ask("/enter?token=").status == 200


def enter(studio, password: str):
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    body = f"password={password}".replace(" ", "+").encode()
    return studio.ask("/enter", method="POST", body=body, headers=kind)


def test_a_wrong_password_gives_no_cookie(encrypted):
    answer = enter(encrypted, "another password")
    assert answer.status == 403
    assert "The password is not right." in answer.text
    assert "set-cookie" not in answer.headers


def test_the_password_gives_a_cookie_that_needs_encryption(encrypted):
    answer = enter(encrypted, PASSWORD)
    assert answer.status == 303
    given = answer.headers["set-cookie"]
    assert "; Secure" in given
    headers = {"Cookie": given.split(";")[0]}
    assert encrypted.ask("/data", headers=headers).status == 200


def test_a_request_that_is_not_encrypted_is_not_answered(encrypted):
    plain = replace(encrypted, trusted=None)
    with pytest.raises((OSError, HTTPException)):
        plain.ask("/enter")


def test_after_ten_wrong_passwords_the_page_says_that_none_is_taken(encrypted):
    for _ in range(10):
        answer = enter(encrypted, "wrong")
    assert "Ten wrong passwords came" in answer.text
    assert enter(encrypted, PASSWORD).status == 403


@pytest.mark.parametrize(
    ("left_out", "option"),
    [
        ("password_file", "--password-file"),
        ("certificate", "--tls-cert"),
        ("key", "--tls-key"),
    ],
)
def test_an_address_for_others_needs_all_three(guarded, left_out, option):
    place = replace(guarded, host=OTHERS, **{left_out: None})
    with pytest.raises(UsageError, match=f"'{OTHERS}' .* {option} is missing"):
        place.check()


def test_with_all_three_another_address_is_taken(guarded):
    replace(guarded, host=OTHERS).check()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", ""])
def test_all_addresses_at_once_are_refused(guarded, host):
    with pytest.raises(UsageError, match="every address"):
        replace(guarded, host=host).check()


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_addresses_of_this_machine_need_nothing(host):
    ServingPlace(host=host).check()


@pytest.mark.parametrize("left_out", ["certificate", "key"])
def test_half_a_certificate_is_refused(guarded, left_out):
    with pytest.raises(UsageError, match="only one of them"):
        replace(guarded, **{left_out: None}).check()


def test_the_command_refuses_another_address_without_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["studio", "--host", OTHERS, "--no-browser"])
    assert isinstance(done.exception, UsageError)
    assert list(tmp_path.iterdir()) == []


def test_a_certificate_that_is_none_is_refused(guarded, tmp_path):
    wrong = tmp_path / "wrong.pem"
    wrong.write_text("no certificate", encoding="utf-8")
    place = replace(guarded, certificate=wrong)
    projects = StudioProjects.of(None, home=tmp_path / "home", most_bytes=1)
    with pytest.raises(UsageError, match="cannot be used"):
        serve(projects, place, lambda _: None, threading.Event())


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_a_password_file_that_others_can_read_is_refused(tmp_path, mode):
    place = tmp_path / "password"
    place.write_text(PASSWORD, encoding="utf-8")
    place.chmod(mode)
    with pytest.raises(UsageError, match=f"its mode is {mode:04o}"):
        password_of(place)


@pytest.mark.parametrize("text", ["", "short", "\na long password\n"])
def test_a_short_password_is_refused_and_not_told(tmp_path, text):
    place = tmp_path / "password"
    place.write_text(text, encoding="utf-8")
    place.chmod(0o600)
    with pytest.raises(UsageError, match="at least 12") as fault:
        password_of(place)
    assert "short" not in str(fault.value)


def test_the_password_is_the_first_line(guarded):
    assert password_of(guarded.password_file) == PASSWORD


def test_a_password_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UsageError, match="nowhere"):
        password_of(tmp_path / "nowhere")
