"""Data and columns: choose, look, decide; each change is one of the policy."""

from __future__ import annotations

import shutil

import pytest

from sfumato.policy import Policy
from tests.running_studio import running_studio

EVIL = "<script>alert(1)</script>"
PAGES = (
    *("/data", "/columns", "/hierarchies", "/hierarchies?column=sex", "/protection"),
    *("/compare", "/attacks", "/release", "/projects"),
)


def policy(studio) -> Policy:
    return Policy.load(studio.root / "policy.toml")


def test_an_empty_project_offers_the_example_and_says_what_is_missing(studio):
    text = studio.ask("/data").text
    assert "Open the embedded example" in text
    assert "There is no table in the project folder yet." in text
    assert "Choose the data first." in studio.ask("/columns").text


def test_the_first_page_is_the_first_step_that_is_not_done(studio):
    assert studio.ask("/").headers["location"] == "/data"
    studio.send("/data/example")
    assert studio.ask("/").headers["location"] == "/columns"


def test_a_file_is_looked_at_and_a_policy_proposed(studio):
    rows = "".join(f"{20 + i % 40},{'FM'[i % 2]},{i % 7}\n" for i in range(200))
    studio.upload("people.csv", ("age,sex,illness\n" + rows).encode())
    assert studio.send("/data/choose", file="people.csv").status == 303
    studio.wait()
    assert policy(studio).data.path == "people.csv"
    assert "200 rows" in studio.ask("/data").text
    assert "pairs told apart" in studio.ask("/columns").text


def test_pages_of_the_table_go_from_the_first_to_the_last(example):
    assert "Page 1 of" in example.ask("/data").text
    last = example.ask("/data?page=999999999").text
    assert 'rel="next"' not in last
    assert "Page 1 of" not in last
    assert example.ask("/data?page=x").status == 200


def test_a_role_is_changed_in_the_policy_and_comes_back_by_undo(example):
    names = example.space.source(policy(example)).column_names
    roles = {f"role-{i}": _role(example, name) for i, name in enumerate(names)}
    kinds = {f"kind-{i}": _kind(example, name) for i, name in enumerate(names)}
    roles[f"role-{names.index('cost')}"] = "drop"
    assert example.send("/columns/save", **roles, **kinds).status == 303
    assert policy(example).columns["cost"].drop
    assert example.send("/history/undo", back="columns").status == 303
    assert not policy(example).columns["cost"].drop


def _role(studio, name: str) -> str:
    return str(policy(studio).role(name) or "drop")


def _kind(studio, name: str) -> str:
    return str(policy(studio).column(name).kind or "")


def test_roles_count_as_confirmed_until_one_changes(example):
    names = example.space.source(policy(example)).column_names
    fields = {f"role-{i}": _role(example, name) for i, name in enumerate(names)}
    fields |= {f"kind-{i}": _kind(example, name) for i, name in enumerate(names)}
    assert "not confirmed yet" in example.ask("/columns").text
    assert example.send("/columns/confirm", **fields).status == 303
    assert "not confirmed yet" not in example.ask("/columns").text
    fields[f"role-{names.index('cost')}"] = "drop"
    example.send("/columns/save", **fields)
    assert "not confirmed yet" in example.ask("/columns").text


def _fields(studio) -> tuple[list[str], dict[str, str]]:
    names = studio.space.source(policy(studio)).column_names
    fields = {f"role-{i}": _role(studio, name) for i, name in enumerate(names)}
    return names, fields | {f"kind-{i}": _kind(studio, n) for i, n in enumerate(names)}


def test_bands_are_set_changed_and_taken_away(example):
    names, fields = _fields(example)
    place = names.index("cost")
    assert (
        f'name="bands-{place}" id="bands-{place}" value="1000"'
        in example.ask("/columns").text
    )
    fields |= {f"bands-{place}": "500", f"bottom-{place}": "0", f"top-{place}": ""}
    assert example.send("/columns/save", **fields).status == 303
    cost = policy(example).columns["cost"]
    assert (cost.bands, cost.bottom, cost.top) == (500, 0, None)
    fields |= {f"bands-{place}": "", f"bottom-{place}": ""}
    assert example.send("/columns/save", **fields).status == 303
    assert policy(example).columns["cost"].coding is None


