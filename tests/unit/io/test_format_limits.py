"""What a format cannot hold is refused by name; what it holds comes back."""

from __future__ import annotations

import datetime as dt
from random import Random

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import DataError, RefusedError
from sfumato.io.database_types import storable
from sfumato.io.format_limits import LIMITS, refuse_size, refuse_texts
from sfumato.io.formats import Format
from sfumato.io.read import read_source
from sfumato.io.write import write_table

STATISTICAL = ("sav", "dta", "xpt")
ALL = (*STATISTICAL, "xlsx")


def round_trip(table, tmp_path, ending):
    write_table(table, tmp_path / f"t.{ending}")
    return read_source(tmp_path / f"t.{ending}", named=True)


def beside(**columns):
    return pa.table({**columns, "other": ["1", "2"]})


@pytest.mark.parametrize("ending", ["sav", "xpt", "xlsx"])
@pytest.mark.parametrize("sign", ["x", "é", "€", "😀"])
def test_the_longest_text_comes_back_and_a_longer_one_is_refused(
    tmp_path, ending, sign
):
    size = len(sign.encode("utf-16-le" if ending == "xlsx" else "utf-8"))
    most = 32_767 // (size // 2 if ending == "xlsx" else size)
    fits = beside(text=[sign * most, "b"], second=["c", sign * most])
    assert round_trip(fits, tmp_path, ending)["text"].to_pylist() == [sign * most, "b"]
    long = beside(text=[sign * (most + 1), "b"])
    with pytest.raises(DataError, match=r"'text' has a text of 32,7.*holds 32,767"):
        round_trip(long, tmp_path, ending)


def test_a_stata_file_holds_texts_of_any_length(tmp_path):
    fits = beside(text=["x" * 70_000, "b"])
    assert round_trip(fits, tmp_path, "dta")["text"].to_pylist() == ["x" * 70_000, "b"]


@pytest.mark.parametrize("ending", STATISTICAL)
@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["a", "a "], "has 1 text that ends with blanks"),
        (["a  ", " "], "has 2 texts that end with blanks"),
        (["a\0b", "a"], "has 1 text with zero characters"),
    ],
)
def test_texts_that_would_be_cut_are_refused(tmp_path, ending, texts, said):
    with pytest.raises(
        DataError, match=f"Column 'text' {said}.*{ending} does not keep"
    ):
        round_trip(beside(text=texts), tmp_path, ending)


@pytest.mark.parametrize("sign", ["\ufffe", "\uffff"])
def test_characters_that_excel_does_not_keep_are_refused(tmp_path, sign):
    with pytest.raises(DataError, match=f"the character U.{ord(sign):X}, which"):
        round_trip(beside(text=[f"a{sign}", "b"]), tmp_path, "xlsx")


@pytest.mark.parametrize(
    "text", ["_x0041_x0042_", "_x005F_x0041_", "_x0041\x01", "<r>a</r>", "<r>\n</r>"]
)
def test_codes_that_excel_would_read_as_others_are_refused(tmp_path, text):
    with pytest.raises(DataError, match="Column 'text' has 1 text with codes such as"):
        round_trip(beside(text=[text, "b"]), tmp_path, "xlsx")


def test_codes_that_are_not_refused_come_back_from_excel(tmp_path):
    random, signs = Random(7), ["_", "x", "0041", "005F", "<r>", "</r>", "\x01", "a"]
    texts = {
        "".join(random.choices(signs, k=random.randint(1, 7))) for _ in range(3000)
    }
    allowed = [text for text in sorted(texts) if not _is_refused(text)]
    assert len(texts) > len(allowed) > 2000
    table = pa.table({"text": allowed})
    assert round_trip(table, tmp_path, "xlsx").equals(table)


def _is_refused(text):
    try:
        refuse_texts("text", pa.array([text]), Format.EXCEL)
    except DataError:
        return True
    return False


def test_a_zero_character_in_a_name_is_refused_by_excel(tmp_path):
    with pytest.raises(DataError, match="no zero character"):
        round_trip(beside(**{"a\0b": ["a", "b"]}), tmp_path, "xlsx")


@pytest.mark.parametrize("ending", ALL)
@pytest.mark.parametrize("text", ["\ta\t", "a\n", "\r", "a\u00a0", "\x01", "_x0041_"])
def test_texts_that_look_as_if_they_would_be_cut_come_back(tmp_path, ending, text):
    table = beside(text=[text, "b"])
    assert round_trip(table, tmp_path, ending)["text"].to_pylist() == [text, "b"]


