"""Steps 3 and 4: what is shown is what is applied, and what is promised is feasible."""

from __future__ import annotations

import csv

import pyarrow.compute as pc
import pytest

from sfumato import api
from sfumato.models.common.judged_columns import NOTHING_JUDGED
from sfumato.policy import Policy


def policy(studio) -> Policy:
    return Policy.load(studio.root / "policy.toml")


def spec(studio, name: str) -> object:
    return policy(studio).column(name).hierarchy


def test_without_a_quasi_identifier_all_steps_say_what_is_missing(studio):
    studio.upload("p.csv", b"note\nx\ny\n")
    text = 'version = 1\nunlisted = "keep"\n[data]\npath = "p.csv"\n'
    text += '[[require]]\nmodel = "k-anonymity"\nk = 2\n'
    studio.space.history.write(text, what="test")
    for path in ("/hierarchies", "/protection", "/compare"):
        page = studio.ask(path).text
        assert "Name a quasi-identifier first." in page
        assert '<a href="/columns">Go to the columns</a>' in page


def test_the_tree_has_the_rows_of_the_table(example):
    text = example.ask("/hierarchies?column=sex").text
    assert "3,000 rows" in text
    assert "<details" in text


@pytest.mark.parametrize(
    ("column", "fields", "setting"),
    [
        ("zip", {"builder": "prefix", "levels": "3, 1"}, {"prefix": [3, 1]}),
        ("zip", {"builder": "flat"}, "flat"),
        ("zip", {"builder": "auto"}, "auto"),
        (
            "birth_date",
            {"builder": "calendar", "unit": ["decade", "year"]},
            {"calendar": ["year", "decade"]},
        ),
        ("birth_date", {"builder": "free"}, "free"),
    ],
)
def test_a_wizard_sets_the_hierarchy(example, column, fields, setting):
    answer = example.send("/hierarchies/wizard", column=column, **fields)
    assert answer.status == 303
    assert spec(example, column) == setting


def test_a_learned_tree_is_shown_as_a_run_learns_it(example):
    """A run writes the tree that it learned into its private part."""
    setting = {"column": "occupation", "builder": "learned"}
    assert example.send("/hierarchies/wizard", **setting).status == 303
    shown = example.ask("/hierarchies/export?column=occupation").text
    release = api.anonymize(example.root / "source.csv", policy(example))
    (learned,) = release.learned.values()
    lines = [line.split(";") for line in shown.splitlines()]
    assert lines == list(csv.reader(learned.splitlines()))[1:]


def test_a_tree_has_no_rows_that_missing_values_take_away(example):
    rows = example.space.source(policy(example))
    gone = [pc.equal(rows[name], "") for name in ("zip", "ethnicity", "occupation")]
    whole = rows.num_rows - pc.sum(pc.or_(pc.or_(gone[0], gone[1]), gone[2])).as_py()
    example.space.history.edit({"data.missing_as": "drop"}, what="test")
    assert 0 < whole < 3000
    assert f"<small>{whole:,} rows" in example.ask("/hierarchies?column=sex").text


def test_a_wizard_that_does_not_fit_changes_nothing(example):
    before = example.space.history.text()
    answer = example.send(
        "/hierarchies/wizard", column="zip", builder="calendar", unit=["year"]
    )
    assert answer.status == 422
    assert example.space.history.text() == before


def test_values_are_grouped_exported_and_imported_again(example):
    example.send(
        "/hierarchies/group", column="sex", value=["F", "M"], label="Any", level=1
    )
    exported = example.ask("/hierarchies/export?column=sex")
    assert exported.text == "F;Any;*\nM;Any;*\n"
    assert exported.headers["content-disposition"].startswith("attachment")
    example.send("/hierarchies/wizard", column="sex", builder="flat")
    answer = send_file(example, "sex", exported.text)
    assert answer.status == 303
    assert example.ask("/hierarchies/export?column=sex").text == exported.text


