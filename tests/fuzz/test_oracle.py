"""The fuzz notices every kind of lie, planted into a true release."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.cli.app import run
from tests.fuzz import leaks
from tests.fuzz.cases import Case, Column
from tests.fuzz.claims import holds
from tests.fuzz.judge import judge
from tests.fuzz.meaning import Reader
from tests.fuzz.proof import Proof
from tests.fuzz.release import Release
from tests.fuzz.truth import untrue
from tests.fuzz.workers import Worker


def people(**publish: object) -> Case:
    return Case(
        name="made",
        door="command",
        format="csv",
        columns={
            "age": Column(kind="integer", cells=("30", "31", "40", "41")),
            "illness": Column(kind="category", cells=("flu", "gout", "flu", "gout")),
        },
        policy={
            "columns": {"age": {"role": "quasi"}, "illness": {"role": "sensitive"}},
            "require": [
                {"model": "k-anonymity", "k": 2},
                {"model": "l-diversity", "l": 2},
            ],
            "algorithm": {"name": "mondrian"},
            "publish": {"operator": "generalize", **publish},
        },
    )


@pytest.fixture
def release(tmp_path: Path) -> Release:
    case = people()
    policy = case.write(tmp_path)
    out = tmp_path / "release"
    assert (
        run(["anonymize", str(policy), "--out", str(out), "--insecure-seed", "1"]) == 0
    )
    return Release(case, out)


def rewritten(release: Release, old: str, new: str) -> Release:
    text = release.data.read_text("utf-8")
    assert old in text
    release.data.write_text(text.replace(old, new, 1), "utf-8")
    return Release(release.case, release.place)


def test_a_true_release_has_no_findings():
    assert judge(people()).findings == []


def test_a_row_that_stands_alone_breaks_k(release):
    lying = rewritten(release, '"[30, 31]"', '"[30, 32]"')
    assert not holds(Proof(lying), {"model": "k-anonymity", "k": 2})


def test_a_group_of_one_value_breaks_l(release):
    lying = rewritten(release, "flu", "gout")
    assert not holds(Proof(lying), {"model": "l-diversity", "l": 2})


def test_an_interval_beside_its_value_is_noticed(release):
    lying = rewritten(release, "[30, 31]", "[31, 32]")
    assert "a cell of 'age' does not contain its source value" in list(untrue(lying))


def test_a_changed_sensitive_value_is_noticed(release):
    assert "a cell of 'illness' left otherwise than it came" in list(
        untrue(rewritten(release, "flu", "gout"))
    )


def test_a_lost_row_is_noticed(release):
    lines = release.data.read_text("utf-8").splitlines(keepends=True)
    release.data.write_text("".join(lines[:-1]), "utf-8")
    assert list(untrue(Release(release.case, release.place))) != []


def test_a_hidden_text_in_the_manifest_is_noticed(tmp_path, release):
    canaried = Case.read(release.case.text().replace('"31"', '"hiddenzq01"'))
    path = release.place / "manifest.json"
    path.write_text(json.dumps({**release.manifest, "x": "hiddenzq01"}), "utf-8")
    found = list(leaks.published(Release(canaried, release.place)))
    assert found == ["manifest.json holds a text that no published cell shows"]


def reporting(release: Release, *cells: str) -> Release:
    """The release as if its ages were other texts, and its manifest counted the first."""
    case = people()
    case.columns["age"] = Column(kind="category", cells=cells)
    case.policy["report"] = {"loss_by": ["age"]}
    path = release.place / "manifest.json"
    path.write_text(json.dumps({**release.manifest, "x": cells[0]}), "utf-8")
    return Release(case, release.place)


def test_a_rare_value_in_the_loss_by_value_is_noticed(release):
    lying = reporting(release, "hiddenzq01", "b", "c", "d")
    assert list(leaks.published(lying)) == [
        "manifest.json holds a text that no published cell shows"
    ]


def test_a_text_inside_a_common_value_of_the_loss_by_value_is_no_leak(release):
    honest = reporting(release, "1969-12-31 23:16", "1969-12-31 23:16", "c", "d")
    honest.case.columns["day"] = Column(
        kind="date", cells=("1969-12-31", "1970-01-01", "1970-01-02", "1970-01-03")
    )
    assert list(leaks.published(honest)) == []


@pytest.mark.parametrize("ending", ["arrow", "parquet"])
def test_an_unshown_value_in_a_nested_dictionary_is_noticed(tmp_path, ending):
    words = pa.DictionaryArray.from_arrays([0], ["seen", "hiddenzq01"])
    nested = pa.ListArray.from_arrays([0, 1], words)
    table = pa.table({"note": nested})
    path = tmp_path / f"data.{ending}"
    if ending == "parquet":
        pq.write_table(pa.table({"note": pa.array(["hiddenzq01"])}), path)
    else:
        with (
            pa.OSFile(str(path), "wb") as out,
            pa.ipc.new_file(out, table.schema) as to,
        ):
            to.write_table(table)
    assert leaks._held(path, {"hiddenzq01"})


def test_a_message_that_quotes_a_cell_is_noticed():
    case = Case.read(people().text().replace('"31"', '"hiddenzq01"'))
    assert list(leaks.said(case, {"stderr": "bad value hiddenzq01"})) == [
        "stderr quotes a cell"
    ]


def test_numbers_are_compared_exactly_at_any_magnitude():
    reader = Reader("integer")
    assert reader.covers("[9007199254740993, 9007199254740995]", "9007199254740993")
    assert not reader.covers("[9007199254740994, 9007199254740995]", "9007199254740993")


def test_an_open_end_does_not_contain_its_bound():
    reader = Reader("decimal")
    assert reader.covers("[20, 25)", "24.999")
    assert not reader.covers("[20, 25)", "25")


def test_a_moment_has_its_ancestors_however_it_is_written():
    path = ["1969-12-31 23:20:34.252000000", "evening", "*"]
    reader = Reader("datetime", paths={path[0]: path})
    assert reader.path("1969-12-31 23:20:34.252") == path


def test_a_missing_value_is_not_inside_an_interval():
    assert not Reader("integer").covers("[1, 9]", "")
    assert Reader("integer").covers("*", "")


def test_a_search_that_does_not_end_is_a_finding(monkeypatch):
    worker = Worker(seconds=0.0)
    try:
        assert worker.ask(people()).findings == ["hangs"]
    finally:
        worker.end()


def test_a_message_names_no_machine_in_what_it_is_counted_by():
    ending = judge(Case.read(people().text().replace('"k": 2', '"k": 9')))
    assert ending.code == 3
    assert ending.findings == []


def test_a_ratio_that_is_exactly_the_limit_is_not_below_it(release: Release):
    recursive = {"model": "l-diversity", "kind": "recursive", "l": 2}
    proof = Proof(release)
    assert not holds(proof, {**recursive, "c": 1.0})
    assert holds(proof, {**recursive, "c": 1.0001})
