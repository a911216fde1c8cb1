"""Nobody but the browser that the studio opened can read or change anything."""

from __future__ import annotations

import pytest

from tests.running_studio import running_studio

PAGES = ("/", "/data", "/columns", "/task", "/projects")


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    """One studio for all tests that change nothing."""
    with running_studio(tmp_path_factory.mktemp("studio") / "home") as found:
        found.enter()
        yield found


@pytest.fixture
def unknown(studio):
    """The same studio, without its cookie."""
    cookie, studio.cookie = studio.cookie, ""
    yield studio
    studio.cookie = cookie


@pytest.mark.parametrize("page", PAGES)
def test_without_the_cookie_no_page_is_shown(unknown, page):
    answer = unknown.ask(page)
    assert answer.status == 401
    assert "not known to the studio" in answer.text


def test_a_wrong_token_gives_no_cookie(unknown):
    answer = unknown.ask("/enter?token=wrong")
    assert answer.status == 403
    assert "set-cookie" not in answer.headers


def test_the_token_works_once(stranger):
    path = stranger.access.address.removeprefix(stranger.access.origin)
    assert stranger.ask(path).status == 303
    assert stranger.ask(path).status == 403


def test_the_cookie_is_strict_and_hidden_from_scripts(stranger):
    path = stranger.access.address.removeprefix(stranger.access.origin)
    given = stranger.ask(path).headers["set-cookie"]
    assert "SameSite=Strict" in given
    assert "HttpOnly" in given


def test_another_session_is_not_taken(unknown):
    unknown.cookie = f"{unknown.access.cookie}=guessed"
    assert unknown.ask("/data").status == 401


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1:1"])
def test_a_foreign_host_is_refused(studio, host):
    answer = studio.ask("/data", headers={"Host": host})
    assert answer.status == 421


def test_the_name_localhost_is_this_machine_too(studio):
    host = f"localhost:{studio.access.port}"
    assert studio.ask("/data", headers={"Host": host}).status == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", ""])
def test_a_change_from_a_foreign_origin_is_refused(studio, origin):
    answer = studio.ask(
        "/data/example", method="POST", body=b"", headers={"Origin": origin}
    )
    assert answer.status == 403
    assert studio.space.history.text() is None


CHANGES = ("/data/example", "/columns/save", "/task/cancel", "/history/undo")


@pytest.mark.parametrize("path", [*CHANGES, "/projects/new", "/data/choose"])
@pytest.mark.parametrize("token", ["", "change=wrong"])
def test_a_change_without_the_token_of_its_page_is_refused(studio, path, token):
    answer = studio.ask(path, method="POST", body=token.encode())
    assert answer.status == 409
    assert "does not come from a page of this studio" in answer.text
    assert studio.space.history.text() is None


def test_an_upload_without_the_token_writes_nothing(studio):
    answer = studio.upload("a.csv", b"age\n1\n", change="wrong")
    assert answer.status == 409
    assert list(studio.root.glob("*.csv")) == []


def test_every_answer_has_the_rules_of_the_page(studio):
    for path in ("/data", "/static/studio.js", "/nothing", "/task"):
        headers = studio.ask(path).headers
        rules = headers["content-security-policy"]
        assert "default-src 'none'" in rules
        assert "unsafe" not in rules
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/data", "/columns", "/projects"])
def test_no_page_has_a_script_or_style_of_its_own(studio, path):
    text = studio.ask(path).text
    assert "<style" not in text
    assert " style=" not in text
    assert " onclick" not in text
    assert text.count("<script") == text.count('<script src="/static/')
