"""What cells are is decided once, on the source: the proof reads them the same way."""

import json
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.coding import code_column
from sfumato.data.schema import DateOrder, Kind
from sfumato.data.seeds import Seed
from sfumato.errors import DataError

# Only the last date says that days come first; its row is alone and has to go.
DATES = ["01/02/2020", "03/04/2020", "01/02/2020", "03/04/2020", "25/12/2020"]
# Only one cell is no number; its row is alone and has to go.
NUMBERS = ["1", "2", "1", "2", "many"]
PLACES = ["a", "a", "b", "b", "z"]


def release_of(values, *, t=0.5, **asked):
    table = pa.table({"place": PLACES, "value": values})
    return sf.anonymize(
        table,
        seed=Seed.guessable(3),
        quasi=["place"],
        sensitive=["value"],
        max_suppressed=0.25,
        algorithm={"name": "optimal"},
        hierarchies={"place": "flat"},
        require=[{"model": "k-anonymity", "k": 2}, {"model": "t-closeness", "t": t}],
        **asked,
    )


def saved(release, tmp_path):
    release.save(tmp_path / "out")
    return tmp_path / "out"


@pytest.mark.parametrize("values", [DATES, NUMBERS], ids=["dates", "numbers"])
def test_a_row_left_out_does_not_change_what_the_others_are(values, tmp_path):
    release = release_of(values)
    assert release.manifest["rows_suppressed"] == 1
    place = saved(release, tmp_path)
    assert (place / "data.csv").exists()


def test_the_manifest_names_kinds_and_distances_and_no_values(tmp_path):
    place = saved(release_of(DATES), tmp_path)
    manifest = json.loads((place / "manifest.json").read_text())
    assert manifest["kinds"]["value"] == {
        "kind": "date",
        "dates": "day first",
        "distance": "ordered",
    }
    assert "25/12/2020" not in (place / "manifest.json").read_text()
    audit = json.loads((place / "private" / "audit.json").read_text())
    assert audit["values"]["value"] == ["01/02/2020", "03/04/2020", "25/12/2020"]


def test_the_distance_that_was_enforced_is_the_one_that_is_measured():
    release = release_of(NUMBERS)
    assert release.manifest["kinds"]["value"]["distance"] == "equal"
    assert release.verdicts[1]["measured"] >= 0


ROWS = "place,value\n" + "a,1\na,2\n" * 2 + "b,1\nb,3\n" * 2


def checked(tmp_path, *, text=ROWS, **asked):
    file = tmp_path / "data.csv"
    file.write_text(text)
    return sf.check(file, quasi=["place"], sensitive=["value"], t=0.9, **asked)


def told(tmp_path, **kinds):
    place = tmp_path / "manifest.json"
    place.write_text(json.dumps({"kinds": {"value": kinds}}))
    return place


def test_check_infers_and_says_so(tmp_path):
    assert checked(tmp_path).kinds == {
        "value": {"kind": "integer", "distance": "ordered", "from": "cells"}
    }


def test_check_takes_kinds_from_the_policy_before_it_infers(tmp_path):
    result = checked(tmp_path, kinds={"value": "category"})
    assert result.kinds["value"] == {
        "kind": "category",
        "distance": "equal",
        "from": "policy",
    }
    listed = checked(tmp_path, domains={"value": ["1", "2", "3", "many"]})
    assert listed.kinds["value"]["kind"] == "category"


def test_check_takes_kinds_from_the_manifest_before_the_policy(tmp_path):
    manifest = told(tmp_path, kind="category", distance="equal")
    result = checked(tmp_path, kinds={"value": "integer"}, manifest=manifest)
    assert result.kinds["value"]["from"] == "manifest"
    assert result.kinds["value"]["kind"] == "category"
    assert result.verdicts[0]["measured"] == pytest.approx(0.25)


def test_check_reads_dates_as_the_manifest_says(tmp_path):
    manifest = told(tmp_path, kind="date", dates="day first", distance="ordered")
    text = "place,value\na,01/02/2020\na,03/04/2020\nb,01/02/2020\nb,03/04/2020\n"
    assert checked(tmp_path, text=text).kinds["value"]["kind"] == "category"
    result = checked(tmp_path, text=text, manifest=manifest)
    assert result.kinds["value"]["kind"] == "date"


