"""Requirements that compare a release with a population table."""

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import DataError, InfeasibleError, PolicyError
from sfumato.hierarchies.build import build
from sfumato.hierarchies.cell_leaves import cover_matrix

SAMPLE = {"age": ["20", "25", "40", "45"], "sex": list("FFMM")}
# Everybody: six people in their twenties, five in their forties, one of sixty.
EVERYBODY = "age,sex\n" + "".join(
    f"{age},{sex}\n"
    for age, sex in [
        *[(str(20 + i), "F") for i in range(6)],
        *[(str(40 + i), "M") for i in range(6)][:5],
        ("45", "M"),
        ("60", "F"),
    ]
)


def policy_of(tmp_path, **requirement):
    (tmp_path / "everybody.csv").write_text(EVERYBODY)
    return sf.Policy.build(
        quasi=["age", "sex"],
        require=[{"population": str(tmp_path / "everybody.csv"), **requirement}],
    )


def test_k_map_counts_the_people_of_the_population_who_match_a_published_row(tmp_path):
    policy = policy_of(tmp_path, model="k-map", k=6)
    release = sf.anonymize(pa.table(SAMPLE), policy)
    assert release.verdicts[0]["measured"] == 6
    assert sorted(set(release.table["sex"].to_pylist())) == ["F", "M"]


def test_k_map_beyond_the_population_is_refused_with_both_numbers(tmp_path):
    policy = policy_of(tmp_path, model="k-map", k=50)
    with pytest.raises(InfeasibleError, match="50"):
        sf.anonymize(pa.table(SAMPLE), policy)


def test_a_population_without_the_quasi_identifiers_is_refused(tmp_path):
    policy = policy_of(tmp_path, model="k-map", k=2)
    (tmp_path / "everybody.csv").write_text("sex\nF\n")
    with pytest.raises(DataError, match="population table has no column 'age'"):
        sf.anonymize(pa.table(SAMPLE), policy)


def people_of(tmp_path, encoding, delimiter=","):
    """A sample and its population, in an encoding and with a delimiter."""
    sample = pa.table({"town": ["Köln"] * 2 + ["Bonn"] * 2, "ill": list("abab")})
    lines = ["town,sex", *["Köln,F"] * 6, *["Bonn,M"] * 6, ""]
    content = "\n".join(lines).replace(",", delimiter).encode(encoding)
    (tmp_path / "people.csv").write_bytes(content)
    require = [{"model": "k-map", "k": 6, "population": str(tmp_path / "people.csv")}]
    return sample, {"quasi": "town", "sensitive": "ill", "require": require}


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8"])
@pytest.mark.parametrize("delimiter", [",", "^"])
def test_a_population_is_read_as_the_settings_say_or_as_it_shows(
    tmp_path, encoding, delimiter
):
    sample, settings = people_of(tmp_path, encoding, delimiter)
    release = sf.anonymize(sample, encoding="cp1252", delimiter="^", **settings)
    assert sorted(set(release.table["town"].to_pylist())) == ["Bonn", "Köln"]
    assert release.verdicts[0]["measured"] == 6


def test_a_population_of_windows_gets_a_hint_that_helps(tmp_path):
    sample, settings = people_of(tmp_path, "cp1252")
    with pytest.raises(DataError) as error:
        sf.anonymize(sample, **settings)
    assert error.value.hint == (
        "Save it as UTF-8. If the source is cp1252, too, pass encoding='cp1252'."
    )
    with pytest.raises(DataError) as error:
        sf.anonymize(sample, sf.Policy.build(**settings))
    assert "under [data] in the policy" in error.value.hint


def test_two_populations_are_one_too_many(tmp_path):
    policy = sf.Policy.build(
        quasi=["age", "sex"],
        require=[
            {"model": "k-map", "k": 2, "population": "a.csv"},
            {"model": "k-map", "k": 3, "population": "b.csv"},
        ],
    )
    with pytest.raises(PolicyError, match="2 population tables"):
        sf.anonymize(pa.table(SAMPLE), policy)


def test_the_manifest_does_not_name_the_population_file(tmp_path):
    policy = policy_of(tmp_path, model="k-map", k=2)
    release = sf.anonymize(pa.table(SAMPLE), policy)
    assert "everybody" not in str(release.manifest)
    assert str(tmp_path) not in str(release.manifest)


def test_every_form_of_a_published_cell_is_understood(coded_column):
    axis = build(coded_column(["20", "25", "30", "41", ""]), {"intervals": [10]}).axis
    texts = ["25", "[20, 29]", "*", None, "[24, 31]", "nonsense"]
    covered = [
        {axis.labels[i] for i in row.nonzero()[0]} for row in cover_matrix(axis, texts)
    ]
    assert covered == [
        {"25"},
        {"20", "25"},
        {"20", "25", "30", "41", ""},
        {""},
        {"25", "30"},
        set(),
    ]


def test_sets_cover_their_members(coded_column):
    axis = build(coded_column(["a", "b|c", "d"]), "flat").axis
    (row,) = cover_matrix(axis, ['{a|"b|c"}'])
    assert {axis.labels[i] for i in row.nonzero()[0]} == {"a", "b|c"}


@pytest.fixture
def coded_column():
    from sfumato.data.coding import code_column

    def coded(texts):
        return code_column("x", pa.chunked_array([texts]), kind=None, missing=[""])

    return coded


def test_a_population_may_be_of_another_kind_than_the_source(tmp_path):
    policy = policy_of(tmp_path, model="k-map", k=2)
    (tmp_path / "everybody.csv").write_text(EVERYBODY + "many,F\n")
    release = sf.anonymize(pa.table(SAMPLE), policy)
    assert release.verdicts[0]["holds"]
    assert release.manifest["kinds"]["age"] == {"kind": "category"}


def test_a_population_may_have_ordered_values_that_the_source_lacks(tmp_path):
    (tmp_path / "all.csv").write_text("size\n" + "S\nM\nL\nXL\n" * 3)
    release = sf.anonymize(
        pa.table({"size": ["S", "M", "S", "M"]}),
        quasi=["size"],
        kinds={"size": "ordered"},
        orders={"size": ["S", "M", "L", "XL"]},
        require=[{"model": "k-map", "k": 3, "population": str(tmp_path / "all.csv")}],
    )
    assert release.verdicts[0]["holds"]


def test_a_population_has_the_decimal_mark_of_the_source(tmp_path):
    (tmp_path / "sample.csv").write_text("height;sex\n1,5;F\n1,6;F\n1,7;M\n1,8;M\n")
    everybody = "height;sex\n" + "1,5;F\n1,6;F\n1,7;M\n1,8;M\n" * 2
    (tmp_path / "everybody.csv").write_text(everybody)
    release = sf.anonymize(
        tmp_path / "sample.csv",
        quasi=["height", "sex"],
        decimal=",",
        require=[
            {"model": "k-map", "k": 4, "population": str(tmp_path / "everybody.csv")}
        ],
    )
    assert release.verdicts[0]["measured"] == 4