@pytest.mark.parametrize(
    ("ending", "name"),
    [
        ("sav", "n" * 64),
        ("sav", "a.b_$#@"),
        ("dta", "é" * 32),
        ("xpt", "n" * 32),
        ("xlsx", "n" * 32_767),
    ],
)
def test_an_unusual_name_that_is_allowed_comes_back(tmp_path, ending, name):
    table = beside(**{name: ["a", "b"]})
    assert round_trip(table, tmp_path, ending).column_names == [name, "other"]


@pytest.mark.parametrize(
    ("ending", "name"),
    [
        *(
            (ending, name)
            for ending in STATISTICAL
            for name in ("a b", "1a", "_a", "²")
        ),
        ("sav", "n" * 65),
        ("sav", "With"),
        ("dta", "n" * 33),
        ("dta", "using"),
        ("dta", "str5"),
        ("xpt", "n" * 33),
        ("xpt", "größe"),
        ("xlsx", "n" * 32_768),
        ("xlsx", "_x0041_x0042_"),
        ("xlsx", "<r>n</r>"),
        ("xlsx", "\u2028"),
        ("xlsx", "__UNNAMED__0"),
    ],
)
def test_a_name_that_a_format_does_not_allow_is_refused(tmp_path, ending, name):
    with pytest.raises(DataError, match=f"The name of column '{name}'"):
        round_trip(beside(**{name: ["a", "b"]}), tmp_path, ending)


@pytest.mark.parametrize("ending", ALL)
@pytest.mark.parametrize(
    "cells", [pa.array([b"\xff", b"b"]), pa.array([[1], [2]])], ids=["bytes", "lists"]
)
def test_a_type_without_a_text_is_refused_by_its_column(tmp_path, ending, cells):
    with pytest.raises(DataError, match=r"Column 'x' has the type"):
        round_trip(beside(x=cells), tmp_path, ending)


@pytest.mark.parametrize("ending", ALL)
def test_the_first_and_the_last_day_come_back(tmp_path, ending):
    days = [dt.date(1, 1, 1), dt.date(9999, 12, 31)]
    back = round_trip(beside(day=days), tmp_path, ending)["day"]
    assert back.cast(pa.date32()).to_pylist() == days


@pytest.mark.parametrize("ending", ALL)
def test_a_day_beyond_the_calendar_is_refused(tmp_path, ending):
    far = pa.array([4_000_000, 0], pa.int32()).view(pa.date32())
    with pytest.raises(DataError, match=r"'day' has dates outside of the years 1 to"):
        round_trip(beside(day=far), tmp_path, ending)


def test_a_sas_file_without_the_last_rows_is_refused(tmp_path):
    """Rows of nothing but blanks are taken for the end of the file."""
    table = pa.table({"a": ["x", "", ""], "b": ["y", None, ""]})
    with pytest.raises(DataError, match=r"2 rows of 3 have no cell with a text"):
        round_trip(table, tmp_path, "xpt")


@pytest.mark.parametrize(
    ("form", "columns", "rows", "said"),
    [
        (Format.EXCEL, 16_385, 1, "16,385 columns.*holds 16,384"),
        (Format.EXCEL, 1, 1_048_576, "1,048,576 rows.*holds 1,048,575"),
        (Format.STATA, 32_768, 1, "32,768 columns.*holds 32,767"),
    ],
)
def test_more_rows_or_columns_than_a_format_holds_are_refused(
    form, columns, rows, said
):
    with pytest.raises(DataError, match=said):
        refuse_size(columns, rows, form)


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow"])
def test_other_formats_have_no_limits(form):
    assert Format(form) not in LIMITS


def test_a_name_that_postgresql_would_cut_is_refused():
    with pytest.raises(DataError, match="has 64 bytes; PostgreSQL keeps 63"):
        storable(pa.table({"n" * 64: [1]}), "postgresql")


FAR = pa.array([10**7] * 8, pa.int32()).view(pa.date32())
"""A day of the year 29349."""


@pytest.mark.parametrize("system", ["sqlite", "duckdb"])
def test_a_far_date_is_refused_by_a_database_before_any_work(tmp_path, system):
    table = pa.table({"q": ["a", "b"] * 4, "seen": FAR})
    release = sf.anonymize(table, quasi="q", insensitive="seen", k=2, max_loss=1)
    with pytest.raises(DataError, match="'seen' has dates outside of the years 1 to"):
        release.save(tmp_path / "out", to=f"{system}:///{tmp_path}/new.db#t")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("system", ["postgresql", "duckdb"])
