"""Releases with bands: coded before anything is judged, in every operator."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.cli import main
from sfumato.errors import DataError, PolicyError, SfumatoError
from sfumato.hierarchies.labels import parse_exact, parse_span
from sfumato.pipeline.spark_rows import carried_columns
from sfumato.workload.queries import Bound, Condition, Query

OPERATORS = ("generalize", "suppress", "microaggregate", "swap", "anatomize")
ROLES = {
    "quasi": ["age", "zip"],
    "sensitive": ["cost", "ill"],
    "insensitive": "visits",
    "weight": "w",
}
BANDS = {
    "bands": {"cost": 1000, "w": 10},
    "bottoms": {"visits": 3},
    "tops": {"cost": 20_000, "visits": 50},
}


def people(rows=300, seed=1):
    draw = np.random.default_rng(seed)
    cost = np.round(draw.lognormal(8, 1, rows), 2)
    return pa.table(
        {
            "age": draw.integers(20, 80, rows),
            "zip": draw.integers(100, 106, rows).astype(str),
            "cost": pa.array(cost, mask=draw.random(rows) < 0.05),
            "visits": draw.integers(0, 60, rows),
            "w": draw.uniform(1, 100, rows),
            "ill": draw.choice(list("abcdef"), rows),
        }
    )


def policy(operator="generalize", **more):
    size = "group-size" if operator in ("swap", "anatomize") else "k-anonymity"
    require = [{"model": size, "k": 5}, *more.pop("require", [])]
    asked = ROLES | BANDS | {"l": 2, "operator": operator, "require": require}
    kept = {f"columns.{name}.keep_as_is": True for name in ("visits", "w")}
    return sf.Policy.build(**(asked | more)).with_settings(kept)


def second_check(release, place, asked, **more):
    release.save(place)
    record = {}
    if asked.publish.operator == "swap":
        record = {"groups": place / "private" / "rows.parquet"}
    manifest = place / "manifest.json"
    return sf.check(place / "data.csv", asked, manifest=manifest, **record, **more)


@pytest.mark.parametrize("operator", OPERATORS)
def test_every_operator_publishes_bands_and_check_proves_the_same(operator, tmp_path):
    asked, source = policy(operator), people()
    release = sf.anonymize(source, asked, insecure_seed=1)
    parts = [release.whole_table(), *release.beside.values()]
    columns = {
        n: part.column(n).to_pylist() for part in parts for n in part.column_names
    }
    assert {c for c in columns["cost"] if c} <= {
        f"[{low}, {low + 1000})" for low in range(0, 20_000, 1000)
    } | {">= 20000"}
    assert set(columns["w"]) == {f"[{low}, {low + 10})" for low in range(0, 100, 10)}
    assert set(columns["visits"]) <= {"<= 3", ">= 50", *map(str, range(4, 50))}
    found = second_check(release, tmp_path / "out", asked)
    assert found.holds
    assert [each["measured"] for each in found.verdicts] == [
        each["measured"] for each in release.manifest["requirements"]
    ]


@pytest.mark.parametrize("operator", OPERATORS)
def test_the_original_is_compared_in_the_same_bands(operator):
    asked, source = policy(operator), people()
    release = sf.anonymize(source, asked, insecure_seed=1)
    measured = sf.assess(source, release, asked).record()
    assert measured["unrecognized_cells"] == {}
    found = sf.attack(release, source, "homogeneity", insecure_seed=1)
    assert found.holds


def test_missing_values_stay_missing():
    source = people()
    asked = policy()
    release = sf.anonymize(source, asked, insecure_seed=1).whole_table()
    assert release.column("cost").null_count == source.column("cost").null_count


def test_manifest_and_reports_name_bands(tmp_path):
    release = sf.anonymize(people(), policy(), insecure_seed=1)
    told = release.manifest["policy"]["columns"]
    assert (told["cost"]["bands"], told["cost"]["top"]) == (1000, 20_000)
    cells = release.facts["cells"]
    assert all(
        [form["form"] for form in cells[name]["forms"]] == ["band"]
        for name in ("cost", "visits", "w")
    )
    release.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "in intervals that the policy fixes" in page
    assert "bands 1000, top 20000" in page


def test_a_band_is_an_ordered_category_for_t_closeness():
    asked = policy(require=[{"model": "t-closeness", "t": 0.5, "on": "cost"}])
    release = sf.anonymize(people(), asked, insecure_seed=1)
    assert release.manifest["kinds"]["cost"] == {
        "kind": "ordered",
        "distance": "ordered",
    }


def test_models_judge_the_bands():
    # Every cost is another number; all of them are one band.
    source = pa.table({"age": [30] * 6, "cost": [10, 11, 12, 13, 14, 15]})
    asked = {"quasi": "age", "sensitive": "cost", "k": 2, "l": 2}
    assert sf.anonymize(source, **asked, insecure_seed=1).manifest
    with pytest.raises(
        SfumatoError, match="'cost' needs 2 distinct values; the best is 1"
    ):
        sf.anonymize(source, **asked, bands={"cost": 100}, insecure_seed=1)


def test_unique_values_that_bands_join_need_no_keep_as_is():
    source = pa.table({"age": [30] * 40, "cost": list(range(40))})
    asked = {"quasi": "age", "insensitive": "cost", "k": 2, "insecure_seed": 1}
    with pytest.raises(PolicyError, match="published as it is"):
        sf.anonymize(source, **asked)
    release = sf.anonymize(source, **asked, bands={"cost": 10})
    assert release.manifest["risk"]["columns"]["cost"]["unique"] == 0


def test_exact_numbers_fail_the_check_of_a_file_that_claims_bands(tmp_path):
    asked, source = policy(), people()
    release = sf.anonymize(source, asked, insecure_seed=1)
    table = release.whole_table()
    cells = table.column("cost").to_pylist()
    cells[:2] = ["1234.5", "[1000, 1100)"]
    place = table.column_names.index("cost")
    leaked = table.set_column(place, "cost", pa.array(cells, pa.string()))
    found = sf.check(leaked, asked)
    assert found.exact_cells == {"cost": 2}
    assert not found.holds


def test_an_engine_counts_exact_numbers_too(tmp_path):
    place = tmp_path / "people.parquet"
    pq.write_table(people(), place)
    found = sf.check(place, policy(), engine="duckdb")
    here = sf.check(place, policy(), engine="memory")
    assert found.exact_cells == here.exact_cells
    assert found.exact_cells["w"] == 300


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_duckdb_writes_the_same_bytes(ending, tmp_path):
    place = tmp_path / f"people.{ending}"
    if ending == "csv":
        pacsv.write_csv(people(), place)
    else:
        pq.write_table(people(), place)
    written = []
    for engine in ("memory", "duckdb"):
        release = sf.anonymize(place, policy(), insecure_seed=1, engine=engine)
        release.save(tmp_path / engine)
        written.append((tmp_path / engine / f"data.{ending}").read_bytes())
    assert written[0] == written[1]


def test_on_spark_banded_columns_come_to_the_driver():
    names = people().column_names
    assert carried_columns(policy(bottoms={}, tops={}), names) == ("visits",)
    assert carried_columns(policy(), names) == ()


def test_the_command_fails_where_exact_numbers_stand_for_bands(tmp_path, capsys):
    asked, place = policy(), tmp_path / "policy.toml"
    place.write_text(asked.dump(), encoding="utf-8")
    release = sf.anonymize(people(), asked, insecure_seed=1)
    release.save(tmp_path / "out")
    told = ["check", str(tmp_path / "out" / "data.csv"), "--policy", str(place)]
    assert main([*told, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["exact_cells"] == {}
    table = pacsv.read_csv(tmp_path / "out" / "data.csv")
    at = table.column_names.index("w")
    exact = table.set_column(at, "w", pa.array(np.arange(table.num_rows) + 0.5))
    pacsv.write_csv(exact, tmp_path / "out" / "data.csv")
    assert main(told) == 1
    shown = capsys.readouterr().out
    assert "✗ Column 'w' has 300 cells of 300 that the bands of the policy do" in shown


def test_published_bands_may_be_released_again():
    source = pa.table({"age": [30] * 4, "cost": ["[0, 9]", "7", "12", "[10, 19]"]})
    asked = {"quasi": "age", "insensitive": "cost", "k": 2, "insecure_seed": 1}
    table = sf.anonymize(source, **asked, bands={"cost": 10}).whole_table()
    assert sorted(table.column("cost").to_pylist()) == ["[0, 9]"] * 2 + ["[10, 19]"] * 2


def test_estimates_use_the_weights_themselves():
    source = people()
    exact = sf.anonymize(
        source, policy(bands={"cost": 1000}, keep_as_is="w"), insecure_seed=1
    )
    banded = sf.anonymize(source, policy(), insecure_seed=1)
    risks = [
        sf.assess(source, release, asked).record()["risk"]["after"]["journalist"]
        for release, asked in ((exact, policy()), (banded, policy()))
    ]
    assert risks[0] == risks[1]
    assert 0 < risks[0]["mean"] < 0.1


def test_a_workload_asks_about_the_numbers_themselves():
    source = people()
    release = sf.anonymize(source, policy(), insecure_seed=1)
    few = Condition(column="visits", bounds=(Bound("<=", 3),))
    asked = sf.Workload(queries=(Query(where=(few,)),))
    error = sf.workload_error(source, release, asked)
    rows = sum(visits <= 3 for visits in source.column("visits").to_pylist())
    assert (error.actual.tolist(), error.estimated.tolist()) == ([rows], [rows])


REFUSED = [
    ({"quasi": "cost", "bands": {"cost": 10}}, "column that is a quasi one"),
    ({"identifier": "cost", "bands": {"cost": 10}}, "column that is an identifier"),
    (
        {"sensitive": "cost", "kinds": {"cost": "code"}, "bands": {"cost": 10}},
        "column of kind 'code'",
    ),
    ({"sensitive": "cost", "bands": {"cost": 0}}, "greater than 0|more than 0"),
    (
        {"sensitive": "cost", "bottoms": {"cost": 9}, "tops": {"cost": 9}},
        "bottom 9 is not below top 9",
    ),
    (
        {
            "sensitive": "cost",
            "bands": {"cost": 10},
            "hierarchies": {"cost": {"intervals": [10]}},
        },
        "cannot both be given",
    ),
    (
        {
            "sensitive": "cost",
            "bands": {"cost": 10},
            "require": [{"model": "range-disclosure", "r": 0.1, "at_most": 0.5}],
        },
        "range-disclosure measures how far apart",
    ),
    (
        {
            "weight": "cost",
            "tops": {"cost": 10},
            "require": [{"model": "k-map", "k": 2, "sampling_fraction": "weights"}],
        },
        "hides the weights that k-map counts people by",
    ),
    (
        {
            "sensitive": "cost",
            "bands": {"cost": 10},
            "require": [{"model": "differential-privacy", "epsilon": 1.0}],
        },
        "publishes declared domains only",
    ),
]


@pytest.mark.parametrize(("asked", "message"), REFUSED)
def test_a_policy_refuses_bands_where_they_mean_nothing(asked, message):
    with pytest.raises(PolicyError, match=message):
        sf.Policy.build(**({"quasi": "age", "k": 2} | asked))


def test_the_hint_for_a_quasi_identifier_names_its_hierarchy():
    with pytest.raises(PolicyError) as caught:
        sf.Policy.build(quasi=["age", "cost"], k=2, bands={"cost": 10})
    assert "hierarchy = { intervals" in str(caught.value.hint)


def test_widths_can_be_set_by_their_path():
    asked = sf.Policy.build(quasi="age", sensitive="cost", k=2)
    changed = asked.with_setting("columns.cost.bands", 1000)
    assert changed.columns["cost"].bands == 1000
    assert json.loads(json.dumps(changed.public_dict()))["columns"]["cost"] == {
        "role": "sensitive",
        "bands": 1000,
    }


def test_dates_in_a_policy_are_ends():
    text = '[columns.seen]\nrole = "insensitive"\nbands = 30\ntop = 2021-01-01\n'
    assert sf.Policy.parse(text).columns["seen"].coding is not None
    written = sf.Policy.parse(sf.Policy.parse(text).dump())
    source = pa.table({"age": [3] * 4, "seen": ["2020-01-05", "2021-02-03"] * 2})
    asked = written.with_settings(
        {"columns.age.role": "quasi", "require": [{"model": "k-anonymity", "k": 2}]}
    )
    release = sf.anonymize(source, asked, insecure_seed=1).whole_table()
    assert set(release.column("seen").to_pylist()) == {
        "[2019-12-10, 2020-01-08]",
        ">= 2021-01-01",
    }


def test_words_in_a_banded_column_stop_the_run():
    source = pa.table({"age": [3, 3], "cost": ["secret", "5"]})
    with pytest.raises((DataError, SfumatoError), match="bands need numbers") as caught:
        sf.anonymize(source, quasi="age", insensitive="cost", k=2, bands={"cost": 10})
    assert "secret" not in str(caught.value)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 3),
            st.none() | st.integers(-50, 50),
            st.decimals(0, 9, places=1),
        ),
        min_size=8,
        max_size=24,
    ),
    st.sampled_from(OPERATORS),
    st.none() | st.sampled_from([2, 7, 25]),
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_published_cells_cover_source_values_and_show_none(rows, operator, width):
    ages, costs, weights = zip(*rows, strict=True)
    source = pa.table(
        {
            "age": pa.array(ages),
            "cost": pa.array(costs, pa.int64()),
            "w": pa.array([float(each) for each in weights]),
        }
    )
    size = "group-size" if operator in ("swap", "anatomize") else "k-anonymity"
    asked = sf.Policy.build(
        quasi="age",
        sensitive="cost",
        weight="w",
        keep_as_is="w",
        bands={"w": 2} | ({} if width is None else {"cost": width}),
        bottoms={"cost": -20},
        tops={"cost": 20},
        require=[{"model": size, "k": 2}],
        operator=operator,
        max_loss=1.0,
        order="source",
    )
    release = sf.anonymize(source, asked, insecure_seed=1)
    table = release.whole_table()
    origin = np.asarray(release.source_rows)
    for cell, row in zip(table.column("w").to_pylist(), origin, strict=True):
        assert _covers(cell, str(float(weights[row])))
    if operator in ("swap", "anatomize"):
        return
    for cell, row in zip(table.column("cost").to_pylist(), origin, strict=True):
        if costs[row] is None:
            assert cell is None
        else:
            assert _covers(cell, str(costs[row]))
            exact = cell == str(costs[row])
            assert exact == (width is None and -20 < costs[row] < 20)


def _covers(cell, text):
    value = parse_exact(text, kind="decimal")
    span = parse_span(cell, kind="decimal")
    if span is None:
        return cell == text
    low = span.low is None or span.low <= value
    return low and (
        span.high is None or value < span.high or (span.high_in and value == span.high)
    )