def send_file(studio, column: str, text: str):
    fields = {
        "change": studio.access.change_token,
        "revision": studio.space.history.revision(),
        "column": column,
    }
    parts = [
        f'--edge\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n'
        for k, v in fields.items()
    ]
    head = '--edge\r\nContent-Disposition: form-data; name="file"; filename="h.csv"'
    body = "".join([*parts, head, "\r\n\r\n", text, "\r\n--edge--\r\n"])
    kind = {"Content-Type": "multipart/form-data; boundary=edge"}
    return studio.ask(
        "/hierarchies/import", method="POST", body=body.encode(), headers=kind
    )


def test_values_that_a_file_does_not_cover_are_put_under_other(example):
    assert send_file(example, "sex", "F;All;*\n").status == 303
    text = example.ask("/hierarchies?column=sex").text
    assert "has no leaf for 1 of 2 values" in text
    assert example.send("/hierarchies/other", column="sex").status == 303
    assert example.ask("/hierarchies/export?column=sex").text == "F;All;*\nM;Other;*\n"


def test_a_file_that_is_no_hierarchy_is_refused_and_removed(example):
    before = sorted((example.root / "hierarchies").iterdir())
    assert send_file(example, "sex", "F;a;*\nF;b;*\n").status == 422
    assert sorted((example.root / "hierarchies").iterdir()) == before


def test_undo_brings_the_applied_hierarchy_back(example):
    before = example.ask("/hierarchies/export?column=occupation").text
    example.send(
        "/hierarchies/group",
        column="occupation",
        value=["Nurse"],
        label="Night work",
        level=1,
    )
    assert example.ask("/hierarchies/export?column=occupation").text != before
    example.send("/history/undo", back="hierarchies")
    assert example.ask("/hierarchies/export?column=occupation").text == before


def test_the_order_of_values_names_each_once(example):
    assert example.send("/hierarchies/order", column="sex", order="F").status == 422
    assert example.send("/hierarchies/order", column="sex", order="M\nF").status == 303
    assert policy(example).column("sex").order == ("M", "F")


def test_a_requirement_out_of_reach_offers_the_nearest_value(example):
    example.send("/protection/save", place=0, **{"set-k": "9999"})
    text = example.ask("/protection").text
    assert "k-anonymity needs groups of at least 9,999; the table has 3,000." in text
    assert "Use k = 3000, the nearest feasible value" in text
    assert "out of reach" in text


def test_every_model_says_what_it_does_not_protect(example):
    text = example.ask("/protection").text
    assert text.count("Not protected:") >= 17


def test_a_model_is_required_and_no_longer(example):
    assert example.send("/protection/add", model="t-closeness").status == 303
    assert [each.model for each in policy(example).require][-1] == "t-closeness"
    assert example.send("/protection/remove", place=2).status == 303
    assert len(policy(example).require) == 2


def test_the_page_says_when_nothing_is_judged(example):
    assert NOTHING_JUDGED not in example.ask("/protection").text
    example.send("/protection/remove", place=1)
    assert NOTHING_JUDGED in example.ask("/protection").text


def test_a_parameter_that_is_no_number_is_an_error_on_the_page(example):
    answer = example.send("/protection/save", place=0, **{"set-k": "many"})
    assert answer.status == 422
    assert policy(example).require[0].settings["k"] == 5


def test_limits_of_the_release_are_settings_of_the_policy(example):
    fields = {"publish.max_suppressed": "0.02", "publish.max_loss": "0.5"}
    assert example.send("/protection/publish", **fields).status == 303
    assert policy(example).publish.max_suppressed == 0.02


def test_under_a_process_model_no_cell_is_read_for_the_outlook(example, monkeypatch):
    from sfumato.studio import table_outlook

    monkeypatch.setattr(table_outlook, "ground_of", None)
    # Bands of columns are refused under differential privacy.
    names = example.space.source(policy(example)).column_names
    roles = {
        f"role-{i}": policy(example).role(n) or "drop" for i, n in enumerate(names)
    }
    example.send("/columns/save", **roles | {f"role-{names.index('cost')}": "drop"})
    example.send("/protection/remove", place=1)
    example.send("/protection/remove", place=0)
    example.send("/protection/add", model="differential-privacy")
    text = example.ask("/protection").text
    assert "no cell is read for it" in text
