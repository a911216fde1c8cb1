"""Tables as anonypy, anjana, ARX and sdcMicro write them, read as they are."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pytest

import sfumato as sf
from benchmarks.peers import anjana_facts, anonypy_facts
from benchmarks.sources import QUASI, SENSITIVE, adult, adult_hierarchy
from tests.other_tools import other_tool

NAMES = list(QUASI)


@pytest.fixture(scope="module", autouse=True)
def _shared(shared_data):
    """The tables of Adult."""


@pytest.fixture(scope="module")
def by_anonypy():
    """5,000 rows of Adult for which anonypy was asked for t = 0.2."""
    anonypy = other_tool("anonypy")
    source = adult(5000)
    frame = pd.DataFrame(source.columns)
    for name in (*NAMES, SENSITIVE):
        frame[name] = frame[name].astype("int64" if name == "age" else "category")
    made = anonypy.Preserver(frame, NAMES, SENSITIVE)
    records = made.anonymize_t_closeness(k=10, p=0.2)
    return source, records


def assess_anonypy(by_anonypy, published=None):
    source, records = by_anonypy
    table = pd.DataFrame(records) if published is None else published
    return sf.assess(
        pd.DataFrame(source.columns),
        table,
        quasi=NAMES,
        sensitive=SENSITIVE,
        k=10,
        t=0.2,
    )


@pytest.mark.slow
def test_the_t_that_anonypy_ignored_is_found(by_anonypy):
    found = assess_anonypy(by_anonypy)
    (closeness,) = (
        each for each in found.risk["requirements"] if each["model"] == "t-closeness"
    )
    assert not closeness["holds"]
    assert closeness["measured"] == pytest.approx(0.7456, abs=1e-4)


@pytest.mark.slow
def test_pycanon_finds_the_same_t(by_anonypy):
    anonymity = other_tool("pycanon.anonymity")
    _, records = by_anonypy
    table = pd.DataFrame(records)
    for name in NAMES:
        # Equal sets may print differently.
        table[name] = table[name].map(lambda cell: ",".join(sorted(cell[0].split(","))))
    rows = table.loc[table.index.repeat(table["count"])]
    t = anonymity.t_closeness(rows, NAMES, [SENSITIVE])
    assert assess_anonypy(by_anonypy).risk["sensitive"][SENSITIVE][
        "t"
    ] == pytest.approx(t)


@pytest.mark.slow
def test_k_and_loss_of_anonypy_are_those_of_an_independent_score(by_anonypy):
    source, records = by_anonypy
    score = anonypy_facts(records, source, 10)
    found = assess_anonypy(by_anonypy)
    assert found.unrecognized_cells == {}
    assert found.published_rows == 5000
    assert found.risk["k"] == score["smallest_group"]
    assert found.utility["ncp"] == pytest.approx(score["ncp"])
    assert found.utility["discernibility"] == score["discernibility"]
    assert found.utility["average_class_size"] == pytest.approx(
        score["average_class_size"]
    )


@pytest.mark.slow
def test_anonypys_table_reads_the_same_from_a_file(by_anonypy, tmp_path):
    _, records = by_anonypy
    pd.DataFrame(records).to_csv(tmp_path / "anonypy.csv", index=False)
    found = assess_anonypy(by_anonypy, tmp_path / "anonypy.csv")
    assert found.unrecognized_cells == {}
    assert found.utility == assess_anonypy(by_anonypy).utility


@pytest.fixture(scope="module")
def by_anjana(shared_data):
    """2,000 rows of Adult that anjana made 5-anonymous."""
    anonymity = other_tool("anjana.anonymity")
    source = adult(2000)
    levels = {name: adult_hierarchy(name) for name in NAMES}
    tables = {
        name: {level: pd.Series(labels) for level, labels in enumerate(each)}
        for name, each in levels.items()
    }
    frame = pd.DataFrame(source.columns)
    published = anonymity.k_anonymity(frame, [], NAMES, 5, 5, tables)
    folder = shared_data / "adult" / "hierarchies_full"
    found = sf.assess(
        frame,
        published,
        quasi=NAMES,
        sensitive=SENSITIVE,
        hierarchies={name: str(folder / f"{name}.csv") for name in NAMES},
        k=5,
    )
    return found, anjana_facts(published, source, levels, 5)


@pytest.mark.slow
def test_every_label_of_anjana_is_recognized(by_anjana):
    assert by_anjana[0].unrecognized_cells == {}


@pytest.mark.slow
def test_k_and_groups_of_anjana_are_those_of_an_independent_score(by_anjana):
    found, score = by_anjana
    assert found.risk["k"] == score["smallest_group"]
    assert found.utility["discernibility"] == score["discernibility"]
    assert found.utility["average_class_size"] == pytest.approx(
        score["average_class_size"]
    )
    assert found.utility["suppressed_share"] == score["suppressed"] / 2000


@pytest.mark.slow
def test_anjanas_row_numbers_are_detected(by_anjana):
    found, _ = by_anjana
    assert found.risk["row_numbers"] == {"index": 1.0}
    assert "'index' may number the rows of the original." in found.notes


ORIGINAL = {
    "age": ["21", "25", "38", "34", "52", "59"],
    "zip": ["81667", "81675", "81925", "81931", "81931", "82001"],
    "income": ["1000", "1200", "2100", "2300", "3900", "4100"],
    "illness": ["flu", "flu", "cold", "flu", "cold", "cold"],
}
ROLES = {
    "quasi": ["age", "zip"],
    "sensitive": "illness",
    "insensitive": "income",
    "kinds": {"zip": "code"},
    "k": 2,
}


@pytest.fixture
def by_arx(tmp_path):
    """How ARX exports: half-open intervals, masks, and suppressed rows left in."""
    place = tmp_path / "arx.csv"
    place.write_text(
        "age;zip;income;illness\n"
        "[20, 40[;816**;1000;flu\n"
        "[20, 40[;816**;1200;flu\n"
        "[20, 40[;819**;2100;cold\n"
        "[20, 40[;819**;2300;flu\n"
        "*;*;3900;cold\n"
        "*;*;4100;cold\n"
    )
    return sf.assess(pa.table(ORIGINAL), place, same_order=True, **ROLES)


def test_an_export_of_arx_is_recognized_whole(by_arx):
    assert by_arx.unrecognized_cells == {}
    assert by_arx.form == "generalized"


def test_suppressed_rows_of_arx_count_as_suppressed(by_arx):
    assert by_arx.risk["hidden_rows"] == 2
    assert by_arx.utility["suppressed_share"] == pytest.approx(2 / 6)
    assert by_arx.utility["discernibility"] == 2**2 + 2**2 + 2 * 6


def test_the_loss_of_arx_is_that_of_its_cells(by_arx):
    # [20, 40[ takes 21 to 39 of 21 to 59; each mask is 2 of 5 codes, as 81931 occurs
    # twice.
    lost = 4 * (18 / 38) + 4 * (2 / 5) + 2 * 2
    assert by_arx.utility["ncp"] == pytest.approx(lost / 12)


def test_no_cell_of_arx_is_false(by_arx):
    assert by_arx.utility["false_cells"] == 0.0


@pytest.fixture
def by_sdcmicro():
    """How sdcMicro leaves a file: key variables with NA, numbers microaggregated."""
    published = ORIGINAL | {
        "age": ["21", None, "38", None, "52", "59"],
        "income": ["1100", "1100", "2200", "2200", "4000", "4000"],
    }
    return sf.assess(pa.table(ORIGINAL), pa.table(published), same_order=True, **ROLES)


def test_local_suppression_of_sdcmicro_is_counted_by_column(by_sdcmicro):
    assert by_sdcmicro.utility["parts"]["suppressed_cells"] == {
        "age": pytest.approx(2 / 6),
        "zip": 0.0,
    }


def test_microaggregated_numbers_are_compared_row_by_row(by_sdcmicro):
    error = 4 * 100**2 + 2 * 100**2
    total = sum((x - 2433.3333333333335) ** 2 for x in map(int, ORIGINAL["income"]))
    parts = by_sdcmicro.utility["parts"]["squared_error"]
    assert parts["income"] == pytest.approx(error / total)


def test_microaggregated_quasi_identifiers_are_recognized():
    published = ORIGINAL | {"age": ["23", "23", "36", "36", "55.5", "55.5"]}
    found = sf.assess(pa.table(ORIGINAL), pa.table(published), **ROLES)
    assert found.form == "microaggregated"
    assert found.utility["not_measured"]["ncp"] == (
        "needs cells that hold the values of the original"
    )