def test_a_form_without_bands_keeps_them_and_another_role_takes_them_away(example):
    names, fields = _fields(example)
    assert example.send("/columns/save", **fields).status == 303
    assert policy(example).columns["cost"].bands == 1000
    fields[f"role-{names.index('cost')}"] = "quasi"
    assert example.send("/columns/save", **fields).status == 303
    assert policy(example).columns["cost"].coding is None


def test_bands_of_words_are_refused_and_nothing_changes(example):
    names, fields = _fields(example)
    before = example.space.history.text()
    fields[f"bands-{names.index('diagnosis')}"] = "10"
    answer = example.send("/columns/save", **fields)
    assert answer.status == 422
    assert example.space.history.text() == before


def test_a_kind_that_the_cells_do_not_have_is_refused_and_nothing_breaks(example):
    names = example.space.source(policy(example)).column_names
    fields = {f"role-{i}": _role(example, name) for i, name in enumerate(names)}
    fields |= {f"kind-{i}": _kind(example, name) for i, name in enumerate(names)}
    before = example.space.history.text()
    fields[f"kind-{names.index('sex')}"] = "integer"
    answer = example.send("/columns/save", **fields)
    assert answer.status == 422
    assert "3,000 of 3,000 cells are not an integer" in answer.text
    assert example.space.history.text() == before


@pytest.mark.parametrize(
    "settings",
    [
        {"columns.sex.kind": "integer"},
        {"columns.sex.kind": "ordered", "columns.sex.order": ["F"]},
        {"columns.sex.hierarchy": "hierarchies/none.csv"},
        {"data.missing": ["M", "F"], "data.missing_as": "drop"},
        {"columns.nowhere.role": "quasi"},
        {"data.delimiter": "|"},
        {"data.path": "gone.csv"},
        {"data.encoding": "utf-16"},
    ],
    ids=lambda settings: ", ".join(settings),
)
def test_whatever_an_editor_writes_every_page_is_shown_and_undo_helps(
    example, settings
):
    before = example.space.history.text()
    text = policy(example).edited(settings)
    (example.root / "policy.toml").write_text(text, encoding="utf-8")
    for path in PAGES:
        assert example.ask(path).status == 200, path
    assert example.send("/history/undo", back="columns").status == 303
    assert example.space.history.text() == before


def test_columns_that_the_table_does_not_have_are_taken_out(example):
    example.space.history.edit({"columns.nowhere.role": "quasi"}, what="test")
    assert (
        "columns that the table does not have: nowhere" in example.ask("/columns").text
    )
    assert example.send("/columns/forget").status == 303
    assert "nowhere" not in policy(example).columns


def test_how_a_file_is_read_is_changed_without_a_new_policy(studio):
    rows = "".join(f"{20 + i % 9}|{'FM'[i % 2]}\n" for i in range(40))
    studio.upload("p.csv", f"age|sex\n{rows}".encode())
    studio.send("/data/choose", file="p.csv")
    studio.wait()
    told = {"missing": "F", "missing_as": "any", "encoding": "latin-1"}
    assert studio.send("/data/reading", delimiter="bar", **told).status == 303
    said = policy(studio).data
    assert (said.delimiter, said.encoding) == ("|", "latin-1")
    assert (said.missing, said.missing_as) == (("", "F"), "any")
    studio.send("/data/reading", delimiter="", encoding="", missing_as="value")
    said = policy(studio).data
    assert (said.delimiter, said.encoding, said.missing) == (None, None, ("",))


def test_an_error_that_nobody_expected_is_a_page_with_a_way_out(example, monkeypatch):
    def broken(_table, _query):
        raise RuntimeError("a cell: Edgar Kestrel")

    monkeypatch.setattr("sfumato.studio.data_step._preview", broken)
    answer = example.ask("/data")
    assert answer.status == 500
    assert "An unexpected error of type RuntimeError." in answer.text
    assert "Edgar" not in answer.text
    assert "Undo the last change" in answer.text
    assert "content-security-policy" in answer.headers


def test_values_are_hidden_until_they_are_asked_for(example):
    assert "<li>F <small>" not in example.ask("/columns").text
    assert "<li>F <small>" in example.ask("/columns?values=sex").text


