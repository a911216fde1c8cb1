"""Combinations that could not keep their promise are refused before any work."""

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import RefusedError

TABLE = pa.table(
    {
        "age": [20, 21, 40, 41],
        "place": list("aabb"),
        "illness": list("xyxy"),
        "drug": list("uvvu"),
        "person": list("ppqq"),
    }
)


def released(tmp_path, *, require, roles=None, **settings):
    (tmp_path / "everybody.csv").write_text("age,place\n20,a\n21,a\n40,b\n41,b\n30,a\n")
    if "population" in require:
        require = {**require, "population": str(tmp_path / "everybody.csv")}
    roles = roles or {"quasi": ["age", "place"], "sensitive": ["illness", "drug"]}
    policy = sf.Policy.build(
        TABLE.column_names, **roles, require=[require], unlisted="drop", **settings
    )
    return sf.anonymize(TABLE, policy)


K_MAP = {"model": "k-map", "k": 2, "population": True}
PRESENCE = {"model": "delta-presence", "upper": 1, "population": True}


@pytest.mark.parametrize("model", [K_MAP, PRESENCE], ids=lambda m: m["model"])
@pytest.mark.parametrize(
    "publish",
    [
        {"operator": "microaggregate"},
        {"operator": "microaggregate", "numbers": "median"},
        {"operator": "generalize", "numbers": "mean"},
        {"operator": "generalize", "numbers": "bounds"},
    ],
    ids=str,
)
def test_nobody_can_be_matched_with_means_modes_and_bounds(tmp_path, model, publish):
    with pytest.raises(RefusedError, match="stands for no range of values"):
        released(tmp_path, require=model, publish=publish)


@pytest.mark.parametrize("publish", [{"operator": "suppress"}, {"flat": "star"}])
def test_a_lower_limit_needs_the_smallest_cells(tmp_path, publish):
    with pytest.raises(RefusedError, match="shows more than the group has"):
        released(tmp_path, require={**PRESENCE, "lower": 0.1}, publish=publish)
    released(tmp_path, require=PRESENCE, publish=publish)


def test_a_sampling_fraction_asks_for_no_cells(tmp_path):
    require = {"model": "k-map", "k": 2, "sampling_fraction": 0.5}
    released(tmp_path, require=require, publish={"operator": "microaggregate"})


def test_known_others_and_columns_swapped_apart_contradict_each_other(tmp_path):
    require = {"model": "l-diversity", "l": 1, "others_known": True}
    apart = {"operator": "swap", "together": False}
    with pytest.raises(RefusedError, match="together = false separates them"):
        released(tmp_path, require=require, publish=apart)
    released(tmp_path, require=require, publish={**apart, "together": True})
    released(tmp_path, require={"model": "l-diversity", "l": 2}, publish=apart)


@pytest.mark.parametrize("algorithm", ["mondrian", "optimal", "k-member", "best"])
def test_lkc_refuses_persons_with_several_rows(tmp_path, algorithm):
    roles = {"quasi": ["age", "place"], "sensitive": "illness", "subject": "person"}
    require = {"model": "lkc", "l": 1, "k": 2, "c": 0.5}
    with pytest.raises(RefusedError, match="a person has several rows"):
        released(tmp_path, require=require, roles=roles, algorithm=algorithm)
    one_row_each = pa.table({**{n: TABLE[n] for n in TABLE.column_names}}).set_column(
        TABLE.column_names.index("person"), "person", pa.array(list("pqrs"))
    )
    policy = sf.Policy.build(
        **roles, drop="drug", require=[require], algorithm=algorithm
    )
    assert sf.anonymize(one_row_each, policy).verdicts[0]["holds"]


@pytest.mark.parametrize("model", ["t-closeness", "beta-likeness", "delta-disclosure"])
@pytest.mark.parametrize("kind", [pa.string(), pa.float64()], ids=str)
def test_a_column_without_any_value_is_as_close_to_its_source_as_can_be(model, kind):
    limits = {"t-closeness": "t", "beta-likeness": "beta", "delta-disclosure": "delta"}
    table = pa.table({"q": list("aabbcc"), "s": pa.array([None] * 6, kind)})
    policy = sf.Policy.build(
        quasi="q",
        sensitive="s",
        missing_as="any",
        require=[{"model": model, "reference": "source", limits[model]: 0.5}],
        algorithm="mondrian",
    )
    assert sf.anonymize(table, policy).verdicts[0]["holds"]