def test_check_of_an_own_release_measures_what_the_release_measured(tmp_path):
    release = release_of(DATES)
    place = saved(release, tmp_path)
    for record in ("manifest.json", "private/audit.json"):
        result = sf.check(
            place / "data.csv",
            quasi=["place"],
            sensitive=["value"],
            t=0.5,
            manifest=place / record,
        )
        assert result.verdicts[0]["measured"] == release.verdicts[1]["measured"]


def test_check_measures_by_the_hierarchy_where_the_manifest_does(tmp_path):
    """The tree puts 2 between 1 and 3, whose row is left out: what is left has an order."""
    tree = {"tree": {"odd": ["1", "3"], "even": ["2"]}}
    table = pa.table({"place": PLACES, "value": ["1", "2", "1", "2", "3"]})
    settings: dict[str, Any] = {"quasi": ["place"], "sensitive": ["value"]}
    settings["hierarchies"] = {"place": "flat", "value": tree}
    require = [{"model": "k-anonymity", "k": 2}, {"model": "t-closeness", "t": 0.5}]
    release = sf.anonymize(
        table,
        seed=Seed.guessable(3),
        max_suppressed=0.25,
        algorithm={"name": "optimal"},
        require=require,
        **settings,
    )
    assert release.manifest["kinds"]["value"]["distance"] == "hierarchical"
    place = saved(release, tmp_path)
    result = sf.check(
        place / "data.csv",
        manifest=place / "manifest.json",
        require=require,
        **settings,
    )
    assert result.verdicts[1]["measured"] == release.verdicts[1]["measured"]
    assert result.kinds["value"]["kind"] == "integer"
    assert result.kinds["value"]["distance"] == "hierarchical"


def test_a_distance_that_the_manifest_does_not_name_is_refused(tmp_path):
    manifest = told(tmp_path, kind="integer", distance="hierarchical")
    with pytest.raises(DataError, match="by the hierarchical distance"):
        checked(tmp_path, manifest=manifest)


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        '{"kinds": 5}',
        '{"kinds": {}, "policy": 5}',
        '{"kinds": {}, "policy": {"data": []}}',
        '{"kinds": {}, "policy": {"data": {"missing": 5}}}',
    ],
)
def test_a_file_that_is_no_manifest_is_refused(tmp_path, text):
    place = tmp_path / "manifest.json"
    place.write_text(text)
    with pytest.raises(DataError, match="is not a manifest"):
        checked(tmp_path, manifest=place)


def test_a_manifest_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(DataError, match="cannot be read"):
        checked(tmp_path, manifest=tmp_path / "none.json")


@pytest.mark.parametrize(
    ("order", "first"),
    [(DateOrder.DAY_FIRST, "03/02/2020"), (DateOrder.MONTH_FIRST, "02/05/2020")],
)
def test_dates_are_read_in_the_order_that_is_given(order, first):
    cells = pa.chunked_array([["02/05/2020", "03/02/2020"]])
    column = code_column("day", cells, kind=Kind.DATE, dates=order)
    assert column.labels[0] == first
    assert column.dates is order


def test_dates_that_are_not_in_the_order_given_are_refused():
    cells = pa.chunked_array([["2020-05-02"]])
    with pytest.raises(DataError, match="are not a date"):
        code_column("day", cells, kind=Kind.DATE, dates=DateOrder.DAY_FIRST)


def test_a_hierarchy_in_another_order_than_its_values_is_read_in_its_own():
    table = pa.table({"place": ["a", "a", "b", "b"], "value": ["u", "v", "w", "v"]})
    release = sf.anonymize(
        table,
        seed=Seed.guessable(3),
        quasi=["place"],
        sensitive=["value"],
        algorithm={"name": "optimal"},
        hierarchies={"value": {"tree": {"one": ["u", "w"], "two": ["v"]}}},
        require=[{"model": "l-diversity", "l": 2, "level": 1}],
    )
    assert release.verdicts[0]["measured"] == 2