def test_a_far_moment_is_refused_by_a_database(system):
    moments = pa.array([1 << 60, None]).cast(pa.timestamp("us", "UTC"))
    with pytest.raises(DataError, match="'seen' has dates outside of the years 1 to"):
        storable(pa.table({"seen": moments}), system)


BLANKS = pa.table(
    {"q": ["a", "a", "a ", "a ", "a  ", "a  ", "c", "c", "c", "c"], "s": ["x", "y"] * 5}
)


def searched(*_):
    raise AssertionError("the table was searched")


@pytest.mark.parametrize("ending", STATISTICAL)
@pytest.mark.parametrize("role", ["quasi", "sensitive", "insensitive"])
def test_blanks_are_refused_before_the_search_in_every_role(monkeypatch, ending, role):
    monkeypatch.setattr("sfumato.algorithms.base.Algorithm.solve", searched)
    roles = {"quasi": ["s"], role: ["q"]} if role != "quasi" else {"quasi": ["q"]}
    with pytest.raises(DataError, match="'q' has 2 texts that end with blanks") as told:
        sf.anonymize(BLANKS, k=2, format=ending, unlisted="keep", **roles)
    assert told.value.exit_code == 2
    assert "publish.trim = true" in told.value.hint


@pytest.mark.parametrize("ending", ["dta", "xpt"])
def test_a_label_of_a_hierarchy_is_refused_before_the_search(monkeypatch, ending):
    monkeypatch.setattr("sfumato.algorithms.base.Algorithm.solve", searched)
    people = pa.table({"q": ["a", "b"] * 4})
    levels = {"q": {"tree": {"both ": ["a", "b"]}}}
    with pytest.raises(DataError, match="'q' has 1 text that ends with blanks"):
        sf.anonymize(people, quasi="q", k=2, format=ending, hierarchies=levels)


def test_an_identifier_may_be_what_it_is():
    people = pa.table({"name": ["a "] * 8, "q": ["a", "b"] * 4})
    sf.anonymize(people, identifier="name", quasi="q", k=2, format="sav")


def test_a_set_that_is_too_long_is_refused_before_it_is_written(tmp_path):
    names = [f"{number:05d}" * 30 for number in range(400)]
    release = sf.anonymize(
        pa.table({"q": names}), quasi="q", k=300, max_loss=1, format="xlsx"
    )
    with pytest.raises(DataError, match=r"'q' has a text of .* holds 32,767"):
        release.save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", [*STATISTICAL, "csv"])
def test_trimmed_texts_are_those_that_figures_are_about(tmp_path, ending):
    settings = {"quasi": "q", "sensitive": "s", "k": 2}
    release = sf.anonymize(BLANKS, trim=True, format=ending, **settings)
    manifest = release.save(tmp_path / "out")
    data = read_source(tmp_path / "out" / f"data.{ending}")
    assert set(data["q"].to_pylist()) == {"a", "c"}
    assert manifest["groups"] == 2
    assert manifest["risk"]["prosecutor_max"] == 0.25
    checked = sf.check(tmp_path / "out" / f"data.{ending}", **settings)
    assert checked.verdicts[0]["measured"] == release.verdicts[0]["measured"] == 4


def test_trimming_a_file_makes_one_category_of_two(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("q,s\n" + "a,x\n" * 3 + "a ,x \n" * 3)
    release = sf.anonymize(path, quasi="q", sensitive="s", k=6, trim=True)
    assert set(release.table["q"].to_pylist()) == {"a"}
    assert set(release.table["s"].to_pylist()) == {"x"}


def test_trimming_keeps_a_column_of_categories(tmp_path):
    people = BLANKS.set_column(0, "q", BLANKS["q"].dictionary_encode())
    release = sf.anonymize(people, quasi="s", insensitive="q", k=2, trim=True)
    assert set(release.table["q"].to_pylist()) == {"a", "c"}
    assert pa.types.is_dictionary(release.table["q"].type)


def test_a_run_out_of_core_does_not_trim(tmp_path):
    path = tmp_path / "people.parquet"
    write_table(BLANKS, path)
    with pytest.raises(RefusedError, match=r"publish\.trim needs all rows in memory"):
        sf.anonymize(path, quasi="q", k=2, trim=True, engine="duckdb")
