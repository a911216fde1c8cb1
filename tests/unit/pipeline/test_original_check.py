"""An original that a table was not published from is refused, with figures."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.cli import main
from sfumato.errors import DataError
from sfumato.pipeline.pair import PairFiles
from sfumato.risk.unexplained_rows import unexplained_rows

ROLES = {"quasi": ["age", "city"], "sensitive": ["ill"]}
NOT_THIS = r"not the original of the published table: [\d,]+ of [\d,]+ published rows"


def people(seed, rows=400):
    """People of one population, others for each seed."""
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": draw.integers(18, 80, rows),
            "city": draw.choice(["Bari", "Pisa", "Rome"], rows),
            "ill": draw.choice(["flu", "cold", "gout", "rash", "acne"], rows),
        }
    )


def made(operator="generalize", **more):
    policy = sf.Policy.build(
        **ROLES,
        require=[{"model": "k-anonymity", "k": 4}]
        if operator in ("generalize", "microaggregate")
        else [{"model": "l-diversity", "l": 2}],
        hierarchies={"age": {"intervals": [5, 20]}} if operator == "generalize" else {},
        publish={"operator": operator},
        **more,
    )
    return sf.anonymize(people(1), policy, insecure_seed=1), policy


OPERATORS = ["generalize", "microaggregate", "swap", "anatomize"]


@pytest.mark.parametrize("operator", OPERATORS)
def test_the_right_original_is_taken_with_and_without_the_record(operator, tmp_path):
    release, policy = made(operator)
    release.save(tmp_path / "release")
    sf.assess(people(1), release, policy)
    (tmp_path / "release" / "private" / "rows.parquet").unlink()
    found = sf.assess(people(1), tmp_path / "release", policy)
    assert not [note for note in found.notes if "can be no row" in note]
    assert sf.attack(tmp_path / "release", people(1), "membership", policy).results


@pytest.mark.parametrize("operator", OPERATORS)
def test_other_people_of_the_same_population_are_noticed_by_the_record(operator):
    release, policy = made(operator)
    with pytest.raises(DataError, match=NOT_THIS):
        sf.assess(people(2), release, policy)
    with pytest.raises(DataError, match=NOT_THIS):
        sf.attack(release, people(2), "linkage", policy)


@pytest.mark.parametrize("operator", ["generalize", "swap", "anatomize"])
def test_other_people_of_the_same_population_are_noticed_by_the_cells(
    operator, tmp_path
):
    release, policy = made(operator)
    release.save(tmp_path / "release")
    (tmp_path / "release" / "private" / "rows.parquet").unlink()
    with pytest.raises(DataError, match=NOT_THIS):
        sf.assess(people(2), tmp_path / "release", policy)


def test_means_of_other_people_are_noticed_by_their_sensitive_values():
    release, policy = made("microaggregate")
    others = people(2)
    others.loc[others.index >= 100, "ill"] = "flu"
    table = pd.DataFrame(release.table.to_pydict())
    with pytest.raises(DataError, match=NOT_THIS):
        sf.assess(others, table, policy)


def test_synthetic_rows_are_nobodys_and_only_their_columns_are_compared():
    release, policy = made()
    table = release.table.to_pandas()
    assert sf.assess(people(2), table, policy, form="synthetic").form == "synthetic"
    other = pd.DataFrame({"age": ["x"], "city": ["Oslo"], "ill": ["asthma"]})
    with pytest.raises(
        DataError, match="3 compared columns, 3 are published, and none"
    ):
        sf.assess(people(2), other, policy, form="synthetic")


def test_another_table_is_noticed():
    policy = sf.Policy.build(quasi=["age", "city"], sensitive=["ill"])
    other = pd.DataFrame({"price": ["1", "2"], "color": ["red", "blue"]})
    with pytest.raises(DataError, match="none has a cell that fits the original"):
        sf.assess(people(1), other, policy)


def test_an_original_with_other_rows_than_the_record_is_noticed(tmp_path):
    release, policy = made()
    release.save(tmp_path / "release")
    with pytest.raises(DataError, match="made from 400 rows, the original has 500"):
        sf.attack(tmp_path / "release", people(1, rows=500), "linkage", policy)


def test_an_original_with_too_few_rows_is_noticed_by_attacks():
    release, policy = made()
    with pytest.raises(DataError, match="published table has 400 rows, the original 9"):
        sf.attack(release.table.to_pandas(), people(1, rows=9), "linkage", policy)


def test_a_few_false_cells_are_noted_and_measured():
    release, policy = made()
    table = pd.DataFrame(release.table.to_pydict())
    table.loc[:1, "ill"] = "flu" if table.loc[0, "ill"] != "flu" else "gout"
    found = sf.assess(people(1), table, policy)
    assert any("published rows that were compared can be no" in n for n in found.notes)


@pytest.mark.parametrize("name", ["assess", "attack"])
def test_the_commands_end_with_two_and_figures(name, tmp_path, capsys):
    release, _ = made()
    release.save(tmp_path / "release")
    people(2).to_csv(tmp_path / "others.csv", index=False)
    (tmp_path / "policy.toml").write_text(release.claim.policy.dump())
    words = ["--original", str(tmp_path / "others.csv")]
    words += ["--policy", str(tmp_path / "policy.toml")]
    place = str(tmp_path / "release")
    start = (
        ["assess", "--published", place] if name == "assess" else [name, "all", place]
    )
    assert main([*start, *words]) == 2
    said = capsys.readouterr().err
    assert "of 400 published rows" in said
    assert "Hint: Give the original that the table was published from." in said
    assert not (tmp_path / "release" / "private" / "attacks.jsonl").exists()


@pytest.mark.parametrize("seed", range(30))
def test_unexplained_rows_equal_a_count_by_hand(seed):
    """Groups of exact cells: what is shown more often than the original has it."""
    draw = np.random.default_rng(seed)
    tables = [
        pd.DataFrame({n: draw.choice(list("ab"), size) for n in ("age", "city", "ill")})
        for size in (12, 9)
    ]
    policy = sf.Policy.build(**ROLES, kinds={"age": "category"})
    original, published = (pa.Table.from_pandas(each) for each in tables)
    pair = PairFiles(policy=policy, original=original, published=published).pair()
    expected = 0
    keys = ["age", "city"]
    for key, group in tables[1].groupby(keys):
        fits = tables[0][(tables[0][keys] == list(key)).all(axis=1)]
        surplus = sum((Counter(group["ill"]) - Counter(fits["ill"])).values())
        expected += max(surplus, len(group) - len(fits))
    by_values = Counter(tables[1]["ill"]) - Counter(tables[0]["ill"])
    assert unexplained_rows(pair).rows == max(expected, sum(by_values.values()))
    assert unexplained_rows(pair).checked == 9


@pytest.mark.parametrize("written", [False, True], ids=["in memory", "written"])
def test_a_source_with_a_key_is_attacked_in_the_order_of_its_rows(tmp_path, written):
    """A release numbers rows by the key, whatever their order in the source is."""
    table = people(1, rows=60).assign(id=range(60)).sample(frac=1, random_state=1)
    policy = sf.Policy.build(**ROLES, identifier="id", k=4, key=["id"])
    release = sf.anonymize(table, policy, insecure_seed=1)
    release.save(tmp_path / "release")
    attacked = tmp_path / "release" if written else release
    found = sf.attack(attacked, table, "linkage", policy, insecure_seed=1)
    in_order = sf.attack(
        attacked, table.sort_values("id"), "linkage", policy, insecure_seed=1
    )
    assert found.record() == in_order.record()