def test_html_in_names_and_cells_is_shown_as_text(studio):
    head = f"{EVIL},sex\n"
    rows = "".join(f"{EVIL}{i % 3},F\n" for i in range(20))
    studio.upload("evil.csv", (head + rows).encode())
    studio.send("/data/choose", file="evil.csv")
    studio.wait()
    for path in ("/data", "/columns", f"/columns?values={EVIL}"):
        text = studio.ask(path).text
        assert EVIL not in text
        assert "&lt;script&gt;" in text


def test_a_file_that_is_no_table_is_an_error_on_the_page(studio):
    studio.upload("broken.parquet", b"no parquet at all")
    studio.send("/data/choose", file="broken.parquet")
    studio.wait()
    text = studio.ask("/data").text
    assert "Looking at the data: failed." in text
    assert studio.space.history.text() is None


def test_a_policy_broken_by_hand_is_an_error_on_every_page(example):
    (example.root / "policy.toml").write_text("version = ", encoding="utf-8")
    for path in ("/data", "/columns"):
        assert "is not TOML" in example.ask(path).text
    example.send("/history/undo", back="data")
    assert "is not TOML" not in example.ask("/data").text


def test_a_page_of_another_tab_is_refused_and_shows_what_is_now(example):
    answer = example.send(
        "/data/reading", revision="old", missing="NA", missing_as="any"
    )
    assert answer.status == 409
    assert "changed in another tab" in answer.text


def test_another_start_goes_on_where_the_first_stopped(example, tmp_path):
    home = tmp_path / "again"
    shutil.copytree(example.root.parent, home)
    with running_studio(home) as again:
        again.enter()
        assert again.ask("/").headers["location"] == "/columns"


def test_projects_are_begun_and_opened_one_after_the_other(example):
    assert example.send("/projects/new", name="second").status == 303
    assert example.root.name == "second"
    assert example.root.stat().st_mode & 0o777 == 0o700
    assert example.ask("/").headers["location"] == "/data"
    assert example.send("/projects/open", name="project").status == 303
    assert policy(example).data.path == "source.csv"


def test_a_project_cannot_be_opened_outside_its_home(example):
    for name in ("../other", ".studio", "/etc", ""):
        assert example.send("/projects/open", name=name).status == 422
    assert example.root.name == "project"


@pytest.mark.parametrize("path", ["/columns", "/protection", "/compare", "/release"])
def test_without_data_every_step_leads_to_the_data(studio, path):
    text = studio.ask(path).text
    assert '<a href="/data">Go to the data</a>' in text
    assert text.count(">Go to ") == 1


def test_the_only_file_of_the_folder_is_chosen_beforehand(studio):
    studio.upload("p.csv", b"age\n1\n")
    assert studio.ask("/data").text.count(" checked") == 1
    studio.upload("q.csv", b"age\n1\n")
    assert " checked" not in studio.ask("/data").text


def test_a_file_that_is_not_utf_8_names_the_field_that_mends_it(studio):
    studio.upload("p.csv", "age,sex\n21,groß\n22,x\n".encode("cp1252"))
    studio.send("/data/choose", file="p.csv")
    studio.wait()
    told = "It is probably cp1252: if so, set the field &#39;Encoding&#39; to cp1252."
    assert told in studio.ask("/data").text
    studio.send("/data/choose", file="p.csv", encoding="cp1252")
    studio.wait()
    assert policy(studio).data.encoding == "cp1252"


def test_cells_of_several_lines_are_a_field_of_the_page(studio):
    rows = "".join(f'{20 + i % 9},"a{i % 2}\nb"\n' for i in range(40))
    studio.upload("p.csv", f"age,ill\n{rows}".encode())
    studio.send("/data/choose", file="p.csv", multiline="meant")
    studio.wait()
    assert policy(studio).data.multiline
    studio.send("/data/reading", missing_as="value", multiline="")
    assert not policy(studio).data.multiline
    assert "&#39;Cells of several lines&#39; to meant" in studio.ask("/data").text
    studio.send("/data/reading", missing_as="value", multiline="meant")
    assert policy(studio).data.multiline


def test_row_numbers_are_left_out_and_the_page_says_so(studio):
    rows = "".join(f"{i},{20 + i % 9},x{i % 2}\n" for i in range(40))
    studio.upload("p.csv", f",age,ill\n{rows}".encode())
    studio.send("/data/choose", file="p.csv")
    studio.wait()
    assert set(policy(studio).columns) == {"age", "ill"}
    assert "read as row numbers and left out" in studio.ask("/data").text
